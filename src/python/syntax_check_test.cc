#include "python/syntax_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

// `line:column message` of every error. (Which programs are errors is tested against CPython in
// tests/property.)
std::string check(std::string source) {
  SyntaxTree tree = SyntaxTree::parse(Blob(std::move(source)));
  EXPECT_TRUE(tree.errors().empty());
  std::string out;
  for (const SyntaxError& e : check_syntax(tree, ModuleScopes(tree))) {
    out += fmt::format("{}{}:{} {}", out.empty() ? "" : "; ", e.line, e.column, e.message);
  }
  return out;
}

TEST(SyntaxCheck, PlacesAndMessages) {
  EXPECT_EQ(check("x = 1\nreturn x\n"), "2:1 'return' outside function");
  EXPECT_EQ(check("f(a=1,\n  a=2)\n"), "2:3 keyword argument repeated: a");
  EXPECT_EQ(check("def f(a=1, b): pass\n"),
            "1:12 parameter without a default follows parameter with a default");
  EXPECT_EQ(check("def f(é, é): pass\n"), "1:10 duplicate argument 'é' in function definition");
  EXPECT_EQ(check("if x:\n    a\n  b\n"), "3:3 unindent does not match any outer indentation level");
  EXPECT_EQ(check("if x:\n\ta\n        b\n"), "3:9 inconsistent use of tabs and spaces in indentation");
  EXPECT_EQ(check("def f():\n  print(x)\n  global x\n"), "3:3 name 'x' is used prior to global declaration");
  EXPECT_EQ(check("import a\nfrom __future__ import nope\n"),
            "2:1 from __future__ imports must occur at the beginning of the file; "
            "2:24 future feature nope is not defined");
}

TEST(SyntaxCheck, EveryErrorInOrder) {
  EXPECT_EQ(check("break\ndef f():\n  continue\n  f(a=1, 2)\n"),
            "1:1 'break' outside loop; 3:3 'continue' not properly in loop; "
            "4:10 positional argument follows keyword argument");
}

TEST(SyntaxCheck, BytesThatAreNoSource) {
  SyntaxTree nul = SyntaxTree::parse(Blob(std::string("x = 1\ny = 'a\0b'\n", 16)));
  ASSERT_EQ(nul.errors().size(), 1u);
  EXPECT_EQ(nul.errors()[0].line, 2u);
  EXPECT_EQ(nul.errors()[0].message, "source code cannot contain null bytes");
  EXPECT_EQ(check("x = '\xff'\n"), "1:6 the file is not UTF-8 and declares no encoding");
  EXPECT_EQ(check("# -*- coding: latin-1 -*-\nx = '\xff'\n"), "");
  EXPECT_EQ(check("#!/bin/sh\n# vim: set fileencoding=nonsense :\n"), "2:25 unknown encoding: nonsense");
  EXPECT_EQ(check("x = 1\n# coding: nonsense\n"), "");
  EXPECT_EQ(check("# encoding = GB18030\nx = '\xff'\n"), "");
  EXPECT_EQ(check("\xEF\xBB\xBFx = 'é€𝐱'\r\nif x:\r\n    y = 1\r\n"), "");
}

TEST(SyntaxCheck, HugeLinesStayLinear) {
  std::string line = "x = 1";
  for (int i = 0; i < 10000; ++i) line += "; break";
  SyntaxTree tree = SyntaxTree::parse(Blob(line + "\n"));
  EXPECT_EQ(check_syntax(tree, ModuleScopes(tree)).size(), 200u);
  std::string broken;
  for (int i = 0; i < 10000; ++i) broken += "x y ) ; ";
  EXPECT_LE(SyntaxTree::parse(Blob(broken)).errors().size(), 201u);
}

TEST(SyntaxCheck, SaysNothingBehindErrorsOfTheParser) {
  SyntaxTree tree = SyntaxTree::parse(Blob(std::string("def f(:\n  pass\nreturn 1\n")));
  ASSERT_FALSE(tree.errors().empty());
  EXPECT_TRUE(check_syntax(tree, ModuleScopes(tree)).empty());
}

}  // namespace
}  // namespace assay
