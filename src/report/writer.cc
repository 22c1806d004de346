#include "report/writer.h"

#include <array>

#include "model/json.h"

namespace assay {

namespace {

constexpr std::array kFormats = std::to_array<Format>({
    {"full", "annotated source of both sides", true, write_full},
    {"concise", "one line per finding", true, write_concise},
    {"json", "schema assay.report/1", false, write_json},
    {"markdown", "the body of a pull request", true, write_markdown},
});

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

std::string write_json(const Report& report, const WriteOptions&) { return report_to_json(report); }

}  // namespace assay
