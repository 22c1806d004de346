#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/rule_pages.h"
#include "rules/rule_table.h"

namespace assay {

namespace {

std::string page_of(const RuleInfo& rule) {
  std::string head =
      fmt::format("{}: {} by default, {}\n\n", rule.name, to_string(rule.level), to_string(rule.evidence));
  auto page = std::ranges::find(rule_pages(), rule.name, &RulePage::rule);
  if (page == rule_pages().end()) return head + fmt::format("{}\n", rule.summary);
  return head + std::string(page->text);
}

}  // namespace

Expected<ExitCode> explain_command(const Options& options) {
  const RuleInfo* rule = find_rule(options.rule);
  if (rule == nullptr) {
    std::vector<std::string> known;
    for (const RuleInfo& each : all_rules()) known.emplace_back(each.name);
    return unknown_name("rule", options.rule, known);
  }
  auto written = write_output("", page_of(*rule));
  if (!written) return tl::make_unexpected(written.error());
  return kExitClean;
}

}  // namespace assay
