// The writers: a report in, text out. They read model/ alone; nothing here opens a file or asks for the time.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/report.h"

namespace assay {

struct WriteOptions {
  bool colour = false;  // only ever set for a terminal, and not under NO_COLOR
  bool stats = false;   // append where the time went and what was decided
};

std::string write_full(const Report& report, const WriteOptions& options);
std::string write_concise(const Report& report, const WriteOptions& options);
std::string write_json(const Report& report, const WriteOptions& options);
std::string write_markdown(const Report& report, const WriteOptions& options);

struct Format {
  std::string_view name;
  std::string_view summary;
  bool for_people;  // has a summary, and statistics when asked for
  std::string (*write)(const Report&, const WriteOptions&);
};

std::span<const Format> all_formats();
const Format* find_format(std::string_view name);  // nullptr: no such format

}  // namespace assay
