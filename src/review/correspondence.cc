#include "review/correspondence.h"

#include <map>

#include "base/hash.h"
#include "base/parallel.h"
#include "review/packages.h"

namespace assay {
namespace {

std::vector<std::string> hashes_of(const Tree& tree, const std::vector<const TreeEntry*>& entries, int threads) {
  std::vector<std::string> out(entries.size());
  parallel_for(entries.size(), threads, [&](size_t i) {
    auto blob = tree.read(*entries[i]);
    out[i] = blob ? content_hash(blob->view()) : "unreadable: " + blob.error().message;
  });
  return out;
}

// By importable path.
std::map<std::string, const TreeEntry*> files_of(const Tree& tree, const std::vector<std::string>& packages) {
  std::map<std::string, const TreeEntry*> out;
  for (const TreeEntry& entry : tree.entries()) {
    if (std::string path = importable_path(entry.path, packages); !path.empty()) out.try_emplace(path, &entry);
  }
  return out;
}

}  // namespace

std::string manifest_of(const Tree& tree, int threads) {
  std::vector<const TreeEntry*> entries;
  for (const TreeEntry& entry : tree.entries()) entries.push_back(&entry);
  const std::vector<std::string> hashes = hashes_of(tree, entries, threads);
  Hasher all;
  for (size_t i = 0; i < entries.size(); ++i) all.add(entries[i]->path + '\n' + hashes[i] + '\n');
  return all.hex();
}

Correspondence correspondence_of(const Tree& local, const Tree& installed, const std::vector<std::string>& packages,
                                 const std::function<bool(const std::string&)>& generated, int threads) {
  Correspondence out;
  const auto here = files_of(local, packages), there = files_of(installed, packages);
  std::vector<const TreeEntry*> ours, theirs;
  std::vector<std::string> both;
  for (const auto& [path, entry] : here) {
    auto other = there.find(path);
    if (other == there.end()) {
      (generated(path) ? out.generated : out.local_only).push_back(path);
      continue;
    }
    both.push_back(path);
    ours.push_back(entry);
    theirs.push_back(other->second);
  }
  for (const auto& [path, entry] : there) {
    if (here.count(path) == 0) (generated(path) ? out.generated : out.installed_only).push_back(path);
  }
  const auto ours_hashed = hashes_of(local, ours, threads), theirs_hashed = hashes_of(installed, theirs, threads);
  for (size_t i = 0; i < both.size(); ++i) {
    if (ours_hashed[i] == theirs_hashed[i]) {
      ++out.identical;
    } else {
      (generated(both[i]) ? out.generated : out.changed).push_back(both[i]);
    }
  }
  const bool same = out.changed.empty() && out.local_only.empty() && out.installed_only.empty();
  if (out.identical == 0 && out.changed.empty()) {
    out.verdict = "not compared: no file of the same name on both sides";
  } else if (!same) {
    out.verdict = "differs";
  } else {
    // Compiled files were made from sources that are not compared.
    out.verdict = out.generated.empty() ? "same" : "same, but for what builds make";
  }
  return out;
}

}  // namespace assay
