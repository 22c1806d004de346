// Results of earlier runs, by the content of everything they rest on: the same inputs give the same report at once.
// One SQLite file, safe under parallel runs, bounded; what is damaged or unwritable is done without.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/report.h"
#include "tree/tree.h"

namespace assay {

// What a result rests on, as one hash: this very program, the options that matter, the content of the trees.
class ResultKey {
 public:
  ResultKey();
  void add(const std::string& text);
  // Names, sizes and, for text that the analysis reads, contents: read on `threads` threads where the source knows no hash.
  void add(const Tree& tree, int threads);
  std::string hex() const;

 private:
  std::string parts_;
};

class ResultCache {
 public:
  // `folder` is made if need be; empty: $XDG_CACHE_HOME/assay, else ~/.cache/assay.
  explicit ResultCache(const std::string& folder);
  ~ResultCache();
  ResultCache(const ResultCache&) = delete;
  ResultCache& operator=(const ResultCache&) = delete;

  std::optional<Report> find(const std::string& key);
  void store(const std::string& key, const Report& report);

 private:
  struct Database;
  Database* database_ = nullptr;  // null: there is no usable cache
};

}  // namespace assay
