#include "rules/rule_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"

namespace assay {

namespace {

std::string concise_rules() {
  size_t width = 0;
  for (const RuleInfo& rule : all_rules()) width = std::max(width, rule.name.size());
  std::string out;
  for (const RuleInfo& rule : all_rules())
    out += fmt::format("{:<{}}  {:<7}  {}\n", rule.name, width, to_string(rule.level), rule.summary);
  return out;
}

std::string json_rules() {
  auto out = nlohmann::ordered_json::array();
  for (const RuleInfo& rule : all_rules())
    out.push_back({{"name", rule.name},
                   {"level", to_string(rule.level)},
                   {"evidence", to_string(rule.evidence)},
                   {"summary", rule.summary}});
  return out.dump(1) + "\n";
}

std::string markdown_rules() {
  std::string out = "| rule | level | what it finds |\n| --- | --- | --- |\n";
  for (const RuleInfo& rule : all_rules())
    out +=
        fmt::format("| [{0}](rules/{0}.md) | {1} | {2} |\n", rule.name, to_string(rule.level), rule.summary);
  return out;
}

struct Listing {
  std::string_view name;
  std::string (*write)();
};
constexpr std::array kListings =
    std::to_array<Listing>({{"concise", concise_rules}, {"json", json_rules}, {"markdown", markdown_rules}});

}  // namespace

Expected<ExitCode> rules_command(const Options& options) {
  std::string name = options.format.empty() ? "concise" : options.format;
  auto listing = std::ranges::find(kListings, name, &Listing::name);
  if (listing == kListings.end()) return unknown_name("format", name, {"concise", "json", "markdown"});
  auto written = write_output(options.output, listing->write());
  if (!written) return tl::make_unexpected(written.error());
  return kExitClean;
}

}  // namespace assay
