// missing-module, missing-symbol, swallowed-import, guarded-missing-import.
#include <algorithm>

#include "rules/rules.h"

namespace assay {
namespace {

// What catches the failure of an import statement, if anything does.
struct Catch {
  Node clause;          // the except clause; null: nothing catches it
  bool goes_on = false;  // the clause does something else instead: another import, a flag, a return
  bool raises = false;   // the clause raises again
};

// The handler does nothing, or only logs: whatever the import was for is silently off.
bool only_says_so(Node except_clause) {
  for (Node s : except_clause.child(Kind::k_block).children()) {
    if (s.is(Kind::k_pass_statement)) continue;
    Node e = s.first_child();
    if (!s.is(Kind::k_expression_statement)) return false;
    if (e.is_any(Kind::k_string, Kind::k_ellipsis)) continue;
    std::string callee = e.is(Kind::k_call) ? dotted_text(e.child(Field::k_function)) : std::string();
    std::string_view first = std::string_view(callee).substr(0, callee.find('.'));
    bool says = callee == "print" || first == "warnings" || first == "logging" || first.find("log") != std::string_view::npos;
    if (!says) return false;
  }
  return true;
}

Catch catcher_of(Node statement) {
  Catch out;
  for (const Guard& g : guards_of(statement)) {
    if (g.kind == GuardKind::kFunctionBody) break;
    if (g.kind != GuardKind::kTry) continue;
    out.clause = import_error_handler(g.node, true);
    if (!out.clause) continue;
    for (Node n : out.clause.descendants()) {
      if (n.is(Kind::k_raise_statement)) out.raises = true;
    }
    out.goes_on = !only_says_so(out.clause);
    return out;
  }
  return out;
}

struct Broken {
  std::string rule;     // missing-module or missing-symbol
  std::string symbol;   // dotted
  std::string message;
  std::string observed;
  std::vector<DefinitionPlace> elsewhere;  // where the target has a definition of the name
  const Module* holder = nullptr;          // the module that lacks it
  Node node;
};

const char* owner_word(RuleContext& ctx, const std::string& dotted) {
  std::string top = dotted.substr(0, dotted.find('.'));
  const auto& packages = ctx.plugin.packages;
  bool plugin = std::find(packages.begin(), packages.end(), top) != packages.end();
  return plugin ? "the plugin" : "the target";
}

void moved_to(RuleContext& ctx, Broken& b) {
  for (const DefinitionPlace& p : ctx.definitions.find(last_part(b.symbol))) {
    if (p.module->name != b.symbol) b.elsewhere.push_back(p);
  }
  // Several places say nothing about where it went.
  if (b.elsewhere.size() > 3) b.elsewhere.clear();
}

// The module itself moved: one other module of the tree has the same last name.
std::string only_module(RuleContext& ctx, const SourceTree& tree, std::string_view last) {
  std::string found;
  for (const Module* m : ctx.project().modules_of(tree)) {
    if (m->name.size() < 2 || last_part(m->name) != last || m->kind == ModuleKind::kNamespace) continue;
    // A package and its module of the same name: what was meant is the module.
    if (!found.empty() && m->name != found + "." + std::string(last)) return {};
    found = m->name;
  }
  return found;
}

// A module of that last name: the plugin's own, where one of its modules is missing, else the target's.
std::string renamed_module(RuleContext& ctx, const std::string& dotted) {
  std::string own = ctx.target.packages.end() == std::find(ctx.target.packages.begin(), ctx.target.packages.end(), dotted.substr(0, dotted.find('.')))
                        ? only_module(ctx, ctx.plugin, last_part(dotted))
                        : std::string();
  return own.empty() ? only_module(ctx, ctx.target, last_part(dotted)) : own;
}

void emit(RuleContext& ctx, const Module& module, Node statement, Broken b) {
  Catch caught = catcher_of(statement);
  std::string rule = b.rule;
  if (caught.clause && !caught.raises) {
    rule = caught.goes_on ? "guarded-missing-import" : "swallowed-import";
  } else if (ctx.sem.live(module, statement) == Truth::kUnknown && ctx.sem.version_guarded(module, statement)) {
    rule = "guarded-missing-import";
  }
  // The statement is what raises, and what a traceback shows.
  Finding* f = report(ctx, rule, module, statement, b.symbol, b.message);
  if (!f) return;
  if (b.node.line() != statement.line()) f->sites.push_back({locate(module, b.node), f->state});
  f->expected = b.symbol + " exists";
  f->observed = b.observed;
  if (rule == "swallowed-import") f->message += "; the failure is caught and nothing takes its place";
  if (rule == "guarded-missing-import") f->message += "; the code has another way for that case";
  if (b.holder) relate(*f, *b.holder, Node(), b.holder->name, "does not have it");
  for (const DefinitionPlace& p : b.elsewhere) {
    const Module& m = ctx.project().load(*p.module);
    Location place = locate_file(m);
    place.line = p.line;
    place.column = 1;
    place.text = m.syntax().line_text(p.line);
    f->related.push_back({place, m.name + "." + std::string(last_part(b.symbol)), "defined here"});
  }
  if (b.elsewhere.size() == 1) f->fix = "import it from " + b.elsewhere[0].module->name;
  f->group = rule + ":" + b.symbol;
}

// The first parent that is missing: `vllm.a.b.c` where vllm.a has no b names vllm.a.b.
std::string first_missing(RuleContext& ctx, const std::string& dotted) {
  for (size_t dot = dotted.find('.'); dot != std::string::npos; dot = dotted.find('.', dot + 1)) {
    std::string prefix = dotted.substr(0, dot);
    if (!ctx.project().find(prefix)) return prefix;
  }
  return dotted;
}

void missing_module(RuleContext& ctx, const Module& module, Node statement, Node node, const std::string& dotted) {
  Broken b;
  b.rule = "missing-module";
  b.symbol = dotted;
  b.node = node;
  std::string first = first_missing(ctx, dotted);
  b.message = std::string(owner_word(ctx, dotted)) + " has no module " + dotted;
  b.observed = "no module or package " + first + " in " + owner_word(ctx, dotted);
  std::string other = renamed_module(ctx, dotted);
  if (!other.empty()) b.message += " (there is " + other + ")";
  emit(ctx, module, statement, std::move(b));
}

bool found_as_module(RuleContext& ctx, const std::string& dotted) { return ctx.project().find(dotted) != nullptr; }

void from_import(RuleContext& ctx, const Module& module, Node statement) {
  Node source_node = statement.child(Field::k_module_name);
  std::string source = imported_module_name(module, source_node);
  bool relative = source_node.is(Kind::k_relative_import);
  if (source.empty()) {
    if (relative && !module.name.empty()) {
      Broken b{"missing-module", std::string(source_node.text()), "the relative import " + std::string(source_node.text()) + " climbs past the top-level package", "", {}, nullptr, source_node};
      emit(ctx, module, statement, std::move(b));
    }
    return;
  }
  if (!ctx.project().owns(source)) return;
  bool of_target = std::find(ctx.target.packages.begin(), ctx.target.packages.end(), source.substr(0, source.find('.'))) != ctx.target.packages.end();
  auto count = [&](bool decided) {
    if (of_target) decided ? ++ctx.stats.names_decided : ++ctx.stats.names_undecided;
  };
  const Module* from = ctx.project().find_loaded(source);
  if (!from) {
    for (Node n : statement.children()) {
      if (n.field() == Field::k_name) count(true);
    }
    return missing_module(ctx, module, statement, source_node, source);
  }
  for (Node n : statement.children()) {
    if (n.field() != Field::k_name) continue;
    Node name_node = n.is(Kind::k_aliased_import) ? n.child(Field::k_name) : n;
    std::string name(name_node.text());
    // A package's own `from . import x`: x can only be a submodule or a name bound elsewhere in it.
    Member member = ctx.sem.module_member(*from, name);
    count(member.presence != Presence::kUnknown || from->kind != ModuleKind::kSource);
    if (member.presence == Presence::kUnknown) {
      note_unknown(ctx, module, name_node, source + "." + name, member.reason);
      continue;
    }
    if (member.presence == Presence::kYes) continue;
    Broken b;
    b.node = name_node;
    b.symbol = source + "." + name;
    b.holder = from;
    b.rule = from == &module || (from->is_package && !of_target && from->scopes().in_scope(kModuleScope).empty()) ? "missing-module" : "missing-symbol";
    if (b.rule == "missing-module") {
      b.message = std::string(owner_word(ctx, source)) + " has no module " + b.symbol;
    } else {
      b.message = source + " has no name '" + name + "'";
      if (member.type_checking_only) b.message += " at run time (it is bound for type checkers only)";
    }
    b.observed = b.message;
    moved_to(ctx, b);
    if (b.elsewhere.size() == 1) b.message += "; it is defined in " + b.elsewhere[0].module->name;
    emit(ctx, module, statement, std::move(b));
  }
}

void plain_import(RuleContext& ctx, const Module& module, Node statement) {
  for (Node n : statement.children()) {
    if (n.field() != Field::k_name) continue;
    Node name_node = n.is(Kind::k_aliased_import) ? n.child(Field::k_name) : n;
    std::string dotted = dotted_text(name_node);
    if (!ctx.project().owns(dotted)) continue;
    bool found = found_as_module(ctx, dotted);
    bool of_target = std::find(ctx.target.packages.begin(), ctx.target.packages.end(), dotted.substr(0, dotted.find('.'))) != ctx.target.packages.end();
    if (of_target) ++ctx.stats.names_decided;
    if (!found) missing_module(ctx, module, statement, name_node, dotted);
  }
}

}  // namespace

void check_imports(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_import_from_statement)) from_import(ctx, module, n);
    if (n.is(Kind::k_import_statement)) plain_import(ctx, module, n);
  }
}

}  // namespace assay
