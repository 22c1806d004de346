#include "tree/memory_tree.h"

#include "base/hash.h"

namespace assay {
namespace {

class MemoryTree : public Tree {
 public:
  MemoryTree(std::map<std::string, std::string> files, std::string spec)
      : identity_{std::move(spec), "memory", "", ""} {
    for (auto& [path, content] : files) {
      entries_.push_back({path, content.size(), content_hash(content)});
      blobs_.emplace(path, Blob(std::move(content)));
    }
  }
  const TreeIdentity& identity() const override { return identity_; }
  const std::vector<TreeEntry>& entries() const override { return entries_; }
  const std::vector<Skipped>& skipped() const override { return skipped_; }
  Expected<Blob> read(const TreeEntry& entry) const override {
    auto it = blobs_.find(entry.path);
    if (it == blobs_.end()) return fail(entry.path + ": no such file in this tree");
    return it->second;
  }

 private:
  TreeIdentity identity_;
  std::vector<TreeEntry> entries_;
  std::vector<Skipped> skipped_;
  std::map<std::string, Blob> blobs_;
};

}  // namespace

std::unique_ptr<Tree> make_memory_tree(std::map<std::string, std::string> files, std::string spec) {
  return std::make_unique<MemoryTree>(std::move(files), std::move(spec));
}

}  // namespace assay
