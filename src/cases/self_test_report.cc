#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cases/self_test.h"

namespace assay::num {
namespace {

std::string list(const std::vector<std::string>& names) {
  return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string self_test_text(const SelfTestResult& r) {
  std::string text =
      fmt::format("{:<16} {:<22} {:<16} {:>6} {:>6} {:>6} {:>6}  {}\n", "family", "mutant", "contract",
                  "exact", "budget", "stat", "struct", "plain input that hides it");
  for (const MutantRow& row : r.rows)
    text += fmt::format("{:<16} {:<22} {:<16} {:>6} {:>6} {:>6} {:>6}  {}{}\n", row.family, row.mutant,
                        row.contract, row.by[0], row.by[1], row.by[2], row.by[3],
                        row.exact_class     ? "(exact class)"
                        : row.plain.empty() ? "-"
                                            : row.plain,
                        row.killed()  ? ""
                        : row.changed ? "  SURVIVES"
                                      : "  NEVER SHOWS");
  text += "\n";
  for (int g = 0; g < kGates; ++g)
    text += fmt::format("without the {} gate: {} survive: {}\n", gate_name(static_cast<Gate>(g)),
                        r.without[g].size(), list(r.without[g]));
  text += fmt::format("\nmutants {}, killed {}, survivors: {}\n", r.mutants, r.killed, list(r.survivors));
  text += fmt::format("mutant x contract pairs {}, killed {}, survivors: {}\n", r.pairs, r.pairs_killed,
                      list(r.pair_survivors));
  text += fmt::format("no plain input hides: {}\n", list(r.easy));
  text += fmt::format("{:<16} {:>12} {:>12} {:>13} {:>22}\n", "family", "honest cases", "32 k keys",
                      "offset values", "too inaccurate to judge");
  for (const HonestCount& c : r.honest)
    text += fmt::format("{:<16} {:>12} {:>12} {:>13} {:>22}\n", c.family, c.cases, c.many_keys, c.offset,
                        c.undecided);
  text += fmt::format(
      "honest cases {} ({} with 32 k keys or more, {} with offset values), too inaccurate to judge {}, false "
      "alarms {}\n",
      r.total.cases, r.total.many_keys, r.total.offset, r.total.undecided, r.alarms.size());
  for (const FalseAlarm& a : r.alarms) text += fmt::format("  {} [{}] {}\n", a.line, a.contract, a.why);
  text +=
      fmt::format("closest honest kernel: budget {:.3f}, statistical {:.3f}\n", r.nearest[1], r.nearest[2]);
  const std::int64_t guesses = r.guesses_right + r.guesses_wrong + r.guesses_unknown;
  if (guesses > 0)
    text += fmt::format("guessed causes: {} of {} right ({:.1f} %), {} wrong ({:.1f} %), {} unknown\n",
                        r.guesses_right, guesses, 100.0 * r.guesses_right / guesses, r.guesses_wrong,
                        100.0 * r.guesses_wrong / guesses, r.guesses_unknown);
  for (const std::string& e : r.errors) text += "error: " + e + "\n";
  return text + fmt::format("{:.1f} s\n", r.seconds);
}

std::string self_test_json(const SelfTestResult& r) {
  nlohmann::ordered_json j;
  j["schema"] = "assay.selftest/1";
  j["mutants"] = r.mutants;
  j["killed"] = r.killed;
  j["survivors"] = r.survivors;
  j["honest_cases"] = r.total.cases;
  j["false_alarms"] = r.alarms.size();
  j["too_inaccurate_to_judge"] = r.total.undecided;
  j["honest"] = nlohmann::ordered_json::array();
  for (const HonestCount& c : r.honest)
    j["honest"].push_back({{"family", c.family},
                           {"cases", c.cases},
                           {"many_keys", c.many_keys},
                           {"offset", c.offset},
                           {"too_inaccurate_to_judge", c.undecided}});
  j["alarms"] = nlohmann::ordered_json::array();
  for (const FalseAlarm& a : r.alarms)
    j["alarms"].push_back({{"case", a.line}, {"contract", a.contract}, {"why", a.why}});
  j["matrix"] = nlohmann::ordered_json::array();
  for (const MutantRow& row : r.rows) {
    nlohmann::ordered_json m = {{"family", row.family},     {"mutant", row.mutant},
                                {"contract", row.contract}, {"killed_cases", row.killed_cases},
                                {"first", row.first},       {"plain", row.plain}};
    for (int g = 0; g < kGates; ++g) m[gate_name(static_cast<Gate>(g))] = row.by[g];
    j["matrix"].push_back(m);
  }
  for (int g = 0; g < kGates; ++g) j["without"][gate_name(static_cast<Gate>(g))] = r.without[g];
  j["pair_survivors"] = r.pair_survivors;
  j["no_plain_input"] = r.easy;
  j["guesses"] = {{"right", r.guesses_right}, {"wrong", r.guesses_wrong}, {"unknown", r.guesses_unknown}};
  j["errors"] = r.errors;
  return j.dump(1) + "\n";
}

}  // namespace assay::num
