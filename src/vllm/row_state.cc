#include "vllm/row_state.h"

#include <fmt/format.h>

namespace assay {

namespace {

constexpr size_t kLongestCondition = 160;

void also(std::string& condition, const std::string& more) {
  condition += (condition.empty() ? "" : " and ") + more;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\\';
    if (space && (out.empty() || out.back() == ' ')) continue;
    out += space ? ' ' : c;
  }
  if (out.size() > kLongestCondition) out = out.substr(0, kLongestCondition) + "…";
  return out;
}

void RowState::fill(const Module& module, Node place, InventoryRow& row) {
  if (!reach_.all()) row.activation = activation(module);
  ReachState reached = reach_.state(module);
  if (reached == ReachState::kInactive) {
    row.state = "inactive";
    row.condition = "nothing imports the file";
    return;
  }
  conditions(module, place, row);
  if (reached == ReachState::kDead || semantics_.live(module, place) == Truth::kNo) {
    row.state = "dead";
    if (row.condition.empty()) row.condition = "imported only where a condition is false on this platform";
    return;
  }
  row.state = row.condition.empty() ? "active" : "conditional";
}

// The guards that are not certainly passed, from the outside in.
void RowState::conditions(const Module& module, Node place, InventoryRow& row) {
  std::vector<Guard> guards = guards_of(place);
  for (auto g = guards.rbegin(); g != guards.rend(); ++g) {
    if (g->kind == GuardKind::kCondition) {
      Truth t = semantics_.condition(module, g->node);
      if (g->negated) t = !t;
      if (t == Truth::kYes) continue;
      also(row.condition, (g->negated ? "not (" : "") + one_line(g->node.text()) + (g->negated ? ")" : ""));
    } else if (g->kind == GuardKind::kHandler) {
      also(row.condition, "the import or call before it fails (" +
                              one_line(g->node.text().substr(0, g->node.text().find('\n'))) + ")");
    } else if (g->kind == GuardKind::kFunctionBody && !reach_.all()) {
      bool runs = reach_.runs_at_startup(module, g->node.id());
      if (!runs) also(row.condition, fmt::format("{}() is called", g->node.child(Field::k_name).text()));
    }
  }
}

std::vector<std::string> RowState::activation(const Module& module) const {
  std::vector<std::string> out;
  for (const ReachHop& hop : reach_.chain(module)) {
    if (!hop.from) {
      out.push_back(hop.what);
      continue;
    }
    out.push_back(
        fmt::format("{}:{} {}", hop.from->file(), hop.from->at(hop.node).line(), one_line(hop.what)));
  }
  return out;
}

}  // namespace assay
