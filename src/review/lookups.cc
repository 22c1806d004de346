#include "review/lookups.h"

#include <fmt/format.h>

#include <algorithm>

// "[[[" fails an assertion of toml++ 3.3 before it becomes the error that it is.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include "runtime/worker_sources.h"

namespace assay {

Expected<std::vector<Lookup>> read_lookups(std::string_view text, std::string_view name) {
  std::vector<Lookup> out;
  try {
    const toml::table table = toml::parse(text);
    const toml::array* rows = table["lookup"].as_array();
    if (rows == nullptr) return fail(fmt::format("{}: has no [[lookup]]", name));
    for (const toml::node& node : *rows) {
      const toml::table* row = node.as_table();
      if (row == nullptr) return fail(fmt::format("{}: [[lookup]] holds something else than tables", name));
      Lookup lookup;
      lookup.kind = (*row)["kind"].value_or("");
      lookup.expression = (*row)["expression"].value_or("");
      if (const toml::array* modules = (*row)["module"].as_array()) {
        for (const toml::node& module : *modules) lookup.modules.push_back(module.value_or(""));
      }
      if (lookup.kind.empty() || lookup.expression.empty() || lookup.modules.empty())
        return fail(fmt::format("{}:{}: a lookup needs kind, module and expression", name, row->source().begin.line));
      out.push_back(std::move(lookup));
    }
  } catch (const toml::parse_error& error) {
    return fail(fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  return out;
}

Expected<std::vector<Lookup>> lookups() {
  for (const WorkerSource& file : runtime_catalog()) {
    if (file.name == "lookups") return read_lookups(file.text, "catalog/runtime/lookups.toml");
  }
  return fail("catalog/runtime/lookups.toml is not in this program");
}

std::vector<LookupQuestion> lookup_questions(const std::vector<InventoryRow>& inventory, const std::vector<Lookup>& lookups) {
  std::vector<LookupQuestion> out;
  for (const InventoryRow& row : inventory) {
    if (row.state == "dead" || row.state == "inactive") continue;
    // vLLM loads its own groups; a console script is nobody's at start-up.
    if (row.kind == "entry-point" && !row.key.starts_with("vllm.")) continue;
    auto seen = std::find_if(out.begin(), out.end(), [&](const LookupQuestion& q) { return q.kind == row.kind && q.key == row.key; });
    if (seen != out.end()) {
      // One key registered in several places: which of them runs last is for the process to say.
      if (std::find(seen->expected.begin(), seen->expected.end(), row.effective) == seen->expected.end()) seen->expected.push_back(row.effective);
      seen->conditional &= row.state == "conditional";
      continue;
    }
    LookupQuestion question{row.kind, row.key, {}, "", {}, row.state == "conditional"};
    if (!row.effective.empty()) question.expected.push_back(row.effective);
    auto lookup = std::find_if(lookups.begin(), lookups.end(), [&](const Lookup& l) { return l.kind == row.kind; });
    if (lookup != lookups.end()) {
      question.modules = lookup->modules;
      question.expression = lookup->expression;
    }
    out.push_back(std::move(question));
  }
  return out;
}

}  // namespace assay
