// For tests: a git repository made by the git program in a folder that is gone when the test ends.
#pragma once

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "tree/temp_folder.h"

namespace assay {

class TempRepository : public TempFolder {
 public:
  TempRepository() { git({"init", "-q", "-b", "main", "."}); }

  // Its output without the line end. Neither the user's configuration nor the clock has a say.
  std::string git(const std::vector<std::string>& arguments, bool may_fail = false) const {
    Command command;
    command.argv = {"git", "-C", path().string()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
                           {"GIT_CONFIG_NOSYSTEM", "1"},
                           {"GIT_AUTHOR_NAME", "A"},
                           {"GIT_AUTHOR_EMAIL", "a@example.org"},
                           {"GIT_COMMITTER_NAME", "A"},
                           {"GIT_COMMITTER_EMAIL", "a@example.org"},
                           {"GIT_AUTHOR_DATE", "1700000000 +0000"},
                           {"GIT_COMMITTER_DATE", "1700000000 +0000"}};
    auto result = run_process(command);
    EXPECT_TRUE(result && (may_fail || result->exit_status == 0))
        << (result ? result->err : result.error().message);
    return result ? std::string(trim(result->out)) : "";
  }
  // All that lies in the folder is committed. The commit's id.
  std::string commit(const std::string& message) const {
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", message});
    return git({"rev-parse", "HEAD"});
  }
  // Every file with its time and content, the repository's own included.
  std::string snapshot() const {
    std::vector<std::string> lines;
    for (const auto& item : std::filesystem::recursive_directory_iterator(path())) {
      std::string line = item.path().string();
      if (item.is_regular_file() && !item.is_symlink()) {
        std::ifstream file(item.path(), std::ios::binary);
        line += ' ' + content_hash(std::string(std::istreambuf_iterator<char>(file), {}));
      }
      if (!item.is_symlink()) line += ' ' + std::to_string(item.last_write_time().time_since_epoch().count());
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    return all;
  }
};

}  // namespace assay
