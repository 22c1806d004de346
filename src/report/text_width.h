// How many columns of a terminal a text takes: comments of plugins are often Chinese, whose characters take
// two.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay {

// The character that starts at text[at], and `at` moved behind it; a broken byte counts as one character.
char32_t next_character(std::string_view text, size_t& at);

size_t display_width(char32_t character);
size_t display_width(std::string_view text);

}  // namespace assay
