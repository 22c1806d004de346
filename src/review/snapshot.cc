#include "review/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "review/packages.h"

namespace assay {
namespace {

bool compiled(std::string_view path) { return path.ends_with(".so") || path.ends_with(".pyd"); }

// What a distribution's folder of metadata would hold.
void add_metadata(const std::vector<EntryPoint>& entries, const Distribution& distribution, std::vector<OverlayFile>& files) {
  const std::string name = distribution.name.empty() ? "assay-snapshot" : distribution.name;
  const std::string version = distribution.version.empty() ? "0+snapshot" : distribution.version;
  const std::string folder = fmt::format("{}-{}.dist-info/", name, version);
  files.push_back({folder + "METADATA", Blob(fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", name, version))});
  std::map<std::string, std::string> groups;
  for (const EntryPoint& entry : entries) groups[entry.group] += fmt::format("{} = {}\n", entry.name, entry.value);
  std::string text;
  for (const auto& [group, lines] : groups) text += fmt::format("[{}]\n{}", group, lines);
  files.push_back({folder + "entry_points.txt", Blob(std::move(text))});
}

}  // namespace

Expected<Snapshot> export_snapshot(const Tree& tree, const std::vector<std::string>& packages, const std::vector<EntryPoint>& entries,
                                   const Distribution& distribution, const Tree* installed, const std::string& installed_at) {
  auto files = std::make_shared<std::vector<OverlayFile>>();
  Snapshot out;
  std::set<std::string> have;
  for (const TreeEntry& entry : tree.entries()) {
    const std::string path = importable_path(entry.path, packages);
    if (path.empty() || !have.insert(path).second) continue;
    auto blob = tree.read(entry);
    if (!blob) return tl::make_unexpected(blob.error());
    files->push_back({path, *blob});
  }
  if (installed != nullptr) {
    for (const TreeEntry& entry : installed->entries()) {
      const bool made = compiled(entry.path) || entry.path.ends_with("/_version.py");
      if (!made || importable_path(entry.path, packages).empty() || !have.insert(entry.path).second) continue;
      files->push_back({entry.path, Blob(), installed_at + '/' + entry.path});
      out.generated.push_back(entry.path);
    }
  }
  add_metadata(entries, distribution, *files);
  out.files = std::move(files);
  return out;
}

void prove(const std::vector<OverlayFile>& files, const std::string& overlay, std::vector<LoadedModule>& modules) {
  std::map<std::string, const OverlayFile*> exported;
  for (const OverlayFile& file : files) exported[file.path] = &file;
  const std::string below = overlay + '/';
  for (LoadedModule& module : modules) {
    if (module.file.empty()) continue;
    if (!module.file.starts_with(below)) {
      module.proof = "not in the source";
      continue;
    }
    const std::string path = module.file.substr(below.size());
    auto it = exported.find(path);
    if (it == exported.end()) {
      module.proof = "not in the source";
    } else if (!it->second->link.empty()) {
      module.proof = "generated";
    } else {
      module.proof = module.hash == content_hash(it->second->bytes.view()) ? "same" : "differs";
    }
    module.file = "<snapshot>/" + path;  // the folder itself is gone afterwards
  }
}

void compare_loaded(const Tree& source, const std::vector<std::string>& packages, std::vector<LoadedModule>& modules) {
  std::map<std::string, const TreeEntry*> files;
  for (const TreeEntry& entry : source.entries())
    if (std::string path = importable_path(entry.path, packages); !path.empty()) files.try_emplace(path, &entry);
  for (LoadedModule& module : modules) {
    if (module.file.empty()) continue;
    std::string dotted = module.name;
    std::replace(dotted.begin(), dotted.end(), '.', '/');
    auto it = files.find(dotted + ".py");
    if (it == files.end()) it = files.find(dotted + "/__init__.py");
    if (it == files.end()) {
      module.proof = compiled(module.file) || module.file.ends_with("/_version.py") ? "generated" : "not in the source";
      continue;
    }
    auto blob = source.read(*it->second);
    module.proof = blob && module.hash == content_hash(blob->view()) ? "same" : "differs";
  }
}

std::vector<std::string> unstaged_files(const Tree& index, const Tree& working, const std::vector<std::string>& packages) {
  std::vector<std::string> out;
  for (const TreeEntry& entry : working.entries()) {
    if (!entry.path.ends_with(".py") || importable_path(entry.path, packages).empty()) continue;
    if (index.find(entry.path) == nullptr) out.push_back(entry.path);
  }
  return out;
}

}  // namespace assay
