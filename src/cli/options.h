// Everything that a command line can say, and which command takes what.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "review/run.h"

namespace CLI {
class App;
}

namespace assay {

struct Options {
  std::string plugin = ".";
  std::string target, base, plugin_base;
  std::vector<std::string> components;  // NAME=SPEC
  std::string python, platform;
  std::vector<std::string> scope, catalogs;
  std::string reach = "entry-points";
  std::string format, output;
  std::string fail_on;
  std::string config;
  std::string cache_dir;
  bool no_cache = false, exit_zero = false, stats = false;
  unsigned jobs = 0;
  std::string rule;    // of explain
  std::string action;  // of cache
  std::vector<std::string> families;  // of validate
  std::string tier;                   // of validate
  bool self_test = false, cases = false;
  bool quick = false;  // of startup
  bool no_import = false, confirm = false, assume_confirmed = false;  // of preflight
  std::string callable;              // of identity
  std::vector<std::string> imports;  // of identity
  std::string time_limit;            // seconds, of one question to the interpreter
};

// Sets of options; a command takes several.
enum OptionSet : unsigned {
  kPluginSources = 1u << 0,    // --plugin and what surrounds it
  kTargetOption = 1u << 1,     // --target, --base
  kTargetArguments = 1u << 2,  // BASE TARGET
  kEngine = 1u << 3,           // how to look
  kReporting = 1u << 4,        // how to say it
  kFailing = 1u << 5,          // when to exit with 1
  kRuleArgument = 1u << 6,
  kListing = 1u << 7,
  kCacheArguments = 1u << 8,
  kValidation = 1u << 9,        // families of numeric cases
  kRuntime = 1u << 10,          // how to ask the interpreter
  kPreflight = 1u << 11,        // what to record, and what is confirmed
  kStartup = 1u << 12,          // how to say what a start did
  kIdentity = 1u << 13,         // CALLABLE
};

void add_options(CLI::App& app, unsigned sets, Options& options);

// The engine's share of the options; an error names the option that is wrong.
Expected<RunOptions> run_options(const Options& options);

// --time-limit; 60 s unless it is given.
Expected<std::chrono::milliseconds> time_limit(const Options& options);

// "unknown NOUN 'NAME'; did you mean …?"
tl::unexpected<Error> unknown_name(const std::string& noun, const std::string& name,
                                   const std::vector<std::string>& known);

}  // namespace assay
