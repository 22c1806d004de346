// A source line made fit to be shown, and where in it the marked part lies.
#pragma once

#include <cstddef>
#include <string>

#include "model/location.h"

namespace assay {

struct SourceLine {
  std::string
      text;  // tabs are four spaces, control characters are escapes, long lines are cut around the mark
  size_t start = 0;   // columns of the terminal before the marked part
  size_t length = 0;  // columns of the marked part; 0: nothing is marked
};

SourceLine source_line(const Location& location);

// "    ^^^^" for the marked part; empty where nothing is marked.
std::string underline(const SourceLine& line, char mark);

}  // namespace assay
