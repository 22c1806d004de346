#include "vllm/file_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "vllm/row_state.h"

namespace assay {

namespace {

std::string hop_text(const ReachHop& hop) {
  if (!hop.from) return hop.what;
  return fmt::format("{} at {}:{}", one_line(hop.what), hop.from->file(), hop.from->at(hop.node).line());
}

void state_of(const InventoryInput& in, const Module& module, FileRow& row) {
  if (module.kind == ModuleKind::kSkipped) {
    row.state = "skipped";
    row.reason = module.skip_reason;
    return;
  }
  std::vector<ReachHop> chain = in.reach.chain(module);
  std::string by = chain.empty() ? "" : "reached by " + hop_text(chain.back());
  switch (in.reach.state(module)) {
    case ReachState::kStartup:
      row.state = "active";
      row.reason = in.reach.all() ? "everything counts as reached" : by;
      break;
    case ReachState::kLazy:
      row.state = "lazy";
      row.reason = by;
      break;
    case ReachState::kDead:
      row.state = "dead";
      row.reason = chain.empty() ? "imported only where a condition is false on this platform"
                                 : by + ", false on this platform";
      break;
    case ReachState::kInactive:
      row.state = "inactive";
      row.reason = "nothing imports it";
      break;
  }
}

class Losses {
 public:
  Losses(const InventoryInput& in, const std::vector<InventoryRow>& rows) : in_(in) {
    std::map<std::string_view, const Module*> by_file;
    for (const Module* m : in.modules) by_file[m->file()] = m;
    for (const InventoryRow& row : rows) {
      auto it = by_file.find(row.location.file);
      if (it == by_file.end() || row.state == "inactive" || row.state == "dead") continue;
      // The statement in each file on the way behind which this row is reached.
      behind_[it->second].push_back({row.location.line, &row});
      for (const ReachHop& hop : in.reach.chain(*it->second)) {
        if (hop.from) behind_[hop.from].push_back({hop.from->at(hop.node).line(), &row});
      }
    }
  }

  void fill(const Module& module, FileRow& row) const {
    auto it = behind_.find(&module);
    if (it == behind_.end()) return;
    std::vector<Node> imports = own_imports(module);
    uint32_t names = 0;
    for (Node statement : imports) {
      for (Node n : statement.children()) names += n.field() == Field::k_name;
    }
    if (names < 2) return;
    for (Node statement : imports) {
      FileRow::Loss loss;
      loss.line = statement.line();
      loss.import = one_line(statement.text());
      std::set<std::string> lost;
      for (const auto& [line, r] : it->second) {
        if (line >= loss.line) lost.insert(r->kind + " " + r->key);
      }
      loss.rows.assign(lost.begin(), lost.end());
      if (!loss.rows.empty()) row.losses.push_back(std::move(loss));
    }
  }

 private:
  // Imports of the plugin's own modules that run with the file.
  std::vector<Node> own_imports(const Module& module) const {
    std::vector<Node> out;
    for (Node n : module.root().descendants()) {
      if (!n.is_any(Kind::k_import_statement, Kind::k_import_from_statement)) continue;
      if (enclosing_function(module.scopes(), n) || in_.semantics.type_checking_only(module, n)) continue;
      std::string name = n.is(Kind::k_import_from_statement)
                             ? imported_module_name(module, n.child(Field::k_module_name))
                             : std::string(n.first_child().text());
      std::string_view top = std::string_view(name).substr(0, name.find('.'));
      if (std::ranges::find(in_.plugin.packages, top) != in_.plugin.packages.end()) out.push_back(n);
    }
    return out;
  }

  struct Behind {
    uint32_t line;
    const InventoryRow* row;
  };
  const InventoryInput& in_;
  std::map<const Module*, std::vector<Behind>> behind_;
};

}  // namespace

std::vector<FileRow> file_rows(const InventoryInput& input, const std::vector<InventoryRow>& rows,
                               const std::function<bool(std::string_view)>& in_scope) {
  std::vector<FileRow> out;
  Losses losses(input, rows);
  const Project& project = input.semantics.project();
  for (const TreeEntry& entry : input.plugin.tree->entries()) {
    if (!in_scope(entry.path)) continue;
    FileRow row;
    row.file = entry.path;
    const Module* module = project.module_of_file(input.plugin, entry.path);
    if (!module || module->kind == ModuleKind::kExtension) {
      row.state = "not-python";
      row.reason = module ? "compiled module" : "no Python source";
    } else {
      state_of(input, *module, row);
      losses.fill(project.load(*module), row);
    }
    out.push_back(std::move(row));
  }
  std::ranges::sort(out, {}, &FileRow::file);
  return out;
}

}  // namespace assay
