#include "rules/context.h"

#include "base/error.h"
#include "rules/text_search.h"

namespace assay {

Location locate(const Module& module, Node node) {
  Location out = locate_file(module);
  const SyntaxTree& tree = module.syntax();
  out.line = node.line();
  out.column = tree.column_of(node.start());
  out.end_line = node.end_line();
  if (node.end() > node.start()) out.end_column = tree.column_of(node.end() - 1) + 1;
  out.text = tree.line_text(out.line);
  return out;
}

Location locate_file(const Module& module) {
  Location out;
  out.tree = module.tree ? module.tree->role : "target";
  out.file = module.file();
  return out;
}

namespace {

// The class around a method, or around the place; else the module: what must be in use for an idle method of it to matter.
Node holder(const Module& module, Node node) {
  Node cls = enclosing_class(module.scopes(), node);
  return cls ? cls : module.root();
}

}  // namespace

Exposure exposure(RuleContext& ctx, const Module& module, Node node) { return exposure(ctx, module, node, node); }

Exposure exposure(RuleContext& ctx, const Module& module, Node node, Node running) {
  if (ctx.sem.type_checking_only(module, node)) return {Exposure::Kind::kTypeCheckingOnly, "only type checkers run this"};
  Truth alive = ctx.sem.live(module, node);
  if (alive == Truth::kNo) return {Exposure::Kind::kDead, "a condition around it is false on this platform with this target"};
  switch (ctx.reach.state(module)) {
    case ReachState::kInactive: return {Exposure::Kind::kUnreached, "nothing that an entry point reaches imports this file"};
    case ReachState::kDead: return {Exposure::Kind::kUnreached, "this file is imported only where a condition is false on this platform"};
    default: break;
  }
  std::string reason;
  if (ctx.liveness && !ctx.liveness->can_run(ctx.sem, module, running, reason)) return {Exposure::Kind::kUnreached, reason};
  if (alive == Truth::kUnknown) return {Exposure::Kind::kUndecided, ""};
  return {};
}

Finding* report(RuleContext& ctx, std::string_view rule, const Module& module, Node node, std::string symbol, std::string message) {
  const RuleInfo* info = find_rule(rule);
  ASSAY_CHECK(info, "no such rule: " + std::string(rule));
  Exposure where = exposure(ctx, module, node, info->of_idle_code ? holder(module, node) : node);
  if (where.kind == Exposure::Kind::kDead) return nullptr;
  Finding& f = ctx.findings.emplace_back();
  f.rule = rule;
  f.level = info->level;
  f.evidence = info->evidence;
  f.symbol = std::move(symbol);
  f.message = std::move(message);
  f.location = locate(module, node);
  if (where.kind == Exposure::Kind::kUnreached || where.kind == Exposure::Kind::kTypeCheckingOnly) {
    f.level = Level::kNote;
    f.limits.push_back(where.reason);
  } else {
    f.trigger = trigger_of(ctx, module);
  }
  return &f;
}

void relate(Finding& finding, const Module& module, Node node, std::string symbol, std::string message) {
  finding.related.push_back({node ? locate(module, node) : locate_file(module), std::move(symbol), std::move(message)});
}

std::string trigger_of(RuleContext& ctx, const Module& module) {
  if (ctx.reach.all()) return {};
  std::string out;
  for (const ReachHop& hop : ctx.reach.chain(module)) {
    if (!out.empty()) out += " → ";
    if (hop.from) out += hop.from->file() + ":" + std::to_string(hop.from->at(hop.node).line()) + " ";
    out += hop.what;
  }
  return out;
}

LivenessQuestions liveness_questions(const Catalog& catalog, const Project& project, const SourceTree& target) {
  LivenessQuestions out;
  for (const ExtensionPoint& point : catalog.extension_points) {
    if (point.idle) out.idle_decorators.insert(out.idle_decorators.end(), point.calls.begin(), point.calls.end());
  }
  out.spelled_by_target = [&](const std::vector<std::string_view>& names) { return spelled_words(target, project, names); };
  return out;
}

void note_unknown(RuleContext& ctx, const Module& module, Node node, std::string what, std::string reason) {
  ctx.unknown.push_back({std::move(what), std::move(reason), locate(module, node)});
}

}  // namespace assay
