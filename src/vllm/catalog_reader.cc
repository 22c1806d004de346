#include "vllm/catalog_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

// "[[[" fails an assertion of toml++ 3.3 before it becomes the error that it is.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include "base/text.h"

namespace assay {

namespace {

// Thrown inside this file only, and caught in the two functions at its end.
struct BadCatalog {
  uint32_t line = 0;
  std::string message;
};

[[noreturn]] void bad(const toml::source_region& where, std::string message) {
  throw BadCatalog{where.begin.line, std::move(message)};
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  std::string near = did_you_mean(name, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

void check_keys(const toml::table& table, const std::vector<std::string>& known) {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    bad(key.source(), fmt::format("unknown key '{}'{}", printable(key.str()), suggestion(key.str(), known)));
  }
}

const std::string& text_of(std::string_view key, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  bad(node.source(), fmt::format("'{}' takes a string", key));
}

std::string text_in(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  return node ? text_of(key, *node) : std::string();
}

std::string required_text(const toml::table& table, std::string_view key) {
  std::string out = text_in(table, key);
  if (out.empty()) bad(table.source(), fmt::format("this row needs a '{}'", key));
  return out;
}

bool flag_in(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  if (!node) return false;
  if (const auto* flag = node->as_boolean()) return flag->get();
  bad(node->source(), fmt::format("'{}' takes true or false", key));
}

std::vector<std::string> texts_in(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  if (!node) return {};
  if (node->is_string()) return {text_of(key, *node)};
  const toml::array* array = node->as_array();
  if (!array) bad(node->source(), fmt::format("'{}' takes a string or an array of strings", key));
  std::vector<std::string> out;
  for (const toml::node& element : *array) out.push_back(text_of(key, element));
  return out;
}

const toml::table& table_of(std::string_view key, const toml::node& node) {
  if (const toml::table* table = node.as_table()) return *table;
  bad(node.source(), fmt::format("'{}' takes a table", key));
}

// Calls `row` for every [[key]] of the file.
template <class Row>
void for_each_row(const toml::table& table, std::string_view key, Row row) {
  const toml::node* node = table.get(key);
  if (!node) return;
  if (!node->is_array_of_tables()) bad(node->source(), fmt::format("'{0}' is written as [[{0}]]", key));
  for (const toml::node& element : *node->as_array()) row(*element.as_table());
}

// "a b c", split at white space; the words are views.
template <class Use>
void for_each_word(std::string_view text, Use use) {
  size_t i = 0;
  while (i < text.size()) {
    size_t end = text.find_first_of(" \t\n", i);
    if (end == std::string_view::npos) end = text.size();
    if (end > i) use(text.substr(i, end - i));
    i = end + 1;
  }
}

constexpr std::pair<std::string_view, KeyRule> kKeyRules[] = {
    {"string", KeyRule::kString},
    {"enum", KeyRule::kEnum},
    {"base-name", KeyRule::kBaseName},
    {"class", KeyRule::kClass},
    {"class-type", KeyRule::kClassType},
    {"name", KeyRule::kName},
    {"op", KeyRule::kOp},
    {"op-provider", KeyRule::kOpProvider},
};

// NAME@POSITION or NAME@POSITION=DEFAULT
ArgumentSpec argument_spec(const toml::node& node, std::string_view word) {
  ArgumentSpec out;
  size_t at = word.find('@');
  std::string_view rest = at == std::string_view::npos ? std::string_view() : word.substr(at + 1);
  if (size_t equals = rest.find('='); equals != std::string_view::npos) {
    out.fallback = rest.substr(equals + 1);
    rest = rest.substr(0, equals);
  }
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), out.position);
  if (rest.empty() || error != std::errc() || end != rest.data() + rest.size() || at == 0) {
    bad(node.source(), fmt::format("'{}' is not PARAMETER@POSITION", printable(word)));
  }
  out.name = word.substr(0, at);
  return out;
}

void read_key(const toml::node& node, ExtensionPoint& point) {
  bool first = true;
  for_each_word(text_of("key", node), [&](std::string_view word) {
    if (!first) return point.key.push_back(argument_spec(node, word));
    first = false;
    auto rule = std::ranges::find(kKeyRules, word, &std::pair<std::string_view, KeyRule>::first);
    if (rule == std::end(kKeyRules)) {
      std::vector<std::string> names;
      for (const auto& [name, value] : kKeyRules) names.emplace_back(name);
      bad(node.source(), fmt::format("unknown key rule '{}'{}", printable(word), suggestion(word, names)));
    }
    point.key_rule = rule->second;
  });
  if (first) bad(node.source(), "'key' names no rule");
}

ExtensionPoint extension_of(const toml::table& row, const std::string& file) {
  check_keys(row,
             {"kind", "call", "method", "on_result_of", "key", "value", "namespace", "upstream", "external", "idle"});
  ExtensionPoint out;
  out.file = file;
  out.line = row.source().begin.line;
  out.kind = required_text(row, "kind");
  out.calls = texts_in(row, "call");
  out.method = text_in(row, "method");
  out.on_result_of = texts_in(row, "on_result_of");
  if (out.calls.empty() && (out.method.empty() || out.on_result_of.empty())) {
    bad(row.source(), "an [[extension]] needs 'call', or 'method' with 'on_result_of'");
  }
  const toml::node* key = row.get("key");
  if (!key) bad(row.source(), "this row needs a 'key'");
  read_key(*key, out);
  if (const toml::node* value = row.get("value")) {
    for_each_word(text_of("value", *value),
                  [&](std::string_view word) { out.value.push_back(argument_spec(*value, word)); });
  }
  out.name_space = text_in(row, "namespace");
  out.upstream = text_in(row, "upstream");
  if (!out.upstream.empty() && out.upstream != "enum-value" && out.upstream != "receiver") {
    bad(row.source(),
        fmt::format("'upstream' takes enum-value or receiver, not '{}'", printable(out.upstream)));
  }
  out.external = flag_in(row, "external");
  out.idle = flag_in(row, "idle");
  return out;
}

// Bases before the bar, own members behind it.
void read_class(std::string_view name, std::string_view text, const toml::node& node, Externals& out) {
  size_t bar = text.find('|');
  if (bar == std::string_view::npos) bad(node.source(), "a class is written as \"BASES|MEMBERS\"");
  auto& members = out.class_members[std::string(name)];
  for_each_word(text.substr(bar + 1), [&](std::string_view m) { members.emplace(m); });
  std::vector<std::string> bases;
  for_each_word(text.substr(0, bar), [&](std::string_view b) { bases.emplace_back(b); });
  if (!bases.empty()) out.class_bases[std::string(name)] = std::move(bases);
}

void read_externals(const toml::table& table, Catalog& catalog) {
  check_keys(table, {"builtins", "transparent_decorators", "standard_library", "classes", "aliases"});
  Externals& out = catalog.externals;
  for_each_word(text_in(table, "standard_library"),
                [&](std::string_view w) { catalog.standard_library.emplace(w); });
  for_each_word(text_in(table, "builtins"), [&](std::string_view w) { out.builtins.emplace(w); });
  for_each_word(text_in(table, "transparent_decorators"),
                [&](std::string_view w) { out.transparent_decorators.emplace(w); });
  if (const toml::node* classes = table.get("classes")) {
    for (const auto& [name, node] : table_of("classes", *classes))
      read_class(name.str(), text_of(name.str(), node), node, out);
  }
  if (const toml::node* aliases = table.get("aliases")) {
    // Another name of a class is a class without members of its own above it.
    for (const auto& [name, node] : table_of("aliases", *aliases)) {
      out.class_members.try_emplace(std::string(name.str()));
      out.class_bases[std::string(name.str())] = {text_of(name.str(), node)};
    }
  }
}

PlatformFacts platform_of(std::string_view name, const toml::table& table, const Catalog& catalog) {
  PlatformFacts out;
  if (const toml::node* base = table.get("base")) {
    const PlatformFacts* other = catalog.platform(text_of("base", *base));
    if (!other) {
      bad(base->source(), fmt::format("unknown platform '{}'{}", printable(text_of("base", *base)),
                                      suggestion(text_of("base", *base), catalog.platform_names())));
    }
    out = *other;
  }
  out.name = name;
  out.about = text_in(table, "about");
  for (const auto& [key, node] : table) {
    if (key.str() == "about" || key.str() == "base") continue;
    if (key.str() == "device_capability") {
      const auto* number = node.as_integer();
      if (!number || number->get() < 0 || number->get() > 9999) bad(key.source(), "'device_capability' takes ten times the major number, plus the minor one");
      out.device_capability = static_cast<int>(number->get());
      continue;
    }
    const auto* flag = node.as_boolean();
    if (!flag) bad(key.source(), fmt::format("'{}' takes true or false", printable(key.str())));
    out.truth[std::string(key.str())] = flag->get();
  }
  return out;
}

void add_platform(PlatformFacts facts, Catalog& into) {
  for (PlatformFacts& known : into.platforms) {
    if (known.name == facts.name) {
      known = std::move(facts);
      return;
    }
  }
  into.platforms.push_back(std::move(facts));
}

// In the order of the file, since one may build on another.
void read_platforms(const toml::table& table, Catalog& into) {
  std::vector<std::pair<uint32_t, std::string>> order;
  for (const auto& [name, node] : table) order.emplace_back(name.source().begin.line, name.str());
  std::ranges::sort(order);
  for (const auto& [line, name] : order) {
    add_platform(platform_of(name, table_of(name, *table.get(name)), into), into);
  }
}

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  for (std::string& m : more) {
    if (std::ranges::find(to, m) == to.end()) to.push_back(std::move(m));
  }
}

