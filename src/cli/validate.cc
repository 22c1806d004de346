// validate --self-test: the proof that the gates of the reference numerics can fail, and do not fail wrongly.
// validate --cases: the suites, one case a line.
#include <nlohmann/json.hpp>

#include "cases/self_test.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace assay {

namespace {

Expected<std::string> case_lines(const std::vector<std::string>& names, num::Tier tier, bool json) {
  std::vector<const num::Family*> chosen;
  for (const std::string& name : names) {
    auto family = num::find_family(name);
    if (!family) return tl::make_unexpected(family.error());
    chosen.push_back(*family);
  }
  if (chosen.empty())
    for (const num::Family& family : num::families()) chosen.push_back(&family);
  std::string text;
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const num::Family* family : chosen)
    for (const num::Case& c : num::suite(*family, tier)) {
      text += c.print() + "\n";
      lines.push_back({{"component", family->component}, {"family", family->name}, {"case", c.print()}});
    }
  return json ? nlohmann::ordered_json{{"schema", "assay.cases/1"}, {"cases", lines}}.dump(1) + "\n" : text;
}

}  // namespace

Expected<ExitCode> validate_command(const Options& options) {
  if (options.self_test == options.cases)
    return fail(
        ErrorKind::kUsage,
        "validate judges no installed kernels yet; --self-test proves its gates, --cases prints its suites");
  bool json = options.format == "json";
  if (!json && !options.format.empty() && options.format != "text")
    return unknown_name("format", options.format, {"text", "json"});
  if (auto output = check_output(options.output); !output) return tl::make_unexpected(output.error());
  auto tier = num::parse_tier(options.tier.empty() ? "smoke" : options.tier);
  if (!tier) return unknown_name("tier", options.tier, {"smoke", "full"});
  if (options.cases) {
    auto lines = case_lines(options.families, *tier, json);
    if (!lines) return tl::make_unexpected(lines.error());
    auto written = write_output(options.output, *lines);
    if (!written) return tl::make_unexpected(written.error());
    return kExitClean;
  }
  num::SelfTestOptions what;
  what.families = options.families;
  what.tier = *tier;
  auto result = num::self_test(what);
  if (!result) return tl::make_unexpected(result.error());
  auto written =
      write_output(options.output, json ? num::self_test_json(*result) : num::self_test_text(*result));
  if (!written) return tl::make_unexpected(written.error());
  bool sound = result->survivors.empty() && result->alarms.empty() && result->errors.empty();
  return sound ? kExitClean : kExitFindings;
}

}  // namespace assay
