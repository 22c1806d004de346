// Text made safe for Markdown as GitHub reads it. Code that stands between backticks stays code.
#pragma once

#include <string>
#include <string_view>

namespace assay {

std::string markdown(std::string_view text);

// `text` as code, whatever backticks it has; empty for an empty text.
std::string code(std::string_view text);

// A block of code behind a fence that is longer than any in it.
std::string fenced(std::string_view text);

// A cell of a table: no line end, no bare "|".
std::string cell(std::string_view text);

std::string html(std::string_view text);
// As html, with what stands between backticks in <code>.
std::string html_code(std::string_view text);

}  // namespace assay
