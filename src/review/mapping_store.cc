#include "review/mapping_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/hash.h"
#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/') return std::string(state) + "/assay";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "/tmp") + "/.local/state/assay";
}

struct Row {
  std::string subject, mapping, how;
};

std::vector<Row> rows_of(const std::string& file) {
  std::vector<Row> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    auto cells = split(line, '\t');
    if (cells.size() == 3) out.push_back({std::string(cells[0]), std::string(cells[1]), std::string(cells[2])});
  }
  return out;
}

}  // namespace

MappingStore::MappingStore(std::string folder) : file_((folder.empty() ? state_folder() : std::move(folder)) + "/mappings.tsv") {}

std::string MappingStore::state(const std::string& subject, const std::string& mapping) const {
  const std::string key = content_hash(subject);
  for (const Row& row : rows_of(file_)) {
    if (row.subject == key) return row.mapping == mapping ? row.how : "changed since it was confirmed";
  }
  return "not confirmed";
}

Expected<void> MappingStore::confirm(const std::string& subject, const std::string& mapping, const std::string& how) {
  const std::string key = content_hash(subject);
  std::vector<Row> rows = rows_of(file_);
  std::erase_if(rows, [&](const Row& row) { return row.subject == key; });
  rows.push_back({key, mapping, how});
  std::error_code error;
  fs::create_directories(fs::path(file_).parent_path(), error);
  // Under another name first, so that a reader sees the old file or the new one.
  const std::string fresh = fmt::format("{}.{}", file_, ::getpid());
  std::ofstream out(fresh);
  for (const Row& row : rows) out << row.subject << '\t' << row.mapping << '\t' << row.how << '\n';
  out.close();
  if (out) fs::rename(fresh, file_, error);
  if (out && !error) return {};
  fs::remove(fresh, error);
  return fail(ErrorKind::kIncomplete, "cannot write " + file_);
}

}  // namespace assay
