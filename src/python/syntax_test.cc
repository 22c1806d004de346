#include "python/syntax.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

SyntaxTree parse(std::string source) { return SyntaxTree::parse(Blob(std::move(source))); }

// Parents before children, subtrees nested, bytes within the parent's.
void expect_sound(const SyntaxTree& tree) {
  const auto& nodes = tree.nodes();
  for (NodeId i = 1; i < nodes.size(); ++i) {
    const RawNode& n = nodes[i];
    const RawNode& p = nodes[n.parent];
    ASSERT_LT(n.parent, i);
    ASSERT_LE(n.subtree_end, p.subtree_end) << i;
    ASSERT_GT(n.subtree_end, i);
    ASSERT_LE(p.start, n.start) << i;
    ASSERT_LE(n.end, p.end) << i;
  }
}

Node first(const SyntaxTree& tree, Kind kind) {
  for (Node n : tree.root().descendants()) {
    if (n.is(kind)) return n;
  }
  return {};
}

TEST(Syntax, StarsStandOutsideOfWhatTheyUnpack) {
  for (const char* source :
       {"x = *k.shape, v.shape[-1]\n", "return *k.shape(1)[2], 1\n", "x[*k.shape(a=1)]\n",
        "for x in *k.shape + [1], c: pass\n", "x = [*k.shape(1)(2).c]\n", "(*k.shape, 1)\n"}) {
    SyntaxTree tree = parse(source);
    expect_sound(tree);
    Node splat = first(tree, Kind::k_list_splat);
    ASSERT_TRUE(splat) << source;
    EXPECT_TRUE(splat.first_child().is_any(Kind::k_attribute, Kind::k_call, Kind::k_subscript,
                                           Kind::k_binary_operator))
        << source;
    EXPECT_EQ(splat.first_child().start(), splat.start() + 1) << source;
    EXPECT_FALSE(splat.first_child().next_sibling()) << source;
    bool found = false;
    for (Node n : tree.root().descendants()) found |= dotted_text(n) == "k.shape";
    EXPECT_TRUE(found) << source;
  }
}

TEST(Syntax, StarKeepsItsRole) {
  SyntaxTree tree = parse("x[*k.shape(a)[1], 2]\n");
  expect_sound(tree);
  Node subscript = first(tree, Kind::k_subscript);
  EXPECT_EQ(subscript.text(), "x[*k.shape(a)[1], 2]");
  Node splat = subscript.child(Kind::k_list_splat);
  EXPECT_EQ(splat.field(), Field::k_subscript);
  EXPECT_EQ(splat.text(), "*k.shape(a)[1]");
  Node inner = splat.first_child();
  EXPECT_EQ(inner.text(), "k.shape(a)[1]");
  EXPECT_EQ(inner.field(), Field::kNone);
  EXPECT_EQ(inner.child(Field::k_value).text(), "k.shape(a)");
  EXPECT_EQ(inner.child(Field::k_value).child(Field::k_function).text(), "k.shape");
  EXPECT_EQ(inner.child(Field::k_value).child(Field::k_arguments).text(), "(a)");
  EXPECT_EQ(inner.child(Field::k_subscript).text(), "1");
}

TEST(Syntax, StarsBeforeBrackets) {
  for (const char* source : {"x = a, *(b,)\n", "def f():\n  return a, *((b,) * 3)\n", "x = *[b][0], a\n",
                             "yield *(b), a\n", "for x in *(b), a: pass\n", "*(b), c\n",
                             "s = ', *(b)'\nx = a, * (b)  # , *(c)\n", "x = a, *f(*(b)), *(c, *(d))\n"}) {
    SyntaxTree tree = parse(source);
    expect_sound(tree);
    EXPECT_TRUE(tree.errors().empty()) << source;
    for (Node n : tree.root().descendants()) {
      if (!n.is(Kind::k_list_splat)) continue;
      EXPECT_EQ(n.text()[0], '*') << source;
      EXPECT_TRUE(n.first_child()) << source;
      EXPECT_EQ(n.end(), n.first_child().end()) << source;
      EXPECT_FALSE(n.parent().is_any(Kind::k_module, Kind::k_block)) << source;
    }
    EXPECT_TRUE(first(tree, Kind::k_list_splat)) << source;
  }
  SyntaxTree tree = parse("def f():\n  return a, *((b,) * 3), c\n");
  Node list = first(tree, Kind::k_expression_list);
  EXPECT_EQ(list.child_count(), 3u);
  EXPECT_EQ(list.child_at(1).text(), "*((b,) * 3)");
  EXPECT_EQ(list.child_at(1).first_child().text(), "((b,) * 3)");
  EXPECT_EQ(list.child_at(2).text(), "c");
}

TEST(Syntax, OtherErrorsStay) {
  EXPECT_FALSE(parse("x = a, *(b\ny = 1 +\n").errors().empty());
  EXPECT_FALSE(parse("def f(:\n  return a, *(b)\n").errors().empty());
}

// A module with other code around the fault; gives the line of the first error, counted from the fault's
// first line.
int first_error_line(const std::string& fault) {
  std::string around;
  for (int i = 0; i < 20; ++i)
    around += "class A:\n    def m(self, a, b=1):\n        return self.x(a, b)\n\n";
  SyntaxTree tree = parse(around + fault + "\n\n" + around);
  return tree.errors().empty() ? -1 : static_cast<int>(tree.errors()[0].line) - 80;
}

std::string call_over_lines(const std::string& line30) {
  std::string out = "def g():\n    y = f(\n";
  for (int i = 3; i < 60; ++i)
    out += "        " + (i == 30 ? line30 : "a" + std::to_string(i) + "=1") + ",\n";
  return out + "    )\n    return y\n";
}

TEST(Syntax, ErrorsStandWhereTheFaultIs) {
  EXPECT_EQ(first_error_line("f(\"a\": \"b\", c)\n"), 1);
  EXPECT_EQ(first_error_line(call_over_lines("\"a\": \"b\"")), 30);
  EXPECT_EQ(first_error_line(call_over_lines("b c")), 30);
  EXPECT_EQ(first_error_line(call_over_lines("b=1 c=2")), 30);
  EXPECT_EQ(first_error_line(call_over_lines("b=[1")), 31);  // `[1, a31=1`
  EXPECT_EQ(first_error_line(call_over_lines("b=1]")), 30);
  EXPECT_EQ(first_error_line("def g():\n    a = 1\n    x = f(a,\n        b\n    y = 1\n    return y\n"), 3);
  EXPECT_EQ(first_error_line("x = {\n    'a': 1,\n    'b' 2,\n}\n"), 3);
  EXPECT_EQ(first_error_line("def g():\n    a = 1\n    b = \"abc\n    return a\n"), 3);
  EXPECT_EQ(first_error_line("def g():\n    a = 1\n    if a\n        b\n"), 3);
  EXPECT_EQ(first_error_line("def g():\n    a = 1\n    print \"x\"\n"), 3);
  EXPECT_EQ(first_error_line("try:\n  a\nfinally:\n  b\nexcept E as e, F:\n  c\n"), 5);
  EXPECT_EQ(first_error_line("x = 1\n"), -1);
}

}  // namespace
}  // namespace assay
