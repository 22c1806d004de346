#include "tree/installed_tree.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/process.h"
#include "base/text.h"
#include "tree/directory_tree.h"
#include "tree/installed_probe.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Folders from several places under names of their own, and single files.
class InstalledTree : public Tree {
 public:
  explicit InstalledTree(std::string spec) : identity_{std::move(spec), "installed", "", ""} {}
  const TreeIdentity& identity() const override { return identity_; }
  const std::vector<TreeEntry>& entries() const override { return entries_; }
  const std::vector<Skipped>& skipped() const override { return skipped_; }
  Expected<Blob> read(const TreeEntry& entry) const override {
    const TreeEntry* listed = find(entry.path);
    if (!listed) return fail(entry.path + ": no such file in this tree");
    return read_file(sources_[static_cast<size_t>(listed - entries_.data())], *listed);
  }

  // A folder's files under "NAME/"; of a file that is there already, as in a namespace package, the first
  // counts.
  void add_folder(const std::string& name, const std::string& path) {
    auto tree = open_directory(path);
    if (!tree) {
      skipped_.push_back({name, tree.error().message});
      return;
    }
    for (const TreeEntry& entry : (*tree)->entries()) {
      add(name + '/' + entry.path, entry.size, path + '/' + entry.path);
    }
    for (const Skipped& skipped : (*tree)->skipped())
      skipped_.push_back({name + '/' + skipped.path, skipped.reason});
  }
  void add_file(const std::string& path) {
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (!error) add(fs::path(path).filename().string(), size, path);
  }
  void skip(std::string path, std::string reason) {
    skipped_.push_back({std::move(path), std::move(reason)});
  }
  void finish() {
    for (auto& [path, file] : files_) {
      entries_.push_back({path, file.size, ""});
      sources_.push_back(std::move(file.source));
    }
    files_.clear();
  }

 private:
  struct File {
    uint64_t size;
    std::string source;
  };
  void add(const std::string& path, uint64_t size, const std::string& source) {
    if (valid_utf8(path)) files_.try_emplace(path, File{size, source});
  }

  TreeIdentity identity_;
  std::map<std::string, File> files_;  // until finish()
  std::vector<TreeEntry> entries_;
  std::vector<std::string> sources_;  // on disk, of the entry at the same index
  std::vector<Skipped> skipped_;
};

std::string last_line(std::string_view text) {
  text = trim(text);
  return printable(text.substr(text.rfind('\n') + 1));
}

Expected<nlohmann::json> probe(const std::string& python, const std::string& name, const std::string& spec) {
  // -B: the user's folders stay as they are, no .pyc files.
  auto result = run_process({.argv = {python, "-B", "-c", kInstalledProbe, name}});
  if (!result) return fail(result.error().kind, printable(spec) + ": " + result.error().message);
  if (result->timed_out)
    return fail(printable(spec) + ": " + printable(python) + " did not answer within 60 seconds");
  if (result->exit_status != 0) {
    return fail(printable(spec) + ": " + printable(python) + " failed: " + last_line(result->err));
  }
  const size_t mark = result->out.rfind("\nassay-probe:");
  nlohmann::json answer = mark == std::string::npos
                              ? nlohmann::json(nlohmann::json::value_t::discarded)
                              : nlohmann::json::parse(result->out.substr(mark + 13), nullptr, false);
  if (answer.is_discarded())
    return fail(printable(spec) + ": " + printable(python) + " is not a Python interpreter");
  return answer;
}

}  // namespace

Expected<std::unique_ptr<Tree>> open_installed(const std::string& python, const std::string& name,
                                               const std::string& spec) {
  auto answer = probe(python, name, spec);
  if (!answer) return tl::unexpected<Error>(answer.error());
  auto tree = std::make_unique<InstalledTree>(spec);
  const nlohmann::json& distributions = (*answer)["distributions"];
  std::set<std::string> seen;
  for (const nlohmann::json& distribution : distributions) {
    const fs::path metadata = distribution["metadata"].get<std::string>();
    if (!seen.insert(metadata.string()).second) continue;  // sys.path may name a folder twice
    if (seen.size() == 1) {
      if (fs::is_directory(metadata)) tree->add_folder(metadata.filename().string(), metadata.string());
    } else {
      tree->skip(metadata.filename().string(), "a further installation, at " + printable(metadata.string()));
    }
  }
  for (const auto& [module, places] : (*answer)["modules"].items()) {
    for (const nlohmann::json& place : places) {
      const std::string path = place.get<std::string>();
      if (fs::is_directory(path)) {
        tree->add_folder(module, path);
      } else {
        tree->add_file(path);
      }
    }
    if (places.empty() && !distributions.empty())
      tree->skip(module, "belongs to the distribution, but is not found");
  }
  tree->finish();
  if (tree->entries().empty()) {
    return fail(printable(spec) + ": '" + printable(name) + "' is not installed for Python " +
                (*answer)["version"].get<std::string>() + " at " +
                printable((*answer)["executable"].get<std::string>()));
  }
  return tree;
}

}  // namespace assay
