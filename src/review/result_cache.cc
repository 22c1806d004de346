#include "review/result_cache.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "base/parallel.h"
#include "model/json.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 1;
constexpr int64_t kMostBytes = 256 << 20;  // of stored results; the least recently used go first
constexpr uint64_t kMostHashed = 4 << 20;  // larger files are not analysed either

bool analysed(std::string_view path) {
  static constexpr std::array<std::string_view, 14> kSuffixes = {".py",  ".pyi", ".toml", ".cfg", ".txt", ".in", ".cmake",
                                                                 ".cpp", ".cc",  ".cu",   ".h",   ".hpp", ".pth", "METADATA"};
  return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](std::string_view s) { return path.ends_with(s); }) ||
         path.ends_with("PKG-INFO") || path.ends_with("direct_url.json");
}

// Two builds of assay never share a result.
const std::string& program_hash() {
  static const std::string hash = [] {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return content_hash(bytes);
  }();
  return hash;
}

fs::path default_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/') return fs::path(xdg) / "assay";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "assay";
  return {};
}

}  // namespace

ResultKey::ResultKey() { add(program_hash()); }

void ResultKey::add(const std::string& text) {
  parts_ += std::to_string(text.size());
  parts_ += ':';
  parts_ += text;
}

void ResultKey::add(const Tree& tree, int threads) {
  const auto& entries = tree.entries();
  add(tree.identity().kind);
  // A commit or an archive is known by its own hash.
  if (!tree.identity().digest.empty() || tree.identity().kind == "revision") {
    add(tree.identity().digest);
    add(tree.identity().revision);
    return;
  }
  std::vector<std::string> hashes(entries.size());
  parallel_for(entries.size(), threads, [&](size_t i) {
    const TreeEntry& e = entries[i];
    hashes[i] = e.content_id;
    if (!hashes[i].empty() || !analysed(e.path) || e.size > kMostHashed) return;
    auto blob = tree.read(e);
    hashes[i] = blob ? content_hash(blob->view()) : "unreadable: " + blob.error().message;
  });
  for (size_t i = 0; i < entries.size(); ++i) {
    add(entries[i].path);
    add(std::to_string(entries[i].size));
    add(hashes[i]);
  }
}

std::string ResultKey::hex() const { return content_hash(parts_); }

struct ResultCache::Database {
  sqlite3* handle = nullptr;

  bool run(const char* sql) { return sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }
  int64_t number(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    int64_t out = -1;
    if (sqlite3_prepare_v2(handle, sql, -1, &statement, nullptr) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
      out = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return out;
  }
  bool open(const std::string& path) {
    if (sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK) return false;
    sqlite3_busy_timeout(handle, 2000);
    if (number("PRAGMA user_version") != kSchema && !run("DROP TABLE IF EXISTS results")) return false;
    return run("PRAGMA journal_mode=WAL") && run("PRAGMA synchronous=OFF") &&
           run("CREATE TABLE IF NOT EXISTS results(key TEXT PRIMARY KEY, report BLOB NOT NULL, hash TEXT NOT NULL, used INTEGER NOT NULL)") &&
           run(("PRAGMA user_version=" + std::to_string(kSchema)).c_str());
  }
  void close() {
    sqlite3_close(handle);
    handle = nullptr;
  }
  ~Database() { close(); }
};

ResultCache::ResultCache(const std::string& folder) {
  fs::path place = folder.empty() ? default_folder() : fs::path(folder);
  std::error_code error;
  if (place.empty() || (fs::create_directories(place, error), error)) return;
  std::string file = (place / "facts-results.sqlite").string();
  auto database = std::make_unique<Database>();
  if (!database->open(file)) {
    // Damaged: made anew, once. Unwritable: done without.
    database->close();
    fs::remove(file, error);
    if (error || !database->open(file)) return;
  }
  database_ = database.release();
}

ResultCache::~ResultCache() { delete database_; }

std::optional<Report> ResultCache::find(const std::string& key) {
  if (!database_) return {};
  sqlite3_stmt* statement = nullptr;
  std::optional<Report> out;
  if (sqlite3_prepare_v2(database_->handle, "SELECT report, hash FROM results WHERE key=?", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_text(statement, 1, key.c_str(), -1, SQLITE_TRANSIENT);
    if (sqlite3_step(statement) == SQLITE_ROW) {
      std::string_view bytes(static_cast<const char*>(sqlite3_column_blob(statement, 0)), static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
      const char* hash = reinterpret_cast<const char*>(sqlite3_column_text(statement, 1));
      if (hash && content_hash(bytes) == hash) {
        if (auto report = report_from_json(bytes, "cache")) out = std::move(*report);
      }
    }
  }
  sqlite3_finalize(statement);
  return out;
}

void ResultCache::store(const std::string& key, const Report& report) {
  if (!database_) return;
  std::string bytes = report_to_json(report);
  std::string hash = content_hash(bytes);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_->handle, "INSERT OR REPLACE INTO results VALUES(?,?,?,?)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_text(statement, 1, key.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_blob64(statement, 2, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 3, hash.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(statement, 4, static_cast<int64_t>(std::time(nullptr)));
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  while (database_->number("SELECT coalesce(sum(length(report)),0) FROM results") > kMostBytes &&
         database_->run("DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used LIMIT 8)")) {
  }
}

}  // namespace assay
