// not-packaged: data files that the code reads beside itself and that setup.py's globs leave out of the distribution.
#include <algorithm>
#include <map>
#include <set>

#include "rules/rules.h"

namespace assay {
namespace {

struct Glob {
  std::string package;  // as setup.py names it; "": every package
  std::string pattern;
  uint32_t line = 0, column = 0;
};

bool starts_with(std::string_view s, std::string_view prefix) { return s.substr(0, prefix.size()) == prefix; }

// setuptools' globs: `*` and `?` stay within a folder, `**` does not.
bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (starts_with(pattern, "**/") && matches(pattern.substr(3), path)) return true;
  if (starts_with(pattern, "**")) {
    for (size_t i = 0; i <= path.size(); ++i) {
      if (matches(pattern.substr(2), path.substr(i))) return true;
    }
    return false;
  }
  if (pattern[0] == '*') {
    for (size_t i = 0;; ++i) {
      if (matches(pattern.substr(1), path.substr(i))) return true;
      if (i == path.size() || path[i] == '/') return false;
    }
  }
  if (path.empty() || (pattern[0] != '?' && pattern[0] != path[0])) return false;
  return matches(pattern.substr(1), path.substr(1));
}

// The dictionary that is passed as package_data, or assigned to a variable of that name.
Node package_data(const SyntaxTree& tree) {
  for (Node n : tree.root().descendants()) {
    if (n.is(Kind::k_keyword_argument) && n.child(Field::k_name).text() == "package_data" && n.child(Field::k_value).is(Kind::k_dictionary))
      return n.child(Field::k_value);
    if (n.is(Kind::k_assignment) && n.child(Field::k_left).text() == "package_data" && n.child(Field::k_right).is(Kind::k_dictionary))
      return n.child(Field::k_right);
  }
  return {};
}

// False where a part of the table can't be read: then nothing is certain.
bool read_globs(const SyntaxTree& tree, std::vector<Glob>& out) {
  Node table = package_data(tree);
  if (!table) return false;
  for (Node pair : table.children()) {
    std::string package, pattern;
    if (!pair.is(Kind::k_pair) || !string_value(pair.child(Field::k_key), package)) return false;
    Node list = pair.child(Field::k_value);
    if (!list.is_any(Kind::k_list, Kind::k_tuple)) return false;
    for (Node item : list.children()) {
      if (!string_value(item, pattern)) return false;
      out.push_back({package == "*" ? "" : package, pattern, item.line(), tree.column_of(item.start())});
    }
  }
  // Filled later by code: `package_data["x"].append(…)`.
  std::string_view source = tree.source();
  return source.find("package_data[") == std::string_view::npos && source.find("package_data.") == std::string_view::npos;
}

// `dirname(__file__)` or `Path(__file__).parent`, joined with literal folder names: the folder that is meant, relative to
// the module's; empty where it isn't of that form.
std::string folder_beside(Node n) {
  auto beside = [](std::string_view text) {
    size_t file = text.find("__file__");
    if (file == std::string_view::npos) return false;
    size_t ups = 0;
    for (std::string_view up : {"dirname", ".parent"}) {
      for (size_t at = text.find(up); at != std::string_view::npos; at = text.find(up, at + 1)) ++ups;
    }
    return ups == 1;
  };
  std::string out, part;
  if (n.is(Kind::k_call)) {
    std::string callee = dotted_text(n.child(Field::k_function));
    if (callee != "os.path.join" && callee != "path.join" && callee != "join") return {};
    Node arguments = n.child(Field::k_arguments);
    if (!beside(arguments.child_at(0).text())) return {};
    for (uint32_t i = 1; i < arguments.child_count() && string_value(arguments.child_at(i), part); ++i) out += (out.empty() ? "" : "/") + part;
    return out;
  }
  if (!n.is(Kind::k_binary_operator) || n.child(Field::k_operator).text() != "/") return {};
  if (!string_value(n.child(Field::k_right), part) || !beside(n.child(Field::k_left).text()) || n.child(Field::k_left).is(Kind::k_binary_operator)) return {};
  return part;
}

std::string folder_of(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

struct Reader {
  const Module* module;
  Node node;
};

// Folders of the plugin that its code reads files from.
std::map<std::string, Reader> folders_read(RuleContext& ctx) {
  std::map<std::string, Reader> out;
  for (const Module* m : *ctx.facts.modules) {
    if (m->kind != ModuleKind::kSource || !ctx.reach.reached(*m)) continue;
    const Module& module = ctx.project().load(*m);
    if (module.syntax().source().find("__file__") == std::string_view::npos) continue;
    for (Node n : module.root().descendants()) {
      std::string folder = folder_beside(n);
      if (folder.empty() || folder.find("..") != std::string::npos) continue;
      std::string base = folder_of(module.file());
      out.try_emplace(base.empty() ? folder : base + "/" + folder, Reader{&module, n});
    }
  }
  return out;
}

std::string folder_of_package(std::string package) {
  std::replace(package.begin(), package.end(), '.', '/');
  return package;
}

// `.json` of `configs/*.json`: a README beside the data is no data.
std::string_view extension(std::string_view path) {
  size_t dot = path.find_last_of("./");
  return dot == std::string_view::npos || path[dot] == '/' ? std::string_view() : path.substr(dot);
}

bool covered(const std::vector<Glob>& globs, std::string_view path, const Glob** by) {
  for (const Glob& g : globs) {
    std::string root = folder_of_package(g.package);
    std::string whole = root.empty() ? "**/" + g.pattern : root + "/" + g.pattern;
    if (!matches(whole, path)) continue;
    *by = &g;
    return true;
  }
  return false;
}

void left_out(RuleContext& ctx, const std::vector<Glob>& globs, const SyntaxTree& setup, const std::string& folder, const Reader& reader) {
  const Glob* nearest = nullptr;
  std::vector<std::string> missing;
  size_t shipped = 0;
  for (const TreeEntry& e : ctx.plugin.tree->entries()) {
    if (!starts_with(e.path, folder + "/") || e.path.size() < 3 || e.path.substr(e.path.size() - 3) == ".py") continue;
    const Glob* by = nullptr;
    if (covered(globs, e.path, &by)) {
      nearest = by;
      ++shipped;
    } else {
      missing.push_back(e.path);
    }
  }
  // Where no glob speaks of the folder, something else may ship it.
  if (!nearest) {
    for (const Glob& g : globs) {
      if (starts_with(folder_of_package(g.package) + "/" + g.pattern, folder + "/")) nearest = &g;
    }
  }
  if (!nearest) return;
  std::erase_if(missing, [&](const std::string& path) { return extension(path) != extension(nearest->pattern) || extension(path).empty(); });
  if (missing.empty()) return;
  Finding& f = ctx.findings.emplace_back();
  f.rule = "not-packaged";
  f.level = Level::kWarning;
  f.evidence = find_rule(f.rule)->evidence;
  f.symbol = (nearest->package.empty() ? "" : folder_of_package(nearest->package) + "/") + nearest->pattern;
  f.message = "package_data ships " + std::to_string(shipped) + " files of " + folder + " and leaves out " + std::to_string(missing.size()) + ", as " + missing.front();
  f.location = {ctx.plugin.role, "setup.py", nearest->line, nearest->column, 0, 0, std::string(setup.line_text(nearest->line))};
  f.expected = "globs that match every file of " + folder;
  f.observed = "no glob matches " + missing.front();
  f.limits.push_back("a build from a git checkout with setuptools-scm, or include_package_data with a manifest, ships more than the globs name");
  f.fix = "add a glob for the folders below, as '" + nearest->pattern.substr(0, nearest->pattern.rfind('/') + 1) + "**/*'";
  relate(f, *reader.module, reader.node, reader.module->name, "the folder is read here");
}

}  // namespace

void check_packaging(RuleContext& ctx) {
  if (!ctx.facts.modules) return;
  const TreeEntry* entry = ctx.plugin.tree->find("setup.py");
  if (!entry) return;
  auto blob = ctx.plugin.tree->read(*entry);
  if (!blob) return;
  // A manifest that setuptools is told to heed ships what the globs leave out.
  if (ctx.plugin.tree->find("MANIFEST.in") && blob->view().find("include_package_data=True") != std::string_view::npos) return;
  SyntaxTree setup = SyntaxTree::parse(*blob);
  std::vector<Glob> globs;
  if (!read_globs(setup, globs)) return;
  for (const auto& [folder, reader] : folders_read(ctx)) left_out(ctx, globs, setup, folder, reader);
}

}  // namespace assay
