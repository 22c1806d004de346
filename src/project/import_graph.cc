#include "project/import_graph.h"

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

std::vector<const Module*> ImportGraph::chain(std::string_view dotted) const {
  std::vector<const Module*> out;
  for (size_t dot = 0; dot != std::string_view::npos;) {
    dot = dotted.find('.', dot + 1);
    const Module* m = project_.find(dotted.substr(0, dot));
    if (!m) break;
    out.push_back(m);
  }
  return out;
}

ImportGraph::File& ImportGraph::scanned(const Module& module) const {
  auto [it, fresh] = files_.try_emplace(&module);
  if (fresh) it->second.imports = scan_imports(project_.text(module));
  return it->second;
}

const std::vector<ScannedImport>& ImportGraph::imports(const Module& module) const {
  std::lock_guard lock(mutex_);
  return scanned(module).imports;
}

const std::vector<ImportGraph::Edge>& ImportGraph::edges(const Module& module) const {
  std::lock_guard lock(mutex_);
  File& file = scanned(module);
  if (file.resolved) return file.edges;
  file.resolved = true;
  for (const ScannedImport& import : file.imports) {
    Edge edge;
    std::string dotted = absolute(module, import.module);
    if (dotted.empty() || !project_.owns(dotted)) continue;
    edge.import = &import;
    edge.source = project_.find(dotted);
    edge.loads = chain(dotted);
    for (const ScannedImport::Name& n : import.names) {
      const Module* sub = import.from && edge.source && edge.source->is_package ? project_.find(dotted + "." + n.name) : nullptr;
      if (sub) edge.loads.push_back(sub);
    }
    file.edges.push_back(std::move(edge));
  }
  return file.edges;
}

void ImportGraph::load(const Module& module, bool certain, std::set<const Module*>& into) const {
  std::vector<const Module*> open = chain(module.name);
  while (!open.empty()) {
    const Module* m = open.back();
    open.pop_back();
    if (!into.insert(m).second) continue;
    for (const Edge& e : edges(*m)) {
      if (e.import->place > (certain ? ImportPlace::kTop : ImportPlace::kGuarded)) continue;
      open.insert(open.end(), e.loads.begin(), e.loads.end());
    }
  }
}

}  // namespace assay
