#include "vllm/entry_points.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <tuple>

// "[[[" fails an assertion of toml++ 3.3 before it becomes the error that it is.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include "base/text.h"
#include "vllm/ini_text.h"
#include "vllm/setup_script.h"

namespace assay {

namespace {

std::optional<Blob> read(const Tree& tree, std::string_view path) {
  const TreeEntry* entry = tree.find(path);
  if (!entry) return {};
  auto blob = tree.read(*entry);
  return blob ? std::optional<Blob>(*blob) : std::nullopt;
}

constexpr size_t kMostProjectBytes = 1 << 20;  // more was not written by a person, and takes long to parse

// A file that isn't TOML declares nothing; who reviews packaging says so elsewhere.
toml::table pyproject_of(const Tree& tree) {
  auto blob = read(tree, "pyproject.toml");
  if (!blob || blob->view().size() > kMostProjectBytes) return {};
  try {
    return toml::parse(blob->view());
  } catch (const toml::parse_error&) {
    return {};
  }
}

// "pkg.mod:obj [extra]" → "pkg.mod:obj"
std::string plain_value(std::string_view value) {
  std::string out;
  for (char c : value.substr(0, value.find('['))) {
    if (c != ' ' && c != '\t') out += c;
  }
  return out;
}

void add_group(std::string_view group, const toml::table& table, std::vector<EntryPoint>& out) {
  for (const auto& [name, node] : table) {
    std::string value;
    if (const auto* text = node.as_string()) value = text->get();
    // poetry also writes { reference = "m:f", type = "console" }
    if (const toml::table* row = node.as_table()) value = (*row)["reference"].value_or(std::string());
    if (!value.empty()) {
      out.push_back(
          {std::string(group), std::string(name.str()), value, "pyproject.toml", name.source().begin.line});
    }
  }
}

void add_groups(const toml::node_view<const toml::node>& groups, std::vector<EntryPoint>& out) {
  const toml::table* table = groups.as_table();
  if (!table) return;
  for (const auto& [group, node] : *table) {
    if (const toml::table* rows = node.as_table()) add_group(group.str(), *rows, out);
  }
}

void from_pyproject(const Tree& tree, std::vector<EntryPoint>& out) {
  const toml::table table = pyproject_of(tree);
  add_groups(table["project"]["entry-points"], out);
  add_groups(table["tool"]["poetry"]["plugins"], out);
  add_groups(table["tool"]["flit"]["entrypoints"], out);
  add_groups(table["tool"]["pdm"]["entry-points"], out);
  struct Scripts {
    toml::node_view<const toml::node> node;
    std::string_view group;
  };
  for (const Scripts& s : {Scripts{table["project"]["scripts"], "console_scripts"},
                           Scripts{table["project"]["gui-scripts"], "gui_scripts"},
                           Scripts{table["tool"]["poetry"]["scripts"], "console_scripts"}}) {
    if (const toml::table* rows = s.node.as_table()) add_group(s.group, *rows, out);
  }
  std::ranges::stable_sort(out, {}, &EntryPoint::line);
}

void from_setup_cfg(const Tree& tree, std::vector<EntryPoint>& out) {
  auto blob = read(tree, "setup.cfg");
  if (!blob) return;
  for (const IniLine& l : parse_ini(blob->view())) {
    if (l.section != "options.entry_points") continue;
    size_t equals = l.value.find('=');
    if (equals == std::string::npos) continue;
    out.push_back({l.key, std::string(trim(std::string_view(l.value).substr(0, equals))),
                   std::string(trim(std::string_view(l.value).substr(equals + 1))), "setup.cfg", l.line});
  }
}

// Folders of built metadata, by how their name ends.
std::vector<std::string> metadata_folders(const Tree& tree, std::string_view suffix) {
  std::vector<std::string> out;
  for (const TreeEntry& e : tree.entries()) {
    size_t at = e.path.find(std::string(suffix) + "/");
    if (at == std::string::npos) continue;
    std::string folder = e.path.substr(0, at + suffix.size());
    if (std::ranges::count(folder, '/') <= 1 && (out.empty() || out.back() != folder)) out.push_back(folder);
  }
  return out;
}

std::string top_package(std::string_view path) {
  for (std::string_view root : {"src/", "python/"}) {
    if (path.starts_with(root)) path.remove_prefix(root.size());
  }
  size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

// The packages that a metadata folder says it installed.
std::set<std::string> packages_named(const Tree& tree, const std::string& folder) {
  std::set<std::string> out;
  for (const char* file : {"/RECORD", "/SOURCES.txt"}) {
    auto blob = read(tree, folder + file);
    if (!blob) continue;
    for (std::string_view line : split(blob->view(), '\n')) {
      std::string_view path = line.substr(0, line.find(','));
      if (path.ends_with("/__init__.py")) out.insert(top_package(path));
    }
  }
  if (auto blob = read(tree, folder + "/top_level.txt")) {
    for (std::string_view line : split(blob->view(), '\n')) out.insert(std::string(trim(line)));
  }
  return out;
}

// The folder that describes what stands in the tree; empty if there is none.
std::string own_metadata(const Tree& tree) {
  std::vector<std::string> folders = metadata_folders(tree, ".dist-info");
  for (std::string& f : metadata_folders(tree, ".egg-info")) folders.push_back(std::move(f));
  if (folders.size() <= 1) return folders.empty() ? std::string() : folders[0];
  for (const std::string& folder : folders) {
    for (const std::string& package : packages_named(tree, folder)) {
      if (!package.empty() &&
          (tree.find(package + "/__init__.py") || tree.find("src/" + package + "/__init__.py"))) {
        return folder;
      }
    }
  }
  return folders[0];
}

void from_metadata(const Tree& tree, std::vector<EntryPoint>& out) {
  std::string folder = own_metadata(tree);
  auto blob = folder.empty() ? std::nullopt : read(tree, folder + "/entry_points.txt");
  if (!blob) return;
  for (const IniLine& l : parse_ini(blob->view())) {
    out.push_back({l.section, l.key, l.value, folder + "/entry_points.txt", l.line});
  }
}

void from_header(std::string_view text, Distribution& out) {
  for (std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) break;  // the description follows
    if (out.name.empty() && line.starts_with("Name:")) out.name = trim(line.substr(5));
    if (out.version.empty() && line.starts_with("Version:")) out.version = trim(line.substr(8));
  }
}

void from_project_files(const Tree& tree, Distribution& out) {
  auto fill = [](std::string& field, std::string value) {
    if (field.empty()) field = std::move(value);
  };
  const toml::table table = pyproject_of(tree);
  for (const auto& project : {table["project"], table["tool"]["poetry"]}) {
    fill(out.name, project["name"].value_or(std::string()));
    fill(out.version, project["version"].value_or(std::string()));
  }
  if (auto blob = read(tree, "setup.cfg")) {
    for (const IniLine& l : parse_ini(blob->view())) {
      if (l.section != "metadata") continue;
      if (l.key == "name") fill(out.name, l.value);
      bool spelled = !l.value.empty() && std::isdigit(static_cast<unsigned char>(l.value[0]));
      if (l.key == "version" && spelled) fill(out.version, l.value);
    }
  }
  if (!out.name.empty() && !out.version.empty()) return;
  if (auto blob = read(tree, "setup.py")) {
    SetupScript script = read_setup_script(*blob, "setup.py");
    fill(out.name, script.name);
    fill(out.version, script.version);
  }
}

// PKG/_version.py and the like, of a package at the top of the tree.
std::string version_of_package(const Tree& tree) {
  for (const char* name : {"_version.py", "version.py", "__about__.py", "__init__.py"}) {
    for (const TreeEntry& e : tree.entries()) {
      std::string package = top_package(e.path);
      bool direct =
          !package.empty() && (e.path == package + "/" + name || e.path == "src/" + package + "/" + name);
      if (!direct) continue;
      auto blob = tree.read(e);
      std::string version = blob ? version_literal(*blob) : std::string();
      if (!version.empty() && std::isdigit(static_cast<unsigned char>(version[0]))) return version;
    }
  }
  return {};
}

}  // namespace

std::string pyproject_fault(const Tree& tree) {
  const TreeEntry* entry = tree.find("pyproject.toml");
  if (!entry) return {};
  if (entry->size > kMostProjectBytes) return "larger than 1 MB";
  auto blob = tree.read(*entry);
  if (!blob) return blob.error().message;
  try {
    toml::table table = toml::parse(blob->view());
    return {};
  } catch (const toml::parse_error& error) {
    return "no TOML, line " + std::to_string(error.source().begin.line) + ": " + printable(error.description());
  }
}

std::vector<EntryPoint> entry_points(const Tree& tree) {
  std::vector<EntryPoint> found;
  from_pyproject(tree, found);
  from_setup_cfg(tree, found);
  if (auto blob = read(tree, "setup.py")) {
    for (EntryPoint& e : read_setup_script(*blob, "setup.py").entry_points) found.push_back(std::move(e));
  }
  if (found.empty()) from_metadata(tree, found);
  std::vector<EntryPoint> out;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (EntryPoint& e : found) {
    e.value = plain_value(e.value);
    if (!e.value.empty() && seen.insert({e.group, e.name, e.value}).second) out.push_back(std::move(e));
  }
  return out;
}

Distribution distribution_of(const Tree& tree) {
  Distribution out;
  std::string folder = own_metadata(tree);
  for (const char* file : {"/METADATA", "/PKG-INFO"}) {
    auto blob = folder.empty() ? std::nullopt : read(tree, folder + file);
    if (blob) from_header(blob->view(), out);
  }
  if (auto blob = read(tree, "PKG-INFO")) from_header(blob->view(), out);
  if (out.name.empty() || out.version.empty()) from_project_files(tree, out);
  if (out.version.empty()) out.version = version_of_package(tree);
  return out;
}

}  // namespace assay
