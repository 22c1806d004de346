#include "python/bracket_fault.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

std::string fault(std::string_view text) {
  auto f = find_bracket_fault(text);
  return f ? std::to_string(f->byte) + ": " + f->message : "";
}

TEST(BracketFault, Kinds) {
  EXPECT_EQ(fault("f(a, [1], {2: 3})\n"), "");
  EXPECT_EQ(fault("f(a))\n"), "4: unmatched ')'");
  EXPECT_EQ(fault("f(a]\n"), "3: closing ']' does not match opening '('");
  EXPECT_EQ(fault("f(a\n"), "1: '(' was never closed");
  EXPECT_EQ(fault("f(a,\n  [b)\n"), "9: closing ')' does not match opening '['");
  EXPECT_EQ(fault("x = 'a\ny\n"), "4: unterminated string literal");
  EXPECT_EQ(fault("x = '''a\ny\n"), "4: unterminated string literal");
}

TEST(BracketFault, AStatementEndsTheSearch) {
  EXPECT_EQ(fault("f(a\ndef g(): pass\n)\n"), "1: '(' was never closed");
  EXPECT_EQ(fault("f(a\n    return (b)\n"), "1: '(' was never closed");
  EXPECT_EQ(fault("f(a\n  if b else c\n  for x in y\n  @ z)\n"), "");
}

TEST(BracketFault, OnlyCodeCounts) {
  EXPECT_EQ(fault("x = '(' # )\ny = \"\"\"]\n(\"\"\"\n"), "");
  EXPECT_EQ(fault("x = f'{a[\"(\"]}'\n"), "");
}

}  // namespace
}  // namespace assay
