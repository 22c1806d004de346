#include "python/import_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> shown(std::string_view text) {
  static const char* const kPlaces[] = {"top", "guarded", "function", "types"};
  std::vector<std::string> out;
  for (const ScannedImport& i : scan_imports(text)) {
    std::string s = std::to_string(i.line) + " " + kPlaces[static_cast<int>(i.place)] + " " + i.module;
    for (const ScannedImport::Name& n : i.names) {
      if (!n.name.empty()) s += ":" + n.name;
      if (!n.as.empty()) s += "=" + n.as;
    }
    out.push_back(s);
  }
  return out;
}

TEST(ImportScan, EveryForm) {
  EXPECT_THAT(shown("import a.b, c as d\nfrom . import x\nfrom ..y.z import *\nfrom a import (b,  # why\n  c as d,\n)\nfrom a import \\\n  b; import e\n"),
              ElementsAre("1 top a.b", "1 top c=d", "2 top .:x", "3 top ..y.z:*", "4 top a:b:c=d", "7 top a:b"));
}

TEST(ImportScan, WhereTheyStand) {
  EXPECT_THAT(shown("try:\n  import a\nexcept ImportError:\n  import b\nif TYPE_CHECKING:\n  import c\nclass D:\n  import e\n  def f(self):\n    import g\nimport h\n"),
              ElementsAre("2 guarded a", "4 guarded b", "6 types c", "8 top e", "10 function g", "11 top h"));
}

TEST(ImportScan, TextIsNoCode) {
  EXPECT_THAT(shown("'''\nimport a\n'''\n# import b\nx = \"\"\"\nfrom c import d\n\"\"\"\n"), IsEmpty());
  EXPECT_THAT(shown("'''doc\n'''\nimport a\n"), ElementsAre("3 top a"));
}

TEST(ImportScan, BrokenTextEnds) {
  EXPECT_THAT(shown("import"), IsEmpty());
  EXPECT_THAT(shown("from a import (b"), ElementsAre("1 top a:b"));
  EXPECT_THAT(shown("x = ('\\"), IsEmpty());
}

}  // namespace
}  // namespace assay
