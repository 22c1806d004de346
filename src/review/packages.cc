#include "review/packages.h"

#include <algorithm>
#include <set>

namespace assay {
namespace {

bool starts_with(std::string_view s, std::string_view prefix) { return s.substr(0, prefix.size()) == prefix; }

// Top-level packages that projects keep beside the one they ship.
bool ships_beside(std::string_view package) {
  static const std::set<std::string_view> kBeside = {"tests", "test", "testing", "examples", "example", "benchmarks", "benchmark",
                                                     "docs", "doc", "tools", "scripts", "csrc", "docker"};
  return kBeside.count(package) > 0;
}

}  // namespace

std::string_view top_of(std::string_view dotted) { return dotted.substr(0, dotted.find_first_of(".:")); }

std::vector<std::string> packages_of(const Tree& tree, const std::vector<EntryPoint>& entries) {
  std::set<std::string> all;
  for (const TreeEntry& e : tree.entries()) {
    std::string_view path = e.path;
    for (std::string_view root : {"src/", "python/"}) {
      if (starts_with(path, root)) path.remove_prefix(root.size());
    }
    size_t slash = path.find('/');
    if (slash != std::string_view::npos && path.substr(slash) == "/__init__.py") all.insert(std::string(path.substr(0, slash)));
  }
  std::set<std::string> named;
  for (const EntryPoint& e : entries) {
    std::string top(top_of(e.value));
    if (all.count(top)) named.insert(top);
  }
  if (!named.empty()) return {named.begin(), named.end()};
  std::vector<std::string> out;
  for (const std::string& p : all) {
    if (!ships_beside(p)) out.push_back(p);
  }
  return out;
}

std::string importable_path(std::string_view path, const std::vector<std::string>& packages) {
  for (std::string_view root : {"", "src/", "python/"}) {
    if (!starts_with(path, root)) continue;
    const std::string_view rest = path.substr(root.size());
    for (const std::string& package : packages) {
      if (rest.size() > package.size() && starts_with(rest, package) && rest[package.size()] == '/') return std::string(rest);
    }
  }
  return "";
}

std::string dotted_of_file(std::string path) {
  if (path.ends_with(".py")) path.erase(path.size() - 3);
  if (path.ends_with("/__init__")) path.erase(path.size() - 9);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

}  // namespace assay
