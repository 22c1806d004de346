// catalog/runtime/lookups.toml: how a started process answers what a key of the inventory gives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/report.h"
#include "runtime/startup.h"

namespace assay {

struct Lookup {
  std::string kind;
  std::vector<std::string> modules;
  std::string expression;
};

Expected<std::vector<Lookup>> read_lookups(std::string_view toml, std::string_view name);
// The built-in ones.
Expected<std::vector<Lookup>> lookups();

// A question per row that is to be there after a start: those that are dead or inactive are left out.
std::vector<LookupQuestion> lookup_questions(const std::vector<InventoryRow>& inventory, const std::vector<Lookup>& lookups);

}  // namespace assay
