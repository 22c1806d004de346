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

// The function or method (outermost) around a place; null at module or class level.
Node outermost_function(const Module& module, Node node) {
  Node out;
  for (Node f = enclosing_function(module.scopes(), node); f; f = enclosing_function(module.scopes(), f)) out = f;
  return out;
}

bool harmless_decorators(Node function) {
  for (Node d : decorators_of(function)) {
    std::string name = decorator_name(d);
    std::string_view last = std::string_view(name).substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    if (last != "staticmethod" && last != "classmethod" && last != "property" && last != "override" && last != "no_grad" &&
        last != "inference_mode" && last != "cache" && last != "lru_cache" && last != "cached_property") {
      return false;
    }
  }
  return true;
}

// The word stands nowhere in the tree but inside `function` itself.
bool only_inside(RuleContext& ctx, const SourceTree& tree, std::string_view word, const Module& module, Node function) {
  bool alone = true;
  each_word(tree, ctx.project(), word, [&](const Module& m, std::string_view, size_t at) {
    bool own = &m == &module && at >= function.start() && at < function.end();
    if (!own) alone = false;
    return alone;
  });
  return alone;
}

}  // namespace

bool called_nowhere(RuleContext& ctx, const Module& module, Node node) {
  Node function = outermost_function(module, node);
  if (!function.is(Kind::k_function_definition) || ctx.reach.all()) return false;
  std::string_view name = function.child(Field::k_name).text();
  if (name.substr(0, 2) == "__" || !harmless_decorators(function) || ctx.reach.runs_at_startup(module, function.id())) return false;
  auto [it, fresh] = ctx.uncalled.try_emplace({&module, function.id()}, false);
  if (fresh) it->second = only_inside(ctx, ctx.plugin, name, module, function) && only_inside(ctx, ctx.target, name, module, function);
  return it->second;
}

Exposure exposure(RuleContext& ctx, const Module& module, Node node) {
  if (ctx.sem.type_checking_only(module, node)) return {Exposure::Kind::kTypeCheckingOnly, "only type checkers run this"};
  Truth alive = ctx.sem.live(module, node);
  if (alive == Truth::kNo) return {Exposure::Kind::kDead, "a condition around it is false on this platform with this target"};
  switch (ctx.reach.state(module)) {
    case ReachState::kInactive: return {Exposure::Kind::kUnreached, "nothing that an entry point reaches imports this file"};
    case ReachState::kDead: return {Exposure::Kind::kUnreached, "this file is imported only where a condition is false on this platform"};
    default: break;
  }
  if (called_nowhere(ctx, module, node)) {
    return {Exposure::Kind::kUnreached, "the name of the function around it stands nowhere else in the plugin or the target: nothing calls it"};
  }
  if (alive == Truth::kUnknown) return {Exposure::Kind::kUndecided, ""};
  return {};
}

Finding* report(RuleContext& ctx, std::string_view rule, const Module& module, Node node, std::string symbol, std::string message) {
  const RuleInfo* info = find_rule(rule);
  ASSAY_CHECK(info, "no such rule: " + std::string(rule));
  Exposure where = exposure(ctx, module, node);
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

void note_unknown(RuleContext& ctx, const Module& module, Node node, std::string what, std::string reason) {
  ctx.unknown.push_back({std::move(what), std::move(reason), locate(module, node)});
}

}  // namespace assay
