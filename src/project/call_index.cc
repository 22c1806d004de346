#include "project/call_index.h"

#include <algorithm>
#include <set>

#include "base/parallel.h"
#include "base/text.h"
#include "python/skip_string.h"

namespace assay {
namespace {

bool is_dunder(std::string_view name) { return name.substr(0, 2) == "__"; }

// Methods of the classes that the module imports and derives from, whose body begins by raising NotImplementedError.
std::vector<std::string_view> hooks_of_bases(const Project& project, const Module& module) {
  std::set<std::string_view> bases;
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_class_definition)) continue;
    for (Node base : n.child(Field::k_superclasses).children()) bases.insert(base.text());
  }
  std::vector<std::string_view> out;
  for (const Binding& b : module.scopes().in_scope(kModuleScope)) {
    if (b.kind != BindingKind::kFromImport || !bases.count(b.name)) continue;
    Node clause = module.at(b.node);
    Node name = clause.is(Kind::k_aliased_import) ? clause.child(Field::k_name) : clause;
    Node source = module.at(b.statement).child(Field::k_module_name);
    const Module* from = source ? project.find(imported_module_name(module, source)) : nullptr;
    if (!from || from->kind != ModuleKind::kSource) continue;
    const Module& home = project.load(*from);
    for (const Binding& cls : home.scopes().in_scope(kModuleScope, name.text())) {
      if (cls.kind != BindingKind::kClass) continue;
      for (Node m : home.at(cls.node).child(Field::k_body).descendants()) {
        if (!m.is(Kind::k_raise_statement) || m.text().find("NotImplementedError") == std::string_view::npos) continue;
        Node function = m.parent().parent();
        if (function.is(Kind::k_function_definition)) out.push_back(function.child(Field::k_name).text());
      }
    }
  }
  return out;
}

std::string_view without_bom(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

}  // namespace

struct CallIndex::FileHits {
  std::vector<ScannedCall> calls;
  std::vector<std::pair<uint32_t, uint32_t>> definitions;  // name, offset
  Blob text;
};

std::vector<std::string> CallIndex::names_of_plugin() const {
  std::set<std::string> names;
  const SourceTree* plugin = project_.tree("plugin");
  if (!plugin) return {};
  auto add = [&](std::string_view name) {
    if (!name.empty() && !is_dunder(name)) names.emplace(name);
  };
  for (const Module* m : project_.modules_of(*plugin)) {
    if (m->kind != ModuleKind::kSource) continue;
    const Module& module = project_.load(*m);
    for (const Binding& b : module.scopes().bindings()) {
      ScopeKind kind = module.scopes().scopes()[b.scope].kind;
      bool in_class = kind == ScopeKind::kClass;
      if (b.kind == BindingKind::kFunction && (in_class || kind == ScopeKind::kModule)) add(b.name);
      if (b.kind == BindingKind::kClass && kind == ScopeKind::kModule) add(b.name);
      // A constant in the place of a method.
      Node value = b.kind == BindingKind::kAssign && in_class ? module.at(b.statement).child(Field::k_right) : Node();
      if (value.is_any(Kind::k_true, Kind::k_false, Kind::k_none)) add(b.name);
    }
    for (std::string_view name : hooks_of_bases(project_, module)) add(name);
    for (Node n : module.root().descendants()) {
      if (n.is(Kind::k_assignment)) {
        Node left = n.child(Field::k_left);
        if (left.is(Kind::k_attribute)) add(left.child(Field::k_attribute).text());
      } else if (n.is(Kind::k_call) && n.child(Field::k_function).text() == "setattr") {
        std::string name;
        if (string_value(n.child(Field::k_arguments).child_at(1), name)) add(name);
      }
    }
  }
  if (more_) {
    for (const std::string& name : more_()) add(name);
  }
  return {names.begin(), names.end()};
}

void CallIndex::build() const {
  names_ = names_of_plugin();
  for (uint32_t i = 0; i < names_.size(); ++i) index_.emplace(names_[i], i);
  calls_.resize(names_.size());
  definitions_.resize(names_.size());
  std::vector<const Module*> modules;
  for (const SourceTree* tree : project_.trees()) {
    if (tree->role != "plugin" && tree->role != "target") continue;
    for (const Module* m : project_.modules_of(*tree)) {
      if (m->kind == ModuleKind::kSource || m->kind == ModuleKind::kSkipped) modules.push_back(m);
    }
  }
  const CallScanner scanner(names_);
  std::vector<FileHits> hits(modules.size());
  parallel_for(modules.size(), threads_, [&](size_t i) {
    FileHits& out = hits[i];
    out.text = project_.bytes(*modules[i]);
    std::string_view text = without_bom(out.text.view());
    out.calls = scanner.scan(text);
    for (size_t at = find_text(text, "def "); at != std::string_view::npos; at = find_text(text, "def ", at)) {
      bool whole = at == 0 || !is_identifier_byte(text[at - 1]);
      at += 4;
      while (at < text.size() && text[at] == ' ') ++at;
      size_t from = at;
      while (at < text.size() && is_identifier_byte(text[at])) ++at;
      if (!whole || at == from) continue;
      auto it = index_.find(text.substr(from, at - from));
      if (it != index_.end()) out.definitions.emplace_back(it->second, static_cast<uint32_t>(from));
    }
  });
  for (size_t i = 0; i < modules.size(); ++i) {
    for (ScannedCall& c : hits[i].calls) calls_[c.name].push_back({modules[i], std::move(c)});
    for (auto [name, offset] : hits[i].definitions) definitions_[name].push_back({modules[i], offset});
    texts_.push_back(std::move(hits[i].text));
    hits[i] = {};
  }
}

std::span<const IndexedCall> CallIndex::calls(std::string_view name) const {
  built_.run([this] { build(); });
  auto it = index_.find(name);
  return it == index_.end() ? std::span<const IndexedCall>() : calls_[it->second];
}

std::span<const IndexedDefinition> CallIndex::definitions(std::string_view name) const {
  built_.run([this] { build(); });
  auto it = index_.find(name);
  return it == index_.end() ? std::span<const IndexedDefinition>() : definitions_[it->second];
}

Node call_node(const Project& project, const IndexedCall& call) {
  const Module& module = project.load(*call.module);
  Node name = module.identifier_at(call.call.offset);
  Node callee = name.parent().is(Kind::k_attribute) && name.field() == Field::k_attribute ? name.parent() : name;
  Node n = callee.parent();
  return n.is(Kind::k_call) && callee.field() == Field::k_function ? n : Node();
}

Node definition_node(const Project& project, const IndexedDefinition& definition) {
  const Module& module = project.load(*definition.module);
  Node n = module.identifier_at(definition.offset).parent();
  return n.is(Kind::k_function_definition) ? n : Node();
}

}  // namespace assay
