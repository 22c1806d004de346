#include "project/project.h"

#include <algorithm>
#include <set>

#include "base/parallel.h"
#include "base/text.h"

namespace assay {
namespace {

bool is_identifier(std::string_view s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  return std::all_of(s.begin(), s.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
  });
}

bool ends_with(std::string_view s, std::string_view suffix) {
  return s.size() >= suffix.size() && s.substr(s.size() - suffix.size()) == suffix;
}

// Folders that hold packages without being one: `src/pkg/…` is imported as pkg.
std::string_view source_root(const Tree& tree) {
  for (std::string_view root : {"src", "python"}) {
    if (tree.find(std::string(root) + "/__init__.py")) continue;
    for (const TreeEntry& e : tree.entries()) {
      std::string_view p = e.path;
      if (p.size() <= root.size() + 1 || p.substr(0, root.size()) != root || p[root.size()] != '/') continue;
      p.remove_prefix(root.size() + 1);
      size_t slash = p.find('/');
      if (slash != std::string_view::npos && p.substr(slash) == "/__init__.py") return root;
    }
  }
  return {};
}

// The dotted module name of a path without its suffix; empty if it cannot be imported by name.
std::string dotted_of(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    if (!is_identifier(part)) return {};
    if (!out.empty()) out += '.';
    out += part;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return out;
}

bool names_module(std::string_view pattern, std::string_view dotted) {
  if (ends_with(pattern, ".*")) pattern.remove_suffix(2);
  return dotted == pattern ||
         (dotted.size() > pattern.size() && dotted[pattern.size()] == '.' && dotted.substr(0, pattern.size()) == pattern);
}

}  // namespace

const std::string& Module::file() const {
  static const std::string none;
  return entry ? entry->path : none;
}

Node Module::identifier_at(uint32_t offset) const {
  const auto& nodes = syntax_->nodes();  // in the order of their starts
  auto it = std::lower_bound(nodes.begin(), nodes.end(), offset, [](const RawNode& n, uint32_t at) { return n.start < at; });
  for (; it != nodes.end() && it->start == offset; ++it) {
    if (it->kind == Kind::k_identifier) return at(static_cast<NodeId>(it - nodes.begin()));
  }
  return {};
}

