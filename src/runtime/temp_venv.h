// For tests: a virtual environment without pip, packages written into it, and compiled modules that misbehave.
#pragma once

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/process.h"
#include "tree/temp_folder.h"

namespace assay {

class TempVenv : public TempFolder {
 public:
  TempVenv() {
    auto made = run_process({.argv = {"python3", "-m", "venv", "--without-pip", path().string()}});
    EXPECT_TRUE(made && made->exit_status == 0) << "python3 can't make a virtual environment";
    for (const auto& item : std::filesystem::recursive_directory_iterator(path() / "lib")) {
      if (item.path().filename() == "site-packages") site_ = std::filesystem::relative(item.path(), path()).string() + '/';
    }
  }
  std::string python() const { return *this / "bin/python"; }
  std::string site(const std::string& name) const { return *this / (site_ + name); }
  void add(const std::string& name, const std::string& content) const { write(site_ + name, content); }

  void distribution(const std::string& name, const std::string& version, const std::string& record, const std::string& more = "") const {
    const std::string info = name + '-' + version + ".dist-info/";
    add(info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n" + more);
    add(info + "RECORD", record);
  }
  // Compiles `source` to the shared library site-packages/NAME.
  void library(const std::string& name, const std::string& source, std::vector<std::string> flags = {}) const {
    TempFolder build;
    build.write("x.c", source);
    std::filesystem::create_directories(std::filesystem::path(site(name)).parent_path());
    Command command{.argv = {"gcc", "-shared", "-fPIC", "-o", site(name), build / "x.c"}};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    auto built = run_process(command);
    EXPECT_TRUE(built && built->exit_status == 0) << (built ? built->err : built.error().message);
  }
  // Every file with its size, time and content.
  std::string snapshot() const { return snapshot_of(path()); }
  static std::string snapshot_of(const std::filesystem::path& folder) {
    std::vector<std::string> lines;
    for (const auto& item : std::filesystem::recursive_directory_iterator(folder)) {
      std::string line = item.path().string();
      if (item.is_regular_file() && !item.is_symlink()) {
        std::ifstream file(item.path(), std::ios::binary);
        line += ' ' + content_hash(std::string(std::istreambuf_iterator<char>(file), {}));
        line += ' ' + std::to_string(item.last_write_time().time_since_epoch().count());
      }
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    return all;
  }

 private:
  std::string site_;
};

}  // namespace assay
