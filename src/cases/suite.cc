#include "cases/suite.h"

#include <algorithm>

#include "cases/report_cases.h"

namespace assay::num {
namespace {

constexpr int kRandomCases = 60;
constexpr int kEveryLong = 8;
constexpr std::int64_t kLongest = 65536;  // keys of a long random case
constexpr std::uint64_t kSeed = 20240;

}  // namespace

std::optional<Tier> parse_tier(std::string_view name) {
  if (name == "smoke") return Tier::kSmoke;
  if (name == "full") return Tier::kFull;
  return std::nullopt;
}

std::vector<Case> suite(const Family& family, Tier tier) {
  std::vector<Case> cases;
  const auto add = [&](const Case& c) {
    if (std::find(cases.begin(), cases.end(), c) == cases.end()) cases.push_back(c);
  };
  const auto add_line = [&](const std::string& line) {
    const auto c = parse_case(line);
    ASSAY_CHECK(c.has_value(), line);
    add(*c);
  };
  for (const std::string& line : family.smoke) add_line(line);
  if (tier == Tier::kSmoke) return cases;
  for (const ReportCase& report : report_cases())
    if (report.line.starts_with(family.name + " ") || report.line == family.name) add_line(report.line);
  for (const std::string& line : family.plain) add_line(line);
  for (const std::string& line : family.longest) add_line(line);
  for (int i = 0; i < kRandomCases; ++i) {
    Draw draw(kSeed, static_cast<std::uint64_t>(i));
    add(family.random(family.schema, draw, i % kEveryLong == 0 ? kLongest : kLong));
  }
  return cases;
}

bool is_long(const Case& c) {
  constexpr std::int64_t kManyKeys = 32768;
  for (const KeySpec& key : c.schema().keys)
    if (key.name == "lens" || key.name == "k" || key.name == "hidden")
      for (std::int64_t n : c.list(key.name))
        if (n >= kManyKeys) return true;
  return false;
}

}  // namespace assay::num
