// Columns that line up, for output on a terminal.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace assay {

class TextTable {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void right_align(size_t column) { right_.insert(column); }
  bool empty() const { return rows_.empty(); }
  // A line per row, each behind `indent`, two spaces between columns, none at the end of a line.
  std::string text(const std::string& indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::set<size_t> right_;
};

}  // namespace assay
