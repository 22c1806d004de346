#include "cases/family.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cases/attention_families.h"
#include "cases/buffer_mutants.h"
#include "cases/other_families.h"

namespace assay::num {

Expected<std::vector<std::vector<Reference>>> Workload::references(std::size_t contracts) const {
  std::vector<std::vector<Reference>> all;
  for (std::size_t k = 0; k < contracts; ++k) {
    auto refs = reference(k);
    if (!refs) return tl::unexpected(refs.error());
    all.push_back(std::move(*refs));
  }
  return all;
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> made = attention_families();
    made.push_back(merge_family());
    made.push_back(cp_family());
    for (auto part : {indexer_families, index_families, cache_families, weight_families, scaled_families})
      for (auto more = part(); Family & f : more) made.push_back(std::move(f));
    for (auto one : {moe_family, rmsnorm_family, rotary_family, activation_family, router_family})
      made.push_back(one());
    // Not those that write in place, run once at load time, or answer from the line alone.
    for (Family& f : made)
      if (f.name != "cache.insert" && f.name != "ops.rotary" && f.name != "quant.repack" &&
          f.name != "batch.split")
        add_buffer_mutants(f);
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
  return fail(fmt::format("{}: no such family{}", printable(name),
                          near.empty() ? "" : "; did you mean " + near + "?"));
}

Expected<Case> parse_case(std::string_view line) {
  std::vector<const Schema*> schemas;
  for (const Family& f : families()) schemas.push_back(&f.schema);
  return parse_case(line, schemas);
}

}  // namespace assay::num
