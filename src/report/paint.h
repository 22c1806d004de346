// Colours of a terminal, or none.
#pragma once

#include <string>
#include <string_view>

#include "model/finding.h"

namespace assay {

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string frame(std::string_view text) const { return wrap("1;34", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string level(Level level, std::string_view text) const {
    return wrap(level == Level::kError ? "1;31" : level == Level::kWarning ? "1;33" : "1;36", text);
  }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    if (!on_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }

  bool on_;
};

}  // namespace assay
