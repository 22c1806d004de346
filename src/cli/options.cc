#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <variant>

#include "base/text.h"

namespace assay {

namespace {

using Field = std::variant<std::string Options::*, std::vector<std::string> Options::*, bool Options::*,
                           unsigned Options::*>;

struct OptionRow {
  unsigned sets;
  const char* flags;
  const char* value;  // what stands for the value in the help
  Field field;
  const char* help;
};

const std::array kOptions = std::to_array<OptionRow>({
    {kTargetArguments, "base", "BASE", &Options::base, "the vLLM that the plugin was last aligned with"},
    {kTargetArguments, "target", "TARGET", &Options::target, "the vLLM that the plugin must fit"},
    {kRuleArgument, "rule", "RULE", &Options::rule, "its name, as a report shows it in brackets"},
    {kPluginSources, "--plugin", "SPEC", &Options::plugin, "the plugin (default: the current directory)"},
    {kTargetOption, "--target", "SPEC", &Options::target, "the vLLM that the plugin must fit"},
    {kTargetOption, "--base", "SPEC", &Options::base, "the vLLM that the plugin was last aligned with"},
    {kPluginSources, "--plugin-base", "SPEC", &Options::plugin_base,
     "the plugin as it was aligned with the base"},
    {kPluginSources, "--component", "NAME=SPEC", &Options::components, "a kernel package (repeatable)"},
    {kPluginSources, "--python", "EXE", &Options::python, "interpreter of the environment that it runs in"},
    {kPluginSources, "--scope", "PATH", &Options::scope, "look at this part of the plugin only (repeatable)"},
    {kEngine, "--platform", "NAME|FILE", &Options::platform, "what is true on the device that it runs on"},
    {kEngine, "--reach", "entry-points|all", &Options::reach,
     "what counts as running (default: entry-points)"},
    {kEngine, "--catalog", "FILE", &Options::catalogs, "further extension points and platforms (repeatable)"},
    {kEngine, "--config", "FILE", &Options::config,
     "configuration (default: assay.toml in the plugin's folder)"},
    {kEngine, "-j,--jobs", "N", &Options::jobs, "threads (default: one per processor)"},
    {kEngine | kCacheArguments, "--cache-dir", "DIR", &Options::cache_dir, "place of the fact cache"},
    {kEngine, "--no-cache", "", &Options::no_cache, "neither read nor write the fact cache"},
    {kReporting, "--format", "FORMAT", &Options::format, "full, concise, json or markdown (default: full)"},
    {kValidation, "--self-test", "", &Options::self_test, "prove the gates: every mutant, and honest kernels"},
    {kValidation, "--cases", "", &Options::cases, "print the case lines of the families' suites"},
    {kValidation, "--tier", "smoke|full", &Options::tier, "which suites (default: smoke)"},
    {kValidation, "--format", "FORMAT", &Options::format, "text or json (default: text)"},
    {kListing, "--format", "FORMAT", &Options::format, "concise, json or markdown (default: concise)"},
    {kPreflight, "--format", "FORMAT", &Options::format, "text or json (default: text)"},
    {kPreflight, "--target", "SPEC", &Options::target, "a local vLLM, to be compared with the installed one"},
    {kPreflight, "--cache-dir", "DIR", &Options::cache_dir, "place of the fact cache"},
    {kPreflight, "--no-import", "", &Options::no_import, "read metadata alone, import nothing"},
    {kPreflight, "--confirm", "", &Options::confirm, "confirm what corresponds to what; asked again when it changes"},
    {kPreflight, "--assume-confirmed", "", &Options::assume_confirmed, "the same where nobody can be asked, recorded as such"},
    {kIdentity, "callable", "CALLABLE", &Options::callable, "a dotted name, or an operator as NAMESPACE::NAME"},
    {kIdentity, "--import", "MODULE", &Options::imports, "import this first (repeatable)"},
    {kIdentity, "--python", "EXE", &Options::python, "interpreter that would call it"},
    {kIdentity, "--format", "FORMAT", &Options::format, "text or json (default: text)"},
    {kIdentity, "--output", "FILE", &Options::output, "write to FILE, whole or not at all"},
    {kStartup, "--target", "SPEC", &Options::target, "the vLLM that the source is read with (default: the interpreter's)"},
    {kStartup, "--quick", "", &Options::quick, "one process: nothing to compare with, no spawned child"},
    {kStartup, "--format", "FORMAT", &Options::format, "text or json (default: text)"},
    {kStartup, "--output", "FILE", &Options::output, "write to FILE, whole or not at all"},
    {kStartup, "--exit-zero", "", &Options::exit_zero, "exit with 0 where the start was not clean"},
    {kRuntime, "--time-limit", "SECONDS", &Options::time_limit, "of one import or call in the interpreter (default: 60; of a start: 300)"},
    {kReporting | kListing | kValidation | kPreflight, "--output", "FILE", &Options::output, "write to FILE, whole or not at all"},
    {kReporting, "--stats", "", &Options::stats, "say where the time went and what could be decided"},
    {kFailing, "--fail-on", "LEVEL", &Options::fail_on,
     "exit with 1 from error, warning or note on (default: error)"},
    {kFailing, "--exit-zero", "", &Options::exit_zero, "exit with 0 where findings would make it 1"},
    {kValidation, "--family", "FAMILY", &Options::families, "only these families (repeatable)"},
    {kCacheArguments, "action", "show|clear", &Options::action, "default: show"},
});

constexpr unsigned kMostJobs = 1024;

void add(CLI::App& app, const OptionRow& row, Options& options) {
  auto bind = [&](auto field) {
    using Member = std::remove_reference_t<decltype(options.*field)>;
    if constexpr (std::is_same_v<Member, bool>) {
      app.add_flag(row.flags, options.*field, row.help);
    } else {
      CLI::Option* option = app.add_option(row.flags, options.*field, row.help)->type_name(row.value);
      if (row.flags[0] != '-' && row.sets != kCacheArguments) option->required();
      if constexpr (std::is_same_v<Member, std::vector<std::string>>) option->expected(1)->take_all();
    }
  };
  std::visit(bind, row.field);
}

}  // namespace

void add_options(CLI::App& app, unsigned sets, Options& options) {
  for (const OptionRow& row : kOptions)
    if ((row.sets & sets) != 0) add(app, row, options);
}

Expected<RunOptions> run_options(const Options& options) {
  RunOptions run;
  run.plugin = options.plugin;
  run.target = options.target;
  run.base = options.base;
  run.plugin_base = options.plugin_base;
  for (const std::string& text : options.components) {
    size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      return fail(ErrorKind::kUsage, fmt::format("--component takes NAME=SPEC, not '{}'", text));
    run.components.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  if (!run.components.empty())
    return fail(ErrorKind::kUsage, "--component: components are not analysed yet; leave it out to review the plugin against vLLM alone");
  if (!options.plugin_base.empty())
    return fail(ErrorKind::kUsage, "--plugin-base: an earlier plugin is not compared with yet; leave it out");
  run.python = options.python;
  run.platform = options.platform;
  run.scope = options.scope;
  run.catalogs = options.catalogs;
  run.cache_dir = options.cache_dir;
  run.use_cache = !options.no_cache;
  run.jobs = options.jobs;
  if (options.jobs > kMostJobs)
    return fail(ErrorKind::kUsage, fmt::format("--jobs takes at most {}", kMostJobs));
  if (options.reach != "entry-points" && options.reach != "all")
    return fail(ErrorKind::kUsage, fmt::format("--reach takes entry-points or all, not '{}'", options.reach));
  run.reach = options.reach == "all" ? Reach::kAll : Reach::kEntryPoints;
  return run;
}

Expected<std::chrono::milliseconds> time_limit(const Options& options) {
  if (options.time_limit.empty()) return std::chrono::seconds(60);
  double seconds = 0;
  const char* end = options.time_limit.data() + options.time_limit.size();
  auto [stop, error] = std::from_chars(options.time_limit.data(), end, seconds);
  if (error != std::errc() || stop != end || !(seconds > 0) || seconds > 1e6)
    return fail(ErrorKind::kUsage, fmt::format("--time-limit takes seconds, not '{}'", printable(options.time_limit)));
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

tl::unexpected<Error> unknown_name(const std::string& noun, const std::string& name,
                                   const std::vector<std::string>& known) {
  std::string message = fmt::format("unknown {} '{}'", noun, printable(name));
  std::string near = did_you_mean(name, known);
  return fail(ErrorKind::kUsage,
              near.empty() ? message : fmt::format("{}; did you mean '{}'?", message, near));
}

}  // namespace assay
