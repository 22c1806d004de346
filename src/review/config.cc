#include "review/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

// "[[[" fails an assertion of toml++ 3.3 before it becomes the error that it is.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include "base/text.h"
#include "review/glob.h"
#include "rules/rule_table.h"

namespace assay {

namespace {

// Thrown inside this file only, and caught in parse_config.
struct BadConfig {
  uint32_t line = 0;
  uint32_t column = 0;
  std::string message;
};

[[noreturn]] void bad(const toml::source_region& where, std::string message) {
  throw BadConfig{where.begin.line, where.begin.column, std::move(message)};
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  std::string near = did_you_mean(name, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const RuleInfo& rule : all_rules()) names.emplace_back(rule.name);
  return names;
}

void check_keys(const toml::table& table, const std::vector<std::string>& known) {
  for (const auto& [key, node] : table)
    if (std::ranges::find(known, key.str()) == known.end())
      bad(key.source(),
          fmt::format("unknown key '{}'{}", printable(key.str()), suggestion(key.str(), known)));
}

std::string text_of(std::string_view key, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  bad(node.source(), fmt::format("'{}' takes a string", key));
}

std::vector<std::string> texts_of(std::string_view key, const toml::node& node) {
  if (node.is_string()) return {text_of(key, node)};
  const toml::array* array = node.as_array();
  if (array == nullptr) bad(node.source(), fmt::format("'{}' takes a string or an array of strings", key));
  std::vector<std::string> out;
  for (const toml::node& element : *array) out.push_back(text_of(key, element));
  return out;
}

const toml::table& table_of(std::string_view key, const toml::node& node) {
  if (const toml::table* table = node.as_table()) return *table;
  bad(node.source(), fmt::format("'{}' takes a table", key));
}

Level level_of(std::string_view key, const toml::node& node) {
  std::string text = text_of(key, node);
  std::optional<Level> level = parse_level(text);
  if (!level)
    bad(node.source(), fmt::format("'{}' takes error, warning or note, not '{}'", key, printable(text)));
  return *level;
}

LevelMap levels_of(const toml::node& node) {
  LevelMap levels;
  for (const auto& [key, value] : table_of("levels", node)) {
    std::string rule(key.str());
    if (find_rule(rule) == nullptr)
      bad(key.source(), fmt::format("unknown rule '{}'{}", printable(rule), suggestion(rule, rule_names())));
    std::string text = text_of(rule, value);
    std::optional<Level> level = parse_level(text);
    if (!level && text != "off")
      bad(value.source(),
          fmt::format("'{}' takes error, warning, note or off, not '{}'", rule, printable(text)));
    levels[rule] = level;
  }
  return levels;
}

PathLevels path_of(const toml::node& node) {
  const toml::table& table = table_of("path", node);
  check_keys(table, {"glob", "levels"});
  PathLevels out;
  if (const toml::node* glob = table.get("glob")) out.globs = texts_of("glob", *glob);
  if (out.globs.empty()) bad(table.source(), "a [[path]] needs a 'glob'");
  if (const toml::node* levels = table.get("levels")) out.levels = levels_of(*levels);
  return out;
}

Config config_of(const toml::table& table) {
  check_keys(table, {"levels", "path", "platform", "fail-on", "exclude"});
  Config config;
  if (const toml::node* node = table.get("levels")) config.levels = levels_of(*node);
  if (const toml::node* node = table.get("platform")) config.platform = text_of("platform", *node);
  if (const toml::node* node = table.get("fail-on")) config.fail_on = level_of("fail-on", *node);
  if (const toml::node* node = table.get("exclude")) config.exclude = texts_of("exclude", *node);
  const toml::node* paths = table.get("path");
  if (paths == nullptr) return config;
  if (!paths->is_array_of_tables()) bad(paths->source(), "'path' is written as [[path]]");
  for (const toml::node& path : *paths->as_array()) config.paths.push_back(path_of(path));
  return config;
}

// The level that the configuration gives, if it says anything: outer nothing. Inner nothing: off.
std::optional<std::optional<Level>> configured(const Config& config, const Finding& finding) {
  std::optional<std::optional<Level>> out;
  auto look = [&](const LevelMap& levels) {
    auto found = levels.find(finding.rule);
    if (found != levels.end()) out = found->second;
  };
  look(config.levels);
  for (const PathLevels& path : config.paths) {
    auto matches = [&](const std::string& glob) { return glob_match(glob, finding.location.file); };
    if (std::ranges::any_of(path.globs, matches)) look(path.levels);
  }
  return out;
}

void tell_what_is_off(Report& report, const Config& config) {
  auto tell = [&](const LevelMap& levels, const std::string& where) {
    for (const auto& [rule, level] : levels)
      if (!level) report.unknown.push_back({rule + where, "rule turned off in " + config.name, {}});
  };
  tell(config.levels, "");
  for (const PathLevels& path : config.paths)
    tell(path.levels, fmt::format(" in {}", fmt::join(path.globs, ", ")));
}

constexpr size_t kMostBytes = 1 << 20;

Expected<std::string> read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  bool opened = in.is_open();
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!opened || in.bad()) return fail(ErrorKind::kUsage, fmt::format("cannot read the configuration {}", path));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMostBytes)
    return fail(ErrorKind::kUsage, fmt::format("{} is larger than 1 MB: no configuration", path));
  return text;
}

}  // namespace

Expected<Config> parse_config(std::string_view text, const std::string& name) {
  try {
    Config config = config_of(toml::parse(text));
    config.name = name;
    return config;
  } catch (const BadConfig& error) {
    return fail(ErrorKind::kUsage,
                fmt::format("{}:{}:{}: {}", name, error.line, error.column, error.message));
  } catch (const toml::parse_error& error) {
    auto [line, column] = error.source().begin;
    return fail(ErrorKind::kUsage, fmt::format("{}:{}:{}: {}", name, line, column, error.description()));
  }
}

Expected<Config> load_config(const std::string& path, const std::string& plugin) {
  namespace fs = std::filesystem;
  std::string file = path;
  std::error_code ignored;
  if (file.empty()) {
    fs::path beside = fs::path(plugin) / "assay.toml";
    if (!fs::is_directory(plugin, ignored) || !fs::exists(beside, ignored)) return Config{};
    file = beside.lexically_normal().string();
  }
  if (fs::is_directory(file, ignored))
    return fail(ErrorKind::kUsage, fmt::format("the configuration {} is a directory", file));
  auto text = read_text(file);
  if (!text) return tl::make_unexpected(text.error());
  return parse_config(*text, file);
}

void apply_levels(Report& report, const Config& config) {
  std::erase_if(report.findings, [&](Finding& finding) {
    auto level = configured(config, finding);
    if (!level) return false;
    if (!*level) return true;
    const RuleInfo* rule = find_rule(finding.rule);
    bool lowered = rule != nullptr && finding.level < rule->level;
    finding.level = lowered ? std::min(finding.level, **level) : **level;
    return false;
  });
  tell_what_is_off(report, config);
}

bool has_failures(const Report& report, Level fail_level) {
  auto counts = [&](const Finding& finding) {
    bool closed = finding.state == FindingState::kFixed || finding.state == FindingState::kSuppressed;
    // `check` fails for everything that is wrong; the others only for what the target brings.
    bool known = report.command != "check" && finding.state == FindingState::kUnchanged;
    return finding.level >= fail_level && !closed && !known;
  };
  return std::ranges::any_of(report.findings, counts);
}

}  // namespace assay
