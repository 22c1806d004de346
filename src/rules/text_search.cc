#include "rules/text_search.h"

#include <cstring>

#include "python/skip_string.h"

namespace assay {

size_t find_word(std::string_view text, std::string_view word, size_t from) {
  while (from < text.size()) {
    const void* found = memmem(text.data() + from, text.size() - from, word.data(), word.size());
    if (!found) break;
    size_t at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
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

}  // namespace assay
