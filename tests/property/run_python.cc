#include "run_python.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/process.h"

namespace assay {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::vector<std::string> run_python(const std::string& script, const std::vector<std::string>& cases) {
  std::string path = (std::filesystem::temp_directory_path() / "assay-property-XXXXXX").string();
  int fd = mkstemp(path.data());
  EXPECT_GE(fd, 0) << "no temporary file";
  if (fd < 0) return {};
  close(fd);
  {
    std::ofstream file(path, std::ios::binary);
    for (const std::string& c : cases) file << c << '\n';
  }
  Command command;
  command.argv = {"python3", "-I", "-W", "ignore", "-c", script, path};
  command.timeout = std::chrono::milliseconds(240'000);
  command.max_output = 256 << 20;
  auto result = run_process(command);
  std::filesystem::remove(path);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  if (!result) return {};
  EXPECT_EQ(result->exit_status, 0) << result->err;
  std::vector<std::string> lines = lines_of(result->out);
  EXPECT_EQ(lines.size(), cases.size()) << result->err;
  return lines.size() == cases.size() ? lines : std::vector<std::string>();
}

}  // namespace assay
