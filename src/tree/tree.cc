#include "tree/tree.h"

#include <algorithm>

namespace assay {

const TreeEntry* Tree::find(std::string_view path) const {
  const std::vector<TreeEntry>& all = entries();
  auto it = std::lower_bound(all.begin(), all.end(), path,
                             [](const TreeEntry& entry, std::string_view p) { return entry.path < p; });
  return it != all.end() && it->path == path ? &*it : nullptr;
}

}  // namespace assay
