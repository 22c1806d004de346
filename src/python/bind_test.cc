#include "python/bind.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Node first(const SyntaxTree& tree, Kind kind) {
  for (Node n : tree.root().descendants()) {
    if (n.is(kind)) return n;
  }
  return {};
}

// A function `f` with the given parameters and one call of it.
struct Bound {
  Bound(const std::string& parameters, const std::string& arguments)
      : tree(SyntaxTree::parse(Blob("def f" + parameters + ": pass\nf" + arguments + "\n"))),
        signature(signature_of(first(tree, Kind::k_function_definition))),
        shape(call_shape(first(tree, Kind::k_call))),
        result(bind(signature, shape)) {}
  SyntaxTree tree;
  Signature signature;
  CallShape shape;
  BindResult result;
};

BindOutcome outcome(const std::string& parameters, const std::string& arguments) {
  return Bound(parameters, arguments).result.outcome;
}

std::string message(const std::string& parameters, const std::string& arguments) {
  return describe(Bound(parameters, arguments).result);
}

TEST(CallShape, CountsAndNames) {
  Bound b("(*a, **k)", "(1, *x, 2, k=3, **y, m=(4))");
  EXPECT_EQ(b.shape.positional, 2u);
  EXPECT_EQ(b.shape.positional_before_star, 1u);
  EXPECT_EQ(b.shape.keywords, (std::vector<std::string_view>{"k", "m"}));
  EXPECT_EQ(b.shape.keyword_values[1].text(), "(4)");
  EXPECT_EQ(b.shape.positional_values[1].text(), "2");
  EXPECT_TRUE(b.shape.star_args);
  EXPECT_TRUE(b.shape.star_kwargs);
  EXPECT_EQ(Bound("()", "(x for x in y)").shape.positional, 1u);
}

TEST(CallShape, StarBeforeAnAttribute) {
  SyntaxTree tree =
      SyntaxTree::parse(Blob(std::string("class A:\n    def d(self):\n        # c\n"
                                         "        print('=', p.i(), *sys.version.split())\n"
                                         "        print('=', p.i())\n")));
  for (Node n : tree.root().descendants()) {
    if (!n.is(Kind::k_call) || n.child(Field::k_function).text() != "print") continue;
    CallShape shape = call_shape(n);
    EXPECT_EQ(shape.positional, 2u);
    EXPECT_EQ(shape.star_args, n.line() == 4);
  }
  EXPECT_TRUE(Bound("()", "(*[*a.b(), 1])").shape.star_args);
}

