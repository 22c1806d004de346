// What ends every report for people: what was not analysed and why, statistics, and one line of summary.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/report.h"

namespace assay {

// One line: counts per level, files, time.
std::string summary_line(const Report& report);

// What was not analysed, by reason: the most frequent first.
struct Gap {
  std::string reason;
  size_t count = 0;
  std::vector<std::string> examples;  // the first few
};
std::vector<Gap> gaps(const Report& report);
// As a block of text that ends every report for people.
std::string gaps_text(const Report& report);

// Where the time went and what could be decided.
std::string stats_text(const Report& report);

}  // namespace assay