std::string Module::package() const {
  if (is_package) return name;
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

std::string imported_module_name(const Module& importer, Node module_name) {
  if (!module_name.is(Kind::k_relative_import)) return dotted_text(module_name);
  size_t dots = 0;
  for (char c : module_name.child(Kind::k_import_prefix).text()) dots += c == '.';
  std::string base = importer.package();
  if (base.empty() && dots > 0) return {};
  for (size_t i = 1; i < dots; ++i) {
    size_t dot = base.rfind('.');
    if (dot == std::string::npos) return {};
    base.resize(dot);
  }
  if (Node rest = module_name.child(Kind::k_dotted_name)) base += "." + dotted_text(rest);
  return base;
}

Project::Project(ProjectOptions options) : options_(std::move(options)) {}

const SourceTree& Project::add_tree(SourceTree tree) {
  storage_.push_back(std::move(tree));
  const SourceTree& kept = storage_.back();
  trees_.push_back(&kept);
  index_tree(kept);
  return kept;
}

const SourceTree* Project::tree(std::string_view role) const {
  for (const SourceTree* t : trees_) {
    if (t->role == role) return t;
  }
  return nullptr;
}

void Project::index_tree(const SourceTree& tree) {
  std::string_view root = source_root(*tree.tree);
  std::set<std::string> packages;
  by_tree_[&tree];
  for (const TreeEntry& e : tree.tree->entries()) {
    std::string_view path = e.path;
    if (!root.empty() && path.size() > root.size() && path[root.size()] == '/' && path.substr(0, root.size()) == root) {
      path.remove_prefix(root.size() + 1);
    }
    bool extension = ends_with(path, ".so") || ends_with(path, ".pyd");
    if (!extension && !ends_with(path, ".py")) continue;
    size_t slash = path.rfind('/');
    std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
    std::string_view folder = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    std::string stem(file.substr(0, file.find('.')));
    bool package = file == "__init__.py";
    std::string dotted = package ? dotted_of(folder) : dotted_of(folder.empty() ? stem : std::string(folder) + "/" + stem);
    if (package && dotted.find('.') == std::string::npos) packages.insert(dotted);
    if (!extension && file.substr(stem.size()) != ".py") dotted.clear();
    add_module(tree, e, std::move(dotted), extension ? ModuleKind::kExtension : ModuleKind::kSource, package);
  }
  auto& list = const_cast<SourceTree&>(tree).packages;
  if (list.empty()) list.assign(packages.begin(), packages.end());
}

void Project::add_module(const SourceTree& tree, const TreeEntry& entry, std::string dotted, ModuleKind kind, bool package) {
  Module& module = modules_.emplace_back();
  module.name = std::move(dotted);
  module.kind = kind;
  module.is_package = package;
  module.tree = &tree;
  module.entry = &entry;
  if (kind == ModuleKind::kSource && entry.size > options_.max_file_bytes) {
    module.kind = ModuleKind::kSkipped;
    module.skip_reason = "larger than " + std::to_string(options_.max_file_bytes >> 20) + " MB";
  }
  by_file_[{&tree, entry.path}] = &module;
  by_tree_[&tree].push_back(&module);
  if (module.name.empty()) return;
  // A package wins over a module of its name, source over a compiled module, and an earlier tree over a later one.
  auto [it, fresh] = by_name_.try_emplace(module.name, &module);
  if (!fresh) {
    Module& old = *it->second;
    bool better = old.tree == &tree && ((package && !old.is_package) || (kind == ModuleKind::kSource && old.kind == ModuleKind::kExtension));
    better |= old.kind == ModuleKind::kNamespace;
    if (better) {
      it = by_name_.erase(it);
      by_name_.emplace(module.name, &module);
    }
    return;
  }
  // Parents that have no __init__.py so far are namespaces; a later __init__.py replaces them.
  std::string_view child = module.name;
  while (true) {
    size_t dot = child.rfind('.');
    if (dot == std::string_view::npos) break;
    std::string_view parent = child.substr(0, dot);
    children_[parent].push_back(child.substr(dot + 1));
    if (by_name_.count(parent)) break;
    Module& space = modules_.emplace_back();
    space.name = parent;
    space.kind = ModuleKind::kNamespace;
    space.is_package = true;
    space.tree = &tree;
    by_name_.emplace(space.name, &space);
    child = space.name;
  }
}

const Module* Project::find(std::string_view dotted) const {
  auto it = by_name_.find(dotted);
  if (it != by_name_.end()) return it->second;
  if (const Module* other = redirects_.empty() ? nullptr : redirected(dotted)) return other;
  return generated(dotted) ? made_up(dotted) : nullptr;
}

void Project::redirect(std::string_view dotted, std::string_view to) { redirects_[std::string(dotted)] = to; }

// By the longest redirected prefix: with pkg.a sent to mine, pkg.a.b is mine.b.
const Module* Project::redirected(std::string_view dotted) const {
  for (size_t end = dotted.size(); end != std::string_view::npos && end > 0; end = dotted.rfind('.', end - 1)) {
    auto it = redirects_.find(dotted.substr(0, end));
    if (it == redirects_.end()) continue;
    if (it->second.empty()) return made_up(dotted);
    auto found = by_name_.find(it->second + std::string(dotted.substr(end)));
    return found == by_name_.end() ? nullptr : found->second;
  }
  return nullptr;
}

const Module* Project::stand_in(const Module& module) const {
  if (redirects_.empty()) return nullptr;
  const Module* other = redirected(module.name);
  return other == &module ? nullptr : other;
}

bool Project::stands_in_for_another(const Module& module) const {
  for (const auto& [from, to] : redirects_) {
    if (module.name == to || (!to.empty() && module.name.starts_with(to + "."))) return true;
  }
  return false;
}

// A module that exists, and whose source is not there.
const Module* Project::made_up(std::string_view dotted) const {
  {
    std::shared_lock lock(generated_mutex_);
    auto found = generated_cache_.find(std::string(dotted));
    if (found != generated_cache_.end()) return found->second;
  }
  std::unique_lock lock(generated_mutex_);
  auto [slot, fresh] = generated_cache_.try_emplace(std::string(dotted), nullptr);
  if (fresh) {
    Module& module = modules_.emplace_back();
    module.name = dotted;
    module.kind = ModuleKind::kGenerated;
    for (const SourceTree* t : trees_) {
      if (owns(dotted) && std::find(t->packages.begin(), t->packages.end(), dotted.substr(0, dotted.find('.'))) != t->packages.end()) {
        module.tree = t;
        break;
      }
    }
    slot->second = &module;
  }
  return slot->second;
}

const std::string* Project::generated(std::string_view dotted) const {
  for (const auto& [pattern, reason] : options_.generated_modules) {
    if (!names_module(pattern, dotted)) continue;
    // Where the package that a build makes was read, so were the modules below it.
    auto made = dotted == pattern ? by_name_.end() : by_name_.find(pattern);
    if (made == by_name_.end() || made->second->kind == ModuleKind::kNamespace) return &reason;
  }
  return nullptr;
}

bool Project::owns(std::string_view dotted) const {
  std::string_view top = dotted.substr(0, dotted.find('.'));
  for (const SourceTree* t : trees_) {
    if (std::find(t->packages.begin(), t->packages.end(), top) != t->packages.end()) return true;
  }
  return false;
}

void Project::read(Module& module) const {
  if (module.kind != ModuleKind::kSource) return;
  auto skip = [&](std::string why) {
    module.skip_reason = std::move(why);
    module.kind = ModuleKind::kSkipped;
  };
  auto blob = module.tree->tree->read(*module.entry);
  if (!blob) return skip(blob.error().message);
  std::string_view text = blob->view();
  if (text.size() > options_.max_file_lines && static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) > options_.max_file_lines) {
    return skip("more than " + std::to_string(options_.max_file_lines) + " lines");
  }
  module.mentions_type_checking = find_text(text, "TYPE_CHECKING") != std::string_view::npos;
  module.text_ = std::move(*blob);
}

