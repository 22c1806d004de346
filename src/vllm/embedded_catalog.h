// The files of catalog/, carried in the program.
#pragma once

#include <span>
#include <string_view>

namespace assay {

struct EmbeddedFile {
  std::string_view name;  // "catalog/NAME.toml", as error messages call it
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_catalog();  // sorted by name

}  // namespace assay
