#include "project/definition_index.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/parallel.h"

namespace assay {
namespace {

// The name that a line at the left margin defines; empty if it defines none.
std::string_view defined_name(std::string_view line) {
  if (line.empty() || !(std::isalpha(static_cast<unsigned char>(line[0])) || line[0] == '_')) return {};
  auto word_end = [&](size_t from) {
    while (from < line.size() && (std::isalnum(static_cast<unsigned char>(line[from])) || line[from] == '_')) ++from;
    return from;
  };
  for (std::string_view keyword : {"class ", "def ", "async def "}) {
    if (line.substr(0, keyword.size()) == keyword) return line.substr(keyword.size(), word_end(keyword.size()) - keyword.size());
  }
  size_t end = word_end(0), next = end;
  while (next < line.size() && line[next] == ' ') ++next;
  bool assigns = next < line.size() && ((line[next] == '=' && line.substr(next, 2) != "==") || line[next] == ':');
  std::string_view name = line.substr(0, end);
  if (!assigns || name == "if" || name == "else" || name == "try" || name == "finally" || name == "with") return {};
  return name;
}

}  // namespace

void DefinitionIndex::build() const {
  std::vector<const Module*> modules = project_.modules_of(tree_);
  std::vector<std::vector<std::pair<std::string, uint32_t>>> found(modules.size());
  parallel_for(modules.size(), threads_, [&](size_t i) {
    const Module& m = *modules[i];
    if (m.kind != ModuleKind::kSource || m.name.empty() || m.entry->size > (4u << 20)) return;
    std::string_view text = project_.text(m);
    uint32_t line = 1;
    for (size_t at = 0; at < text.size(); ++line) {
      size_t end = text.find('\n', at);
      if (end == std::string_view::npos) end = text.size();
      std::string_view name = defined_name(text.substr(at, end - at));
      if (!name.empty()) found[i].emplace_back(name, line);
      at = end + 1;
    }
  });
  for (size_t i = 0; i < modules.size(); ++i) {
    for (auto& [name, line] : found[i]) places_[name].push_back({modules[i], line});
  }
}

std::vector<DefinitionPlace> DefinitionIndex::find(std::string_view name) const {
  std::call_once(built_, [this] { build(); });
  auto it = places_.find(std::string(name));
  return it == places_.end() ? std::vector<DefinitionPlace>() : it->second;
}

}  // namespace assay
