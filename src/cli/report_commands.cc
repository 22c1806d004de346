// check, inventory, compare: run the engine, apply the configuration, write the report.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/line_printer.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"
#include "report/closing.h"
#include "report/writer.h"
#include "review/config.h"
#include "review/group.h"

namespace assay {

namespace {

using Engine = Expected<Report> (*)(const RunOptions&);

// All that can be wrong with the command line and the configuration is found before the work begins.
struct Plan {
  RunOptions run;
  Config config;
  const Format* format = nullptr;
  Level fail_level = Level::kError;
};

Expected<const Format*> chosen_format(const Options& options) {
  std::string name = options.format.empty() ? "full" : options.format;
  if (const Format* format = find_format(name)) return format;
  std::vector<std::string> known;
  for (const Format& format : all_formats()) known.emplace_back(format.name);
  return unknown_name("format", name, known);
}

Expected<Level> chosen_fail_level(const Options& options, const Config& config) {
  if (options.fail_on.empty()) return config.fail_on.value_or(Level::kError);
  if (std::optional<Level> level = parse_level(options.fail_on)) return *level;
  return fail(ErrorKind::kUsage,
              fmt::format("--fail-on takes error, warning or note, not '{}'; --exit-zero never fails",
                          options.fail_on));
}

Expected<Plan> plan_of(const Options& options) {
  Plan plan;
  auto run = run_options(options);
  if (!run) return tl::make_unexpected(run.error());
  plan.run = std::move(*run);
  auto format = chosen_format(options);
  if (!format) return tl::make_unexpected(format.error());
  plan.format = *format;
  auto config = load_config(options.config, options.plugin);
  if (!config) return tl::make_unexpected(config.error());
  plan.config = std::move(*config);
  if (plan.run.platform.empty()) plan.run.platform = plan.config.platform;
  plan.run.exclude = plan.config.exclude;
  auto level = chosen_fail_level(options, plan.config);
  if (!level) return tl::make_unexpected(level.error());
  plan.fail_level = *level;
  auto output = check_output(options.output);
  if (!output) return tl::make_unexpected(output.error());
  return plan;
}

Expected<Report> run_engine(Engine engine, RunOptions run, const char* command) {
  LinePrinter progress(STDERR_FILENO);
  run.progress = [&](std::string_view line) { progress.show(line); };
  auto start = std::chrono::steady_clock::now();
  auto report = engine(run);
  if (!report) return report;
  report->stats.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!run.python.empty() && command == std::string_view("inventory"))
    report->unknown.push_back({"--python " + run.python, "an inventory is read, not run: assay startup asks the interpreter", {}});
  report->command = command;
  report->tool_version = kVersion;
  return report;
}

bool wants_colour(const Options& options) {
  const char* no_colour = std::getenv("NO_COLOR");
  bool refused = no_colour != nullptr && *no_colour != '\0';
  return options.output.empty() && !refused && is_smart_terminal(STDOUT_FILENO);
}

Expected<void> write_report(const Report& report, const Plan& plan, const Options& options) {
  WriteOptions how{wants_colour(options), options.stats};
  auto written = write_output(options.output, plan.format->write(report, how));
  if (!written) return written;
  // What a machine reads has no place for these, and what went into a file is summed up for who waits for it; where standard
  // error takes nothing, that is no fault.
  if (options.stats && !plan.format->for_people) std::fputs(stats_text(report).c_str(), stderr);
  if (!options.output.empty()) std::fputs(fmt::format("assay: {}: {}\n", options.output, summary_line(report)).c_str(), stderr);
  return {};
}

Expected<ExitCode> report_command(Engine engine, const char* command, const Options& options) {
  auto plan = plan_of(options);
  if (!plan) return tl::make_unexpected(plan.error());
  auto report = run_engine(engine, plan->run, command);
  if (!report) return tl::make_unexpected(report.error());
  apply_levels(*report, plan->config);
  finish_report(*report);
  auto written = write_report(*report, *plan, options);
  if (!written) return tl::make_unexpected(written.error());
  if (!report->incomplete.empty()) return kExitIncomplete;
  return has_failures(*report, plan->fail_level) && !options.exit_zero ? kExitFindings : kExitClean;
}

}  // namespace

Expected<ExitCode> check_command(const Options& options) {
  if (options.target.empty())
    return fail(ErrorKind::kUsage, "no target given: name the vLLM that the plugin must fit with --target");
  return report_command(run_check, "check", options);
}

Expected<ExitCode> review_command(const Options& options) {
  if (options.target.empty())
    return fail(ErrorKind::kUsage, "no target given: name the vLLM that the plugin must fit with --target");
  return report_command(run_review, "review", options);
}

Expected<ExitCode> inventory_command(const Options& options) {
  Options never_fails = options;
  never_fails.exit_zero = true;
  return report_command(run_inventory, "inventory", never_fails);
}

Expected<ExitCode> compare_command(const Options& options) {
  return report_command(run_compare, "compare", options);
}

}  // namespace assay
