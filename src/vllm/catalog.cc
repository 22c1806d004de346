#include "vllm/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "vllm/catalog_reader.h"
#include "vllm/embedded_catalog.h"

namespace assay {

namespace {

template <class Rows, class Key>
auto find_row(const Rows& rows, std::string_view key, Key member) -> decltype(rows.data()) {
  for (const auto& row : rows) {
    if (row.*member == key) return &row;
  }
  return nullptr;
}

constexpr size_t kMostBytes = 1 << 20;

Expected<std::string> text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  bool opened = in.is_open();
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!opened || in.bad())  // a folder can be opened, but not read
    return fail(ErrorKind::kUsage, fmt::format("cannot read the catalog file '{}'", printable(path)));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMostBytes)
    return fail(ErrorKind::kUsage, fmt::format("'{}' is larger than 1 MB: no catalog file", printable(path)));
  return text;
}

}  // namespace

const PlatformFacts* Catalog::platform(std::string_view name) const {
  return find_row(platforms, name, &PlatformFacts::name);
}

std::vector<std::string> Catalog::platform_names() const {
  std::vector<std::string> out;
  for (const PlatformFacts& p : platforms) out.push_back(p.name);
  return out;
}

const EntryPointGroup* Catalog::entry_point_group(std::string_view name) const {
  return find_row(entry_point_groups, name, &EntryPointGroup::name);
}

const BaseClass* Catalog::base_class(std::string_view role) const {
  return find_row(base_classes, role, &BaseClass::role);
}

const Component* Catalog::component_of(std::string_view dotted) const {
  std::string_view top = dotted.substr(0, dotted.find('.'));
  for (const Component& c : components) {
    if (std::ranges::find(c.imports, top) != c.imports.end()) return &c;
  }
  return nullptr;
}

Expected<Catalog> load_catalog(const std::vector<std::string>& user_files) {
  Catalog catalog;
  for (const EmbeddedFile& file : embedded_catalog()) {
    auto read = read_catalog_file(file.text, std::string(file.name), catalog);
    ASSAY_CHECK(read.has_value(), read.error().message);
  }
  for (const std::string& path : user_files) {
    auto text = text_of_file(path);
    if (!text) return tl::unexpected<Error>(text.error());
    if (auto read = read_catalog_file(*text, path, catalog); !read)
      return tl::unexpected<Error>(read.error());
  }
  return catalog;
}

Expected<PlatformFacts> load_platform(const Catalog& catalog, const std::string& name_or_file) {
  if (const PlatformFacts* known = catalog.platform(name_or_file)) return *known;
  bool file = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".toml");
  if (file) {
    auto text = text_of_file(name_or_file);
    if (!text) return tl::unexpected<Error>(text.error());
    return read_platform_file(*text, name_or_file, catalog);
  }
  std::string near = did_you_mean(name_or_file, catalog.platform_names());
  return fail(ErrorKind::kUsage,
              near.empty()
                  ? fmt::format("unknown platform '{}' (known: {})", printable(name_or_file),
                                fmt::join(catalog.platform_names(), ", "))
                  : fmt::format("unknown platform '{}'; did you mean '{}'?", printable(name_or_file), near));
}

void apply_platform(const Catalog& catalog, const PlatformFacts& platform, Environment& environment) {
  for (const auto& [name, value] : platform.truth) environment.platform_truth[name] = value;
  environment.device_capability = platform.device_capability;
  // By the dotted name, and by the name that modules import it under.
  for (const std::string& variable : catalog.platform_variables) {
    environment.platform_variables.insert(variable);
    environment.platform_variables.insert(variable.substr(variable.rfind('.') + 1));
  }
}

void apply_settled(const Catalog& catalog, const Project& project, Environment& environment) {
  for (const SettledArgument& s : catalog.settled_arguments) {
    if (project.find(s.without)) continue;
    if (s.argument.ends_with(')')) environment.settled_arguments[s.argument] = s.value;
    else environment.instances[s.argument] = Values::of(bool_value(s.value));
  }
}

std::vector<Unknown> missing_extension_points(Semantics& semantics, const Catalog& catalog) {
  std::vector<Unknown> out;
  for (const ExtensionPoint& point : catalog.extension_points) {
    const auto& names = point.calls.empty() ? point.on_result_of : point.calls;
    bool there = point.external || std::ranges::any_of(names, [&](const std::string& name) {
                   Values values = semantics.resolve_dotted(name);
                   return !values.list.empty();
                 });
    if (there) continue;
    Unknown row;
    row.what = fmt::format("{}: {} ({}:{})", point.kind, fmt::join(names, " or "), point.file, point.line);
    row.reason = "a way to register that the catalog knows and this target lacks";
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace assay
