#include "model/json_writer.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

std::string text_of(std::string_view value) {
  JsonWriter out;
  out.text(value);
  return out.take();
}

TEST(JsonWriter, Nesting) {
  JsonWriter out;
  out.begin_object();
  out.field("a", 1);
  out.key("b");
  out.begin_array();
  out.begin_object();
  out.end_object();
  out.null();
  out.end_array();
  out.key("c");
  out.seconds(0.5);
  out.end_object();
  EXPECT_EQ(out.take(), "{\n \"a\": 1,\n \"b\": [\n  {},\n  null\n ],\n \"c\": 0.500000\n}\n");
}

TEST(JsonWriter, Escapes) {
  EXPECT_EQ(text_of("a\"b\\c\n\t\r\x01\x7f"), "\"a\\\"b\\\\c\\n\\t\\r\\u0001\x7f\"\n");
  EXPECT_EQ(text_of(std::string_view("\0", 1)), "\"\\u0000\"\n");
}

TEST(JsonWriter, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(text_of("é中𝄞"), "\"é中𝄞\"\n");
  EXPECT_EQ(text_of("\xff"), "\"\uFFFD\"\n");
  EXPECT_EQ(text_of("\xc0\xaf"), "\"\uFFFD\uFFFD\"\n") << "overlong";
  EXPECT_EQ(text_of("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"\n") << "a surrogate";
  EXPECT_EQ(text_of("\xf4\x90\x80\x80"), "\"\uFFFD\uFFFD\uFFFD\uFFFD\"\n") << "above U+10FFFF";
  EXPECT_EQ(text_of("a\xe4\xb8"), "\"a\uFFFD\uFFFD\"\n") << "cut off";
}

}  // namespace
}  // namespace assay
