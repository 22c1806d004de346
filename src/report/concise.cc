#include <fmt/format.h>

#include "report/writer.h"

namespace assay {

namespace {

std::string place(const Location& location) {
  std::string out = location.file;
  if (location.line != 0) out += fmt::format(":{}", location.line);
  if (location.line != 0 && location.column != 0) out += fmt::format(":{}", location.column);
  return out;
}

}  // namespace

std::string write_concise(const Report& report, const WriteOptions&) {
  std::string out;
  for (const Finding& f : report.findings)
    out += fmt::format("{}: {}[{}] {}\n", place(f.location), to_string(f.level), f.rule, f.message);
  return out;
}

}  // namespace assay
