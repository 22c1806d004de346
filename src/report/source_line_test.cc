#include "report/source_line.h"

#include <gtest/gtest.h>

#include "report/markdown_text.h"
#include "report/text_table.h"
#include "report/text_width.h"

namespace assay {
namespace {

Location line(std::string text, uint32_t column, uint32_t end_column) {
  return {"plugin", "a.py", 5, column, 0, end_column, std::move(text)};
}

std::string shown(const Location& location) {
  SourceLine out = source_line(location);
  return out.text + "\n" + underline(out, '^');
}

TEST(SourceLine, MarksFromColumnToEnd) { EXPECT_EQ(shown(line("x = foo(1)", 5, 8)), "x = foo(1)\n    ^^^"); }
TEST(SourceLine, OneCharacterWhereTheEndIsUnknown) { EXPECT_EQ(shown(line("x = 1", 5, 0)), "x = 1\n    ^"); }
TEST(SourceLine, NoColumnNoMark) { EXPECT_EQ(shown(line("x = 1", 0, 0)), "x = 1\n"); }
TEST(SourceLine, TabsAreSpaces) { EXPECT_EQ(shown(line("\tfoo", 2, 5)), "    foo\n    ^^^"); }
TEST(SourceLine, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(shown(line("'中' + b", 7, 8)), "'中' + b\n       ^");
}
TEST(SourceLine, BehindTheEnd) { EXPECT_EQ(shown(line("if x", 5, 6)), "if x\n    ^"); }
TEST(SourceLine, FarBehindTheEnd) { EXPECT_EQ(shown(line("if x\r\n", 90, 91)), "if x\n    ^"); }

TEST(SourceLine, SeveralLinesAreMarkedToTheEndOfTheFirst) {
  Location location = line("f(a,", 3, 2);
  location.end_line = 6;
  EXPECT_EQ(shown(location), "f(a,\n  ^^");
}

TEST(SourceLine, LongLinesAreCutAroundTheMark) {
  std::string text = std::string(200, 'a') + "foo" + std::string(200, 'b');
  SourceLine out = source_line(line(text, 201, 204));
  EXPECT_EQ(out.text, "…" + std::string(40, 'a') + "foo" + std::string(76, 'b') + "…");
  EXPECT_EQ(out.start, 41u);
  EXPECT_EQ(out.length, 3u);
}

TEST(SourceLine, EmptyLine) { EXPECT_EQ(shown(line("", 1, 1)), "\n^"); }

TEST(TextWidth, BrokenUtf8IsOneColumnAByte) {
  EXPECT_EQ(display_width("a\xff\xe4\xb8"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
}

TEST(TextTable, Aligns) {
  TextTable table;
  table.add({"a", "1", "x"});
  table.add({"中文", "200", ""});
  table.right_align(1);
  EXPECT_EQ(table.text("  "), "  a       1  x\n  中文  200\n");
}

TEST(Markdown, NamesKeepTheirUnderscores) {
  EXPECT_EQ(markdown("__init__ of `a_b` <x> | *"), "\\_\\_init\\_\\_ of `a_b` \\<x\\> \\| \\*");
  EXPECT_EQ(markdown("one ` only"), "one \\` only");
}

TEST(Markdown, CodeWithBackticks) {
  EXPECT_EQ(code("a"), "`a`");
  EXPECT_EQ(code(""), "");
  EXPECT_EQ(code("a``b"), "```a``b```");
  EXPECT_EQ(code("`a"), "`` `a ``");
  EXPECT_EQ(fenced("x ```` y"), "`````\nx ```` y\n`````\n");
  EXPECT_EQ(cell("a | b \\| c"), "a \\| b \\| c");
  EXPECT_EQ(html_code("<a> & `b<c`"), "&lt;a&gt; &amp; <code>b&lt;c</code>");
}

}  // namespace
}  // namespace assay
