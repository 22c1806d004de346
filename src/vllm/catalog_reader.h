// Reads one TOML file of the catalog's shape into a Catalog.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "vllm/catalog.h"

namespace assay {

// `name` is what errors call the file.
Expected<void> read_catalog_file(std::string_view text, const std::string& name, Catalog& into);

// A file that holds one platform: [platform.NAME], or the predicates at the top.
Expected<PlatformFacts> read_platform_file(std::string_view text, const std::string& name,
                                           const Catalog& catalog);

}  // namespace assay
