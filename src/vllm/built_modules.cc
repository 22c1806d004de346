#include "vllm/built_modules.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "python/syntax.h"

namespace assay {
namespace {

using Found = std::map<std::string, std::string>;

bool ends_with(std::string_view s, std::string_view end) { return s.size() >= end.size() && s.substr(s.size() - end.size()) == end; }

bool is_module_name(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.back() == '.') return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

std::string text_of(const Tree& tree, std::string_view path) {
  const TreeEntry* entry = tree.find(path);
  if (!entry) return {};
  auto blob = tree.read(*entry);
  return blob ? std::string(blob->view()) : std::string();
}

// "demo/_version.py", where it is that of a module.
std::string module_of_path(std::string path) {
  for (std::string_view root : {"src/", "python/"}) {
    if (path.rfind(root, 0) == 0) path.erase(0, root.size());
  }
  if (!ends_with(path, ".py")) return {};
  path.resize(path.size() - 3);
  std::replace(path.begin(), path.end(), '/', '.');
  return is_module_name(path) ? path : std::string();
}

void version_file(const std::string& path, Found& out) {
  std::string name = module_of_path(path);
  if (!name.empty()) out.try_emplace(name, "made by the build (setuptools_scm)");
}

// `Extension("p._C", …)`, `CMakeExtension(name="p._C")`, `CUDAExtension(…)`: any callee whose name ends so.
void from_setup(const Tree& tree, Found& out) {
  std::string text = text_of(tree, "setup.py");
  if (text.empty()) return;
  SyntaxTree setup = SyntaxTree::parse(Blob(std::move(text)));
  for (Node n : setup.root().descendants()) {
    // use_scm_version={"write_to": "p/_version.py"}
    std::string key, path;
    if (n.is(Kind::k_pair) && string_value(n.child(Field::k_key), key) && (key == "write_to" || key == "version_file") &&
        string_value(n.child(Field::k_value), path)) {
      version_file(path, out);
    }
    if (!n.is(Kind::k_call) || !ends_with(dotted_text(n.child(Field::k_function)), "Extension")) continue;
    Node arguments = n.child(Field::k_arguments);
    Node name = arguments.child_at(0);
    for (Node a : arguments.children()) {
      if (a.is(Kind::k_keyword_argument) && a.child(Field::k_name).text() == "name") name = a.child(Field::k_value);
    }
    std::string value;
    if (string_value(name, value) && is_module_name(value)) out.try_emplace(value, "made by the build (setup.py)");
  }
}

// The quoted value of `key = "value"` in a TOML section; empty if there is none.
std::string toml_value(std::string_view text, std::string_view section, std::string_view key) {
  size_t at = text.find("[" + std::string(section) + "]");
  if (at == std::string_view::npos) return {};
  std::string_view body = text.substr(at, text.find("\n[", at) - at);
  for (size_t line = body.find('\n'); line != std::string_view::npos; line = body.find('\n', line + 1)) {
    std::string_view row = body.substr(line + 1, body.find('\n', line + 1) - line - 1);
    if (row.substr(0, key.size()) != key) continue;
    size_t open = row.find_first_of("\"'");
    size_t close = open == std::string_view::npos ? open : row.find(row[open], open + 1);
    if (close != std::string_view::npos) return std::string(row.substr(open + 1, close - open - 1));
  }
  return {};
}

void from_pyproject(const Tree& tree, Found& out) {
  std::string text = text_of(tree, "pyproject.toml");
  std::string name = toml_value(text, "tool.maturin", "module-name");
  if (is_module_name(name)) out.try_emplace(name, "made by the build (maturin)");
  for (const char* key : {"write_to", "version_file"}) version_file(toml_value(text, "tool.setuptools_scm", key), out);
}

// CMake's `something(NAME … DESTINATION package …)`: vLLM's extension targets, and install(TARGETS NAME DESTINATION …).
void from_cmake(const Tree& tree, Found& out) {
  std::string text = text_of(tree, "CMakeLists.txt");
  for (size_t at = text.find("DESTINATION"); at != std::string::npos; at = text.find("DESTINATION", at + 1)) {
    size_t open = text.rfind('(', at), closed = text.rfind(')', at);
    if (open == std::string::npos || (closed != std::string::npos && closed > open)) continue;
    auto word = [&](size_t from) {
      from = text.find_first_not_of(" \t\r\n", from);
      if (from == std::string::npos) return std::string();
      return text.substr(from, text.find_first_of(" \t\r\n)", from) - from);
    };
    std::string name = word(open + 1), folder = word(at + 11);
    if (name == "TARGETS") name = word(text.find("TARGETS", open) + 7);
    std::replace(folder.begin(), folder.end(), '/', '.');
    if (!is_module_name(folder) || !is_module_name(name)) continue;
    out.try_emplace(folder + "." + name, "made by the build (CMakeLists.txt)");
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> built_modules(const Tree& tree) {
  Found found;
  from_setup(tree, found);
  from_pyproject(tree, found);
  from_cmake(tree, found);
  return {found.begin(), found.end()};
}

}  // namespace assay
