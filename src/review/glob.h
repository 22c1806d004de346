// Paths chosen by pattern, as .gitignore does it: "*" and "?" stay within a folder, "**" crosses folders,
// "[ab]" is a set; a pattern that names a folder takes everything below it.
#pragma once

#include <string_view>

namespace assay {

bool glob_match(std::string_view pattern, std::string_view path);

}  // namespace assay
