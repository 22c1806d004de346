#include "python/signature.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// The first function or lambda of `source`, kept with its tree.
struct Parsed {
  explicit Parsed(std::string source) : tree(SyntaxTree::parse(Blob(std::move(source)))) {
    for (Node n : tree.root().descendants()) {
      if (n.is_any(Kind::k_function_definition, Kind::k_lambda)) {
        signature = signature_of(n);
        break;
      }
    }
  }
  SyntaxTree tree;
  Signature signature;
};

TEST(Signature, EveryParameterForm) {
  Parsed p(
      "async def f[T](a, /, b: int, c=1, d: str = 'x', *args: int, e, f: int = 2, **kw: int) -> int: pass\n");
  const Signature& s = p.signature;
  EXPECT_EQ(to_string(s), "(a, /, b, c=1, d='x', *args, e, f=2, **kw)");
  EXPECT_TRUE(s.is_async);
  EXPECT_FALSE(s.incomplete);
  EXPECT_EQ(s.return_annotation.text(), "int");
  EXPECT_EQ(s.positional_count(), 4u);
  EXPECT_EQ(s.required_positional_count(), 2u);
  EXPECT_EQ(s.required_count(), 3u);
  EXPECT_TRUE(s.accepts_var_positional());
  EXPECT_TRUE(s.accepts_var_keyword());
  EXPECT_EQ(s.find("d")->annotation.text(), "str");
  EXPECT_EQ(s.find("d")->default_value.text(), "'x'");
  EXPECT_EQ(s.find("args")->kind, ParameterKind::kVarPositional);
  EXPECT_EQ(s.find("args")->annotation.text(), "int");
  EXPECT_EQ(s.find("a")->kind, ParameterKind::kPositionalOnly);
  EXPECT_EQ(s.find("e")->kind, ParameterKind::kKeywordOnly);
  EXPECT_EQ(s.find("zz"), nullptr);
}

TEST(Signature, TextOfSeparators) {
  EXPECT_EQ(to_string(Parsed("def f(): pass\n").signature), "()");
  EXPECT_EQ(to_string(Parsed("def f(a, /): pass\n").signature), "(a, /)");
  EXPECT_EQ(to_string(Parsed("def f(a, /, *, b): pass\n").signature), "(a, /, *, b)");
  EXPECT_EQ(to_string(Parsed("def f(*, b, c=()): pass\n").signature), "(*, b, c=())");
  EXPECT_EQ(to_string(Parsed("def f(a, *b, c): pass\n").signature), "(a, *b, c)");
  EXPECT_EQ(to_string(Parsed("def f(a=[\n1]): pass\n").signature), "(a=...)");
  EXPECT_EQ(to_string(Parsed("def f(a, # c\n  **k): pass\n").signature), "(a, **k)");
  EXPECT_EQ(to_string(Parsed("x = lambda a, *, b=2: 0\n").signature), "(a, *, b=2)");
  EXPECT_EQ(to_string(Parsed("x = lambda: 0\n").signature), "()");
}

TEST(Signature, Keywords) {
  Parsed p("def f(a, /, b, *c, d): pass\n");
  EXPECT_FALSE(p.signature.accepts_keyword("a"));
  EXPECT_TRUE(p.signature.accepts_keyword("b"));
  EXPECT_FALSE(p.signature.accepts_keyword("c"));
  EXPECT_TRUE(p.signature.accepts_keyword("d"));
  EXPECT_FALSE(p.signature.accepts_keyword("e"));
  EXPECT_TRUE(Parsed("def f(a, /, **k): pass\n").signature.accepts_keyword("a"));
}

TEST(Signature, BoundMethodLosesItsFirstPositional) {
  EXPECT_EQ(to_string(Parsed("def f(self, x): pass\n").signature.without_first()), "(x)");
  EXPECT_EQ(to_string(Parsed("def f(self, /, x): pass\n").signature.without_first()), "(x)");
  EXPECT_EQ(to_string(Parsed("def f(*args, x): pass\n").signature.without_first()), "(*args, x)");
  EXPECT_EQ(to_string(Parsed("def f(*, x): pass\n").signature.without_first()), "(*, x)");
  EXPECT_EQ(to_string(Parsed("def f(): pass\n").signature.without_first()), "()");
}

TEST(Signature, WhatCannotBeReadIsIncomplete) {
  EXPECT_TRUE(Parsed("def f(a, (b, c)): pass\n").signature.incomplete);
  EXPECT_TRUE(Parsed("def f(a, (b, c)=(1, 2)): pass\n").signature.incomplete);
  EXPECT_TRUE(signature_of(Node()).incomplete);
  Parsed module("x = 1\n");
  EXPECT_TRUE(signature_of(module.tree.root()).incomplete);
}

TEST(Signature, OfADecoratedDefinition) {
  SyntaxTree tree = SyntaxTree::parse(Blob(std::string("@d(1)\ndef f(a): pass\n")));
  EXPECT_EQ(to_string(signature_of(tree.root().first_child())), "(a)");
}

}  // namespace
}  // namespace assay
