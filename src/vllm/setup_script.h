// What a setup.py passes to setup(), as far as reading it tells. It is never run.
#pragma once

#include <string>
#include <vector>

#include "vllm/entry_points.h"

namespace assay {

struct SetupScript {
  std::vector<EntryPoint> entry_points;
  std::string name, version;
};

SetupScript read_setup_script(const Blob& source, const std::string& file);

// `__version__ = version = "1.2.3"` at the top level of a module; empty if there is none.
std::string version_literal(const Blob& source);

}  // namespace assay
