// Where a report goes: the terminal, a pipe, or a file that is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace assay {

// Whether write_output could work, as far as that can be told before there is anything to write.
Expected<void> check_output(const std::string& path);

// To `path`, or to standard output when it is empty. A reader that has closed its end is no error.
Expected<void> write_output(const std::string& path, std::string_view text);

}  // namespace assay