TEST(CallShape, LiteralStarsAreTakenApart) {
  Bound b("(*a, **k)", "(*(1, 2), *[3], **{'a': 4, \"b\": 5}, **{})");
  EXPECT_EQ(b.shape.positional, 3u);
  EXPECT_EQ(b.shape.positional_before_star, 3u);
  EXPECT_EQ(b.shape.keywords, (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(b.shape.keyword_values[1].text(), "5");
  EXPECT_FALSE(b.shape.star_args);
  EXPECT_FALSE(b.shape.star_kwargs);
  EXPECT_TRUE(Bound("()", "(*[1, *x])").shape.star_args);
  EXPECT_TRUE(Bound("()", "(**{'a': 1, **x})").shape.star_kwargs);
  EXPECT_TRUE(Bound("()", "(**{'a\\n': 1})").shape.star_kwargs);
  EXPECT_TRUE(Bound("()", "(**{key: 1})").shape.star_kwargs);
}

TEST(Bind, Outcomes) {
  EXPECT_EQ(outcome("(a, b=1)", "(1)"), BindOutcome::kOk);
  EXPECT_EQ(message("(a, b, c=1, *, d)", "(1)"), "missing 2 required arguments: 'b' and 'd'");
  EXPECT_EQ(message("(a)", "()"), "missing 1 required argument: 'a'");
  EXPECT_EQ(message("(a)", "(1, c=2, b=1)"), "unexpected keyword arguments 'c' and 'b'");
  EXPECT_EQ(message("(a)", "(1, 2)"), "takes 1 positional argument but 2 are given");
  EXPECT_EQ(message("()", "(1)"), "takes 0 positional arguments but 1 is given");
  EXPECT_EQ(message("(a, b)", "(1, 2, a=3)"), "multiple values for argument 'a'");
  EXPECT_EQ(message("(a, /)", "(a=1)"), "positional-only argument passed as keyword: 'a'");
  EXPECT_EQ(outcome("(a, /, **k)", "(1, a=1)"), BindOutcome::kOk);
  EXPECT_EQ(message("(**k)", "(a=1, **{'a': 2})"), "multiple values for argument 'a'");
  EXPECT_EQ(message("(a)", "(1)"), "");
}

TEST(Bind, StarsLeaveItOpenUnlessNothingCanHelp) {
  EXPECT_EQ(outcome("(a, b)", "(*x)"), BindOutcome::kUnknown);
  EXPECT_EQ(outcome("(a, b)", "(**x)"), BindOutcome::kUnknown);
  EXPECT_EQ(outcome("(a)", "(1, *x)"), BindOutcome::kUnknown);
  EXPECT_EQ(outcome("(a, b)", "(1, 2, *x, 3)"), BindOutcome::kTooManyPositional);
  EXPECT_EQ(outcome("(a)", "(c=1, **x)"), BindOutcome::kUnexpectedKeyword);
  EXPECT_EQ(outcome("(a, *, k)", "(*x)"), BindOutcome::kMissing);
  EXPECT_EQ(outcome("(a, *, k)", "(*x, **y)"), BindOutcome::kUnknown);
  EXPECT_EQ(outcome("(a, /)", "(**x)"), BindOutcome::kMissing);
  EXPECT_EQ(outcome("(a, b)", "(*x, a=1)"), BindOutcome::kMissing);  // x must be empty, so nothing gives b
  EXPECT_EQ(outcome("(a, b)", "(*x, b=1)"), BindOutcome::kUnknown);
  EXPECT_EQ(outcome("(a, b)", "(*x, a=1, **y)"), BindOutcome::kUnknown);
}

TEST(Bind, ArgumentsByParameter) {
  Bound b("(a, b, c=1, *, d, e=2)", "(10, 20, d=30)");
  ASSERT_EQ(b.result.arguments.size(), 5u);
  EXPECT_EQ(b.result.arguments[0].value.text(), "10");
  EXPECT_EQ(b.result.arguments[1].given, Given::kPositional);
  EXPECT_EQ(b.result.arguments[2].given, Given::kNo);
  EXPECT_EQ(b.result.arguments[3].given, Given::kKeyword);
  EXPECT_EQ(b.result.arguments[3].value.text(), "30");
  Bound star("(a, b, c, d=1)", "(1, *x, 2)");
  EXPECT_EQ(star.result.arguments[0].value.text(), "1");
  EXPECT_EQ(star.result.arguments[1].given, Given::kPositional);
  EXPECT_FALSE(star.result.arguments[1].value);  // 2, or the first of x
  EXPECT_EQ(star.result.arguments[2].given, Given::kPerhaps);
  EXPECT_EQ(star.result.arguments[3].given, Given::kPerhaps);
}

TEST(Bind, LeadingArgument) {
  Bound b("(self, a)", "(1)");
  EXPECT_EQ(b.result.missing, (std::vector<std::string_view>{"a"}));
  BindResult method = bind(b.signature, with_leading(b.shape));
  EXPECT_EQ(method.outcome, BindOutcome::kOk);
  EXPECT_FALSE(method.arguments[0].value);
  EXPECT_EQ(method.arguments[1].value.text(), "1");
  Bound none("()", "()");  // a method without any parameter
  EXPECT_EQ(bind(none.signature, with_leading(none.shape)).outcome, BindOutcome::kTooManyPositional);
}

TEST(Bind, PartialAndAppliedCalls) {
  Bound outer("(a, b, c)", "(1, c=3)");
  Bound inner("(a, b, c)", "(2, c=4)");
  CallShape joined = partial_call(outer.shape, inner.shape);
  BindResult r = bind(outer.signature, joined);
  EXPECT_EQ(r.outcome, BindOutcome::kOk);
  EXPECT_EQ(r.arguments[1].value.text(), "2");
  EXPECT_EQ(r.arguments[2].value.text(), "4");

  Bound submit("(x)", "(f, 1, k=2)");
  CallShape rest = without_leading(submit.shape, 1);
  EXPECT_EQ(rest.positional, 1u);
  EXPECT_EQ(rest.positional_values[0].text(), "1");
  EXPECT_TRUE(without_leading(submit.shape, 3).unreadable);

  SyntaxTree tree = SyntaxTree::parse(Blob(std::string("p(args=(1, 2), kwargs={'c': 3})\n")));
  CallShape process = call_shape(first(tree, Kind::k_call));
  CallShape applied = applied_call(process.keyword_values[0], process.keyword_values[1]);
  EXPECT_EQ(bind(outer.signature, applied).outcome, BindOutcome::kOk);
  EXPECT_EQ(bind(outer.signature, applied_call(process.keyword_values[0], Node())).outcome,
            BindOutcome::kMissing);
}

TEST(Bind, SyntaxErrorsSayNothing) {
  EXPECT_EQ(outcome("(a)", "(1, 'a': 2)"), BindOutcome::kUnknown);
  EXPECT_EQ(outcome("(a, (b, c))", "(1)"), BindOutcome::kUnknown);
}

TEST(Bind, ManyKeywordsAreNotQuadratic) {
  std::string parameters = "(", arguments = "(";
  for (int i = 0; i < 300; ++i) {
    parameters += "p" + std::to_string(i) + ", ";
    arguments += "p" + std::to_string(299 - i) + "=" + std::to_string(i) + ", ";
  }
  Bound b(parameters + ")", arguments + ")");
  EXPECT_EQ(b.result.outcome, BindOutcome::kOk);
  EXPECT_EQ(b.result.arguments[0].value.text(), "299");
}

}  // namespace
}  // namespace assay
