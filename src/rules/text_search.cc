#include "rules/text_search.h"

#include <bitset>
#include <unordered_set>

#include "base/text.h"
#include "python/skip_string.h"

namespace assay {

size_t find_word(std::string_view text, std::string_view word, size_t from) {
  while (from < text.size()) {
    size_t at = find_text(text, word, from);
    if (at == std::string_view::npos) break;
    bool begins = at == 0 || !is_identifier_byte(text[at - 1]);
    bool ends = at + word.size() == text.size() || !is_identifier_byte(text[at + word.size()]);
    if (begins && ends) return at;
    from = at + 1;
  }
  return std::string_view::npos;
}

void each_word(const SourceTree& tree, const Project& project, std::string_view word,
               const std::function<bool(const Module&, std::string_view text, size_t at)>& hit) {
  for (const Module* m : project.modules_of(tree)) {
    if (m->kind != ModuleKind::kSource || !m->entry) continue;
    std::string_view text = project.text(*m);
    for (size_t at = find_word(text, word); at != std::string_view::npos; at = find_word(text, word, at + word.size())) {
      if (!hit(*m, text, at)) return;
    }
  }
}

std::vector<std::string_view> spelled_words(const SourceTree& tree, const Project& project, const std::vector<std::string_view>& words) {
  std::unordered_set<std::string_view> missing(words.begin(), words.end());
  auto ending = [](std::string_view word) {
    auto byte = [&](size_t back) { return word.size() >= back ? static_cast<unsigned char>(word[word.size() - back]) : 0u; };
    return byte(2) * 256 + byte(1);
  };
  std::bitset<65536> endings;
  for (std::string_view word : words) endings.set(ending(word));
  std::vector<std::string_view> out;
  for (const Module* m : project.modules_of(tree)) {
    if (m->kind != ModuleKind::kSource || !m->entry || missing.empty()) continue;
    std::string_view text = project.text(*m);
    for (size_t i = 0; i < text.size();) {
      if (!is_identifier_byte(text[i])) {
        ++i;
        continue;
      }
      size_t begin = i;
      while (i < text.size() && is_identifier_byte(text[i])) ++i;
      std::string_view word = text.substr(begin, i - begin);
      if (!endings[ending(word)]) continue;
      auto found = missing.find(word);
      if (found == missing.end()) continue;
      out.push_back(*found);
      missing.erase(found);
    }
  }
  return out;
}

}  // namespace assay
