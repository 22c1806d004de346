// Words in the text of whole trees, found without parsing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "project/project.h"

namespace assay {

// Calls `hit` with the module, its text and the offset of each place where `word` stands as a whole word, in order of
// files, until `hit` returns false. Words in strings and comments count.
void each_word(const SourceTree& tree, const Project& project, std::string_view word,
               const std::function<bool(const Module&, std::string_view text, size_t at)>& hit);

// Those of the words that stand somewhere in the tree as whole words; the answer's views are those of `words`.
std::vector<std::string_view> spelled_words(const SourceTree& tree, const Project& project, const std::vector<std::string_view>& words);

// The next place of the whole word from `from` on; npos when there is none.
size_t find_word(std::string_view text, std::string_view word, size_t from = 0);

}  // namespace assay
