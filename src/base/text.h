// Small text helpers: splitting, UTF-8, spelling suggestions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Without ASCII white space at both ends.
std::string_view trim(std::string_view text);

// As text.find(what, from), at the speed of memory for words of two bytes and more, however many places begin like one.
size_t find_text(std::string_view text, std::string_view what, size_t from = 0);

// "a,,b" at ',' gives {"a", "", "b"}; "" gives {""}.
std::vector<std::string_view> split(std::string_view text, char separator);

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
bool valid_utf8(std::string_view text);

// For messages about hostile input: control characters and bytes that are no UTF-8 become \n, \t or \xNN, so
// the result is valid UTF-8 on one line and can't drive a terminal.
std::string printable(std::string_view text);

// With the user name and password of every URL in the text replaced by "***".
std::string without_credentials(std::string_view text);

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`, by bytes.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that `name` is most likely a misspelling of, the first of equals; empty if none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace assay
