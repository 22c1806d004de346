// A report as JSON, schema "assay.report/1" (docs/report-format.md), both ways. Fields are only ever added.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/report.h"

namespace assay {

inline constexpr std::string_view kReportSchema = "assay.report/1";

// Everything but the measured seconds depends on the inputs alone. Bytes that are not UTF-8 become U+FFFD.
std::string report_to_json(const Report& report);

// Unknown fields are passed over, missing ones keep their defaults. A field of the wrong type is an error
// that names it; `name` is what the error calls the text, a path for instance.
Expected<Report> report_from_json(std::string_view text, std::string_view name);

}  // namespace assay
