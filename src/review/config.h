// assay.toml (docs/configuration.md): levels per rule and path, and defaults of the command line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/report.h"

namespace assay {

// Level per rule; nothing: the rule is off.
using LevelMap = std::map<std::string, std::optional<Level>, std::less<>>;

struct PathLevels {
  std::vector<std::string> globs;
  LevelMap levels;
};

struct Config {
  std::string name;  // the file it came from; empty: there is none
  LevelMap levels;
  std::vector<PathLevels> paths;  // a later one wins over an earlier one, and all over `levels`
  std::string platform;
  std::optional<Level> fail_on;
  std::vector<std::string> exclude;
};

// `name` is what errors call the text; each names its line, and a misspelt key what was probably meant.
Expected<Config> parse_config(std::string_view text, const std::string& name);

// The file that --config names; else assay.toml at the root of the plugin, where that is a folder; else
// nothing.
Expected<Config> load_config(const std::string& path, const std::string& plugin);

// Sets levels and drops what is off. A finding that stands below its rule's level, a fault that nothing
// reaches for instance, is never raised by this. What is off for the whole run becomes a line of what was not
// analysed.
void apply_levels(Report& report, const Config& config);

// Whether a finding stands at this level or above: any that is open, and of a comparison any that is new.
bool has_failures(const Report& report, Level fail_level);

}  // namespace assay