void read_rows(const toml::table& table, const std::string& file, Catalog& into) {
  for_each_row(table, "extension",
               [&](const toml::table& row) { into.extension_points.push_back(extension_of(row, file)); });
  for_each_row(table, "entry_point_group", [&](const toml::table& row) {
    check_keys(row, {"name", "when", "returns"});
    EntryPointGroup group;
    group.name = required_text(row, "name");
    group.when = required_text(row, "when");
    if (group.when != "startup" && group.when != "lazy") bad(row.source(), "'when' takes startup or lazy");
    group.class_path = text_in(row, "returns") == "class-path";
    into.entry_point_groups.push_back(std::move(group));
  });
  for_each_row(table, "base", [&](const toml::table& row) {
    check_keys(row, {"role", "classes"});
    into.base_classes.push_back({required_text(row, "role"), texts_in(row, "classes")});
  });
  for_each_row(table, "settled", [&](const toml::table& row) {
    check_keys(row, {"argument", "value", "without"});
    into.settled_arguments.push_back({required_text(row, "argument"), flag_in(row, "value"), required_text(row, "without")});
  });
  for_each_row(table, "component", [&](const toml::table& row) {
    check_keys(row, {"name", "about", "imports"});
    Component component{required_text(row, "name"), text_in(row, "about"), texts_in(row, "imports")};
    std::erase_if(into.components, [&](const Component& c) { return c.name == component.name; });
    into.components.push_back(std::move(component));
  });
  for_each_row(table, "generated", [&](const toml::table& row) {
    check_keys(row, {"reason", "modules"});
    std::string reason = required_text(row, "reason");
    for (std::string& m : texts_in(row, "modules")) into.generated_modules.emplace_back(std::move(m), reason);
  });
}

