#include "base/line_printer.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace assay {
namespace {

std::string shown(bool smart, std::string_view line) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  {
    LinePrinter printer(ends[1], smart);
    printer.show(line);
  }
  ::close(ends[1]);
  char buffer[512];
  ssize_t n = ::read(ends[0], buffer, sizeof buffer);
  ::close(ends[0]);
  return std::string(buffer, n > 0 ? static_cast<size_t>(n) : 0);
}

TEST(LinePrinter, ReplacesItsLineOnATerminal) {
  EXPECT_EQ(shown(true, "parse a.py"), "\rparse a.py\x1b[K\r\x1b[K");
}

TEST(LinePrinter, SaysNothingElsewhere) {
  EXPECT_EQ(shown(false, "parse a.py"), "");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(is_smart_terminal(ends[1]));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LinePrinter, HostileNamesCannotDriveTheTerminal) {
  EXPECT_EQ(shown(true, "a\x1b[2Jb\n"), "\ra\\x1b[2Jb\\n\x1b[K\r\x1b[K");
}

TEST(ElideMiddle, KeepsBothEnds) {
  EXPECT_EQ(elide_middle("short", 5), "short");
  EXPECT_EQ(elide_middle("parse vllm/model_executor/layers/x.py", 15), "parse v…rs/x.py");
  EXPECT_EQ(elide_middle("abc", 1), "…");
  EXPECT_EQ(elide_middle("abc", 0), "");
}

TEST(ElideMiddle, CountsCharacters) { EXPECT_EQ(elide_middle("ééééé", 3), "é…é"); }

}  // namespace
}  // namespace assay
