#include "rules/import_graph.h"

namespace assay {
namespace {

// The dotted name that `written` means in this module; empty if it climbs too far.
std::string absolute(const Module& module, const std::string& written) {
  size_t dots = written.find_first_not_of('.');
  if (dots == 0) return written;
  if (dots == std::string::npos) dots = written.size();
  std::string base = module.package();
  for (size_t i = 1; i < dots; ++i) {
    size_t dot = base.rfind('.');
    if (dot == std::string::npos) return {};
    base.resize(dot);
  }
  std::string rest = written.substr(dots);
  return rest.empty() ? base : base + "." + rest;
}

}  // namespace

std::vector<const Module*> ImportGraph::chain(const std::string& dotted) const {
  std::vector<const Module*> out;
  for (size_t dot = 0; dot != std::string::npos;) {
    dot = dotted.find('.', dot + 1);
    const Module* m = project_.find(dotted.substr(0, dot));
    if (!m) break;
    out.push_back(m);
  }
  return out;
}

const std::vector<ImportGraph::Edge>& ImportGraph::edges(const Module& module) {
  auto [it, fresh] = edges_.try_emplace(&module);
  if (!fresh || module.kind != ModuleKind::kSource || !module.entry) return it->second;
  auto blob = module.tree->tree->read(*module.entry);
  if (!blob) return it->second;
  for (ScannedImport& import : scan_imports(blob->view())) {
    Edge edge;
    std::string dotted = absolute(module, import.module);
    if (dotted.empty() || !project_.owns(dotted)) continue;
    edge.source = project_.find(dotted);
    edge.loads = chain(dotted);
    for (const ScannedImport::Name& n : import.names) {
      const Module* sub = import.from && edge.source && edge.source->is_package ? project_.find(dotted + "." + n.name) : nullptr;
      if (sub) edge.loads.push_back(sub);
    }
    edge.import = std::move(import);
    it->second.push_back(std::move(edge));
  }
  return it->second;
}

void ImportGraph::load(const Module& module, bool certain, std::set<const Module*>& into) {
  std::vector<const Module*> open = chain(module.name);
  while (!open.empty()) {
    const Module* m = open.back();
    open.pop_back();
    if (!into.insert(m).second) continue;
    for (const Edge& e : edges(*m)) {
      if (e.import.place > (certain ? ImportPlace::kTop : ImportPlace::kGuarded)) continue;
      open.insert(open.end(), e.loads.begin(), e.loads.end());
    }
  }
}

}  // namespace assay