std::string_view Project::text(const Module& module) const {
  auto& mutable_module = const_cast<Module&>(module);
  mutable_module.read_.run([&] { read(mutable_module); });
  return module.text_.view();
}

Blob Project::bytes(const Module& module) const {
  text(module);
  if (module.kind != ModuleKind::kSkipped) return module.text_;
  return module.tree->tree->read(*module.entry).value_or(Blob());
}

void Project::parse(Module& module) const {
  std::string_view bytes = text(module);
  if (module.kind == ModuleKind::kSource) {
    ++files_parsed_;
    bytes_parsed_ += bytes.size();
  }
  module.syntax_ = std::make_unique<SyntaxTree>(SyntaxTree::parse(module.text_));
  module.scopes_ = std::make_unique<ModuleScopes>(*module.syntax_);
}

const Module& Project::load(const Module& module) const {
  auto& mutable_module = const_cast<Module&>(module);
  mutable_module.loaded_.run([&] { parse(mutable_module); });
  return module;
}

const Module* Project::find_loaded(std::string_view dotted) const {
  const Module* module = find(dotted);
  return module ? &load(*module) : nullptr;
}

const std::vector<const Module*>& Project::modules_of(const SourceTree& tree) const { return by_tree_.at(&tree); }

const Module* Project::module_of_file(const SourceTree& tree, std::string_view path) const {
  auto it = by_file_.find({&tree, path});
  return it == by_file_.end() ? nullptr : it->second;
}

std::vector<std::string_view> Project::submodules(std::string_view package) const {
  auto it = children_.find(package);
  if (it == children_.end()) return {};
  std::vector<std::string_view> out = it->second;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Project::preload(const std::vector<const Module*>& modules, int depth, int threads) const {
  std::vector<const Module*> wave = modules;
  std::set<const Module*> seen(wave.begin(), wave.end());
  for (int level = 0; !wave.empty(); ++level) {
    std::mutex mutex;
    std::set<const Module*> next;
    parallel_for(wave.size(), threads, [&](size_t i) {
      const Module& module = load(*wave[i]);
      if (level >= depth) return;
      std::vector<const Module*> imported;
      for (const RawNode& raw : module.syntax().nodes()) {
        if (raw.kind != Kind::k_import_from_statement) continue;
        NodeId id = static_cast<NodeId>(&raw - module.syntax().nodes().data());
        Node statement = module.at(id);
        std::string name = imported_module_name(module, statement.child(Field::k_module_name));
        if (const Module* m = find(name)) imported.push_back(m);
        for (Node n : statement.children()) {
          if (n.field() != Field::k_name) continue;
          Node dotted = n.is(Kind::k_aliased_import) ? n.child(Field::k_name) : n;
          if (const Module* m = find(name + "." + dotted_text(dotted))) imported.push_back(m);
        }
      }
      std::lock_guard lock(mutex);
      next.insert(imported.begin(), imported.end());
    });
    wave.clear();
    for (const Module* m : next) {
      if (seen.insert(m).second) wave.push_back(m);
    }
  }
}

std::vector<const Module*> Project::skipped() const {
  std::vector<const Module*> out;
  for (const auto& [key, module] : by_file_) {
    if (module->kind == ModuleKind::kSkipped) out.push_back(module);
  }
  return out;
}

std::string_view Project::intern(std::string_view text) const {
  std::lock_guard lock(intern_mutex_);
  auto it = intern_index_.find(text);
  if (it != intern_index_.end()) return it->second;
  interned_.emplace_back(text);
  std::string_view kept = interned_.back();
  intern_index_.emplace(kept, kept);
  return kept;
}

}  // namespace assay
