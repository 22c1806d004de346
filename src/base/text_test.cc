#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

TEST(Text, Trim) {
  EXPECT_EQ(trim(" a b\r\n"), "a b");
  EXPECT_EQ(trim(" \t "), "");
}

TEST(Text, FindText) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "abcab_"[i * i % 6];
  text += "needle";
  for (std::string_view what : {"", "a", "ab", "ca", "aba", "needle", "needless", "bcab_abcab_abcab_abcab"}) {
    for (size_t from = 0; from <= text.size() + 1; ++from) EXPECT_EQ(find_text(text, what, from), text.find(what, from)) << what << from;
  }
  EXPECT_EQ(find_text("", "ab"), std::string_view::npos);
}

TEST(Text, Split) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a/", '/'), ElementsAre("a", ""));
}

TEST(Text, ValidUtf8) {
  EXPECT_TRUE(valid_utf8(""));
  EXPECT_TRUE(valid_utf8("plain ASCII, long enough for the word loop"));
  EXPECT_TRUE(valid_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x90\x8D"));
  EXPECT_TRUE(valid_utf8("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"));
  EXPECT_FALSE(valid_utf8("12345678\x80"));
  EXPECT_FALSE(valid_utf8("\xC0\xAF")) << "overlong";
  EXPECT_FALSE(valid_utf8("\xE0\x80\xAF")) << "overlong";
  EXPECT_FALSE(valid_utf8("\xF0\x80\x80\xAF")) << "overlong";
  EXPECT_FALSE(valid_utf8("\xED\xA0\x80")) << "surrogate";
  EXPECT_FALSE(valid_utf8("\xF4\x90\x80\x80")) << "above U+10FFFF";
  EXPECT_FALSE(valid_utf8("\xE2\x82")) << "cut off";
}

TEST(Text, PrintableLeavesNothingThatDrivesATerminal) {
  EXPECT_EQ(printable("a\xC3\xBC.py"), "a\xC3\xBC.py");
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f\xff"), "a\\nb\\tc\\x1b[2J\\x7f\\xff");
  EXPECT_EQ(printable("\xC2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Text, WithoutCredentials) {
  EXPECT_EQ(without_credentials("from https://user:p@ss@host/simple/ and a@b"),
            "from https://***@host/simple/ and a@b");
  EXPECT_EQ(without_credentials("http://host/a@b https://t@x"), "http://host/a@b https://***@x");
  EXPECT_EQ(without_credentials("a://"), "a://");
  EXPECT_EQ(without_credentials(""), "");
}

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flash", "falsh"), 1u) << "neighbours swapped";
}

TEST(Text, DidYouMean) {
  const std::vector<std::string> names = {"get_kv_cache_shape", "get_kv_cache_stride_order", "get_name", "N"};
  EXPECT_EQ(did_you_mean("get_kv_cahce_shape", names), "get_kv_cache_shape");
  EXPECT_EQ(did_you_mean("GET_NAME", names), "get_name");
  EXPECT_EQ(did_you_mean("forward", names), "");
  EXPECT_EQ(did_you_mean("x", names), "") << "one letter replaced by another is no suggestion";
  EXPECT_EQ(did_you_mean("get_name", {"get_name"}), "");
}

}  // namespace
}  // namespace assay
