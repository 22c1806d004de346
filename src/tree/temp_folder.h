// For tests: a folder that is gone when the test ends, and short words for what a Tree shows.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tree/tree.h"

namespace assay {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  // Makes the folders above it as well.
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
  }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::string> paths_of(const Tree& tree) {
  std::vector<std::string> out;
  for (const TreeEntry& entry : tree.entries()) out.push_back(entry.path);
  return out;
}

// "PATH: REASON"
inline std::vector<std::string> skips_of(const Tree& tree) {
  std::vector<std::string> out;
  for (const Skipped& skipped : tree.skipped()) out.push_back(skipped.path + ": " + skipped.reason);
  return out;
}

// The content, or the error's message.
inline std::string text_of(const Tree& tree, const std::string& path) {
  const TreeEntry* entry = tree.find(path);
  if (!entry) return path + ": not listed";
  auto blob = tree.read(*entry);
  return blob ? std::string(blob->view()) : blob.error().message;
}

}  // namespace assay
