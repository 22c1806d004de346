// The files of python/assay_worker/, carried in the program.
#pragma once

#include <span>
#include <string_view>

namespace assay {

struct WorkerSource {
  std::string_view name;  // of the module, without the package
  std::string_view text;
};

std::span<const WorkerSource> worker_sources();  // sorted by name

// The files of catalog/runtime/: what a started process is asked.
std::span<const WorkerSource> runtime_catalog();

}  // namespace assay