void read_all(const toml::table& table, const std::string& file, Catalog& into) {
  check_keys(table, {"externals", "current_platform", "settings", "platform", "extension",
                     "entry_point_group", "base", "component", "generated", "settled"});
  if (const toml::node* node = table.get("externals")) read_externals(table_of("externals", *node), into);
  if (const toml::node* node = table.get("current_platform")) {
    const toml::table& current = table_of("current_platform", *node);
    check_keys(current, {"variables", "interface"});
    append(into.platform_variables, texts_in(current, "variables"));
    append(into.platform_interfaces, texts_in(current, "interface"));
  }
  if (const toml::node* node = table.get("settings")) {
    check_keys(table_of("settings", *node), {"modules"});
    append(into.settings_modules, texts_in(table_of("settings", *node), "modules"));
  }
  if (const toml::node* node = table.get("platform")) read_platforms(table_of("platform", *node), into);
  read_rows(table, file, into);
}

// Runs `read` and turns what toml++ and it throw into an error that names file and line.
template <class Read>
Expected<void> guarded(const std::string& name, Read read) {
  try {
    read();
    return {};
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::kUsage,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  } catch (const BadCatalog& error) {
    return fail(ErrorKind::kUsage, fmt::format("{}:{}: {}", name, error.line, error.message));
  }
}

}  // namespace

Expected<void> read_catalog_file(std::string_view text, const std::string& name, Catalog& into) {
  return guarded(name, [&] { read_all(toml::parse(text), name, into); });
}

Expected<PlatformFacts> read_platform_file(std::string_view text, const std::string& name,
                                           const Catalog& catalog) {
  PlatformFacts out;
  auto read = guarded(name, [&] {
    toml::table table = toml::parse(text);
    const toml::node* platforms = table.get("platform");
    if (!platforms) {
      out = platform_of(name, table, catalog);
      return;
    }
    check_keys(table, {"platform"});
    const toml::table& rows = table_of("platform", *platforms);
    if (rows.size() != 1) bad(platforms->source(), "a platform file holds one platform");
    for (const auto& [key, node] : rows) out = platform_of(key.str(), table_of(key.str(), node), catalog);
  });
  if (!read) return tl::unexpected<Error>(read.error());
  return out;
}

}  // namespace assay
