#include "cases/family.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cases/attention_families.h"
#include "cases/other_families.h"

namespace assay::num {

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> made;
    for (auto part : {attention_families, indexer_families, parallel_families, cache_families, weight_families, scaled_families, moe_families, op_families}) {
      auto more = part();
      for (Family& f : more) made.push_back(std::move(f));
    }
    made.push_back(merge_family());
    return made;
  }();
  return all;
}

Expected<const Family*> find_family(std::string_view name) {
  std::vector<std::string> names;
  for (const Family& f : families()) {
    if (f.name == name) return &f;
    names.push_back(f.name);
  }
  const std::string near = did_you_mean(name, names);
  return fail(fmt::format("{}: no such family{}", printable(name), near.empty() ? "" : "; did you mean " + near + "?"));
}

Expected<Case> parse_case(std::string_view line) {
  std::vector<const Schema*> schemas;
  for (const Family& f : families()) schemas.push_back(&f.schema);
  return parse_case(line, schemas);
}

}  // namespace assay::num
