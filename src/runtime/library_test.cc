#include "runtime/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "tree/temp_folder.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LibraryTest : public ::testing::Test {
 protected:
  void build(const std::string& name, const std::string& source, std::vector<std::string> flags = {}) const {
    folder_.write("x.c", source);
    Command command{.argv = {"gcc", "-shared", "-fPIC", "-o", folder_ / name, folder_ / "x.c", "-L" + folder_.path().string()}};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    auto built = run_process(command);
    ASSERT_TRUE(built && built->exit_status == 0) << (built ? built->err : built.error().message);
  }
  TempFolder folder_;
};

TEST_F(LibraryTest, NeedsAndSymbols) {
  build("liba.so", "int a(void) { return 1; }", {"-Wl,-soname,liba.so"});
  build("libb.so", "int a(void); int gone(void); __attribute__((weak)) int maybe(void); int b(void) { return a() + gone() + (maybe ? maybe() : 0); }",
        {"-l:liba.so", "-Wl,-rpath,$ORIGIN"});
  auto library = read_library(folder_ / "libb.so");
  ASSERT_TRUE(library);
  EXPECT_THAT(library->needed, Contains("liba.so"));
  EXPECT_THAT(library->search, ElementsAre(folder_.path().string()));
  EXPECT_TRUE(library->defined.count("b"));
  EXPECT_THAT(library->undefined, ElementsAre("a", "gone")) << "a weak one may stay undefined";
  auto check = check_library(folder_ / "libb.so", {});
  ASSERT_TRUE(check);
  EXPECT_THAT(check->missing, ElementsAre("gone"));
  EXPECT_THAT(check->not_found, IsEmpty());
  // What the process has already counts as well.
  build("libgone.so", "int gone(void) { return 2; }");
  EXPECT_THAT(check_library(folder_ / "libb.so", {folder_ / "libgone.so"})->missing, IsEmpty());
}

TEST_F(LibraryTest, ALibraryThatIsNowhere) {
  build("liba.so", "int a(void) { return 1; }", {"-Wl,-soname,libnowhere.so"});
  build("libb.so", "int a(void); int b(void) { return a(); }", {"-l:liba.so"});
  EXPECT_THAT(check_library(folder_ / "libb.so", {})->not_found, ElementsAre("libnowhere.so"));
}

TEST_F(LibraryTest, WhatIsNoLibrary) {
  folder_.write("text.so", "no library");
  folder_.write("cut.so", std::string("\177ELF\2\1\1") + std::string(60, '\377'));
  folder_.write("empty.so", "");
  EXPECT_THAT(read_library(folder_ / "text.so").error().message, HasSubstr("text.so: not a shared library"));
  EXPECT_THAT(read_library(folder_ / "cut.so").error().message, HasSubstr("cut.so: not a shared library"));
  EXPECT_THAT(read_library(folder_ / "empty.so").error().message, HasSubstr("empty.so: not a shared library"));
  EXPECT_THAT(read_library(folder_ / "gone.so").error().message, HasSubstr("gone.so: cannot be read"));
}

TEST_F(LibraryTest, EveryCutIsSurvived) {
  build("liba.so", "int a(void) { return 1; }");
  std::ifstream file(folder_ / "liba.so", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  for (size_t size = 0; size < bytes.size(); size += 97) {
    folder_.write("cut.so", bytes.substr(0, size));
    (void)read_library(folder_ / "cut.so");  // an error or not: the sanitizers look on
  }
}

TEST(Demangled, NamesAndOthers) {
  EXPECT_EQ(demangled("_ZN3c105ErrorC1Ev"), "c10::Error::Error()");
  EXPECT_EQ(demangled("plain_c"), "plain_c");
}

}  // namespace
}  // namespace assay
