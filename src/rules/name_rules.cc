// syntax-error, undefined-name, eager-annotation.
#include <algorithm>

#include "python/syntax_check.h"
#include "rules/rules.h"

namespace assay {
namespace {

// Names that exist in every module or class body without a binding.
bool implicit_name(std::string_view name) {
  static constexpr std::string_view kImplicit[] = {"__file__", "__name__", "__doc__", "__package__", "__spec__", "__loader__",
                                                   "__path__", "__builtins__", "__class__", "__module__", "__qualname__",
                                                   "__annotations__", "__dict__", "__debug__", "WindowsError", "reveal_type"};
  return std::find(std::begin(kImplicit), std::end(kImplicit), name) != std::end(kImplicit);
}

// The identifier is no use of a variable: keyword names, attribute names, parameters, targets, imports.
bool is_use(Node id) {
  Node p = id.parent();
  Field f = id.field();
  switch (p.kind()) {
    case Kind::k_attribute: return f == Field::k_object;
    case Kind::k_keyword_argument: return f == Field::k_value;
    case Kind::k_function_definition:
    case Kind::k_class_definition: return false;
    case Kind::k_dotted_name:
    case Kind::k_aliased_import:
    case Kind::k_import_statement:
    case Kind::k_import_from_statement:
    case Kind::k_global_statement:
    case Kind::k_nonlocal_statement:
    case Kind::k_parameters:
    case Kind::k_lambda_parameters:
    case Kind::k_list_splat_pattern:
    case Kind::k_dictionary_splat_pattern:
    case Kind::k_keyword_pattern:
    case Kind::k_as_pattern_target:
    case Kind::k_pattern_list:
    case Kind::k_tuple_pattern:
    case Kind::k_list_pattern: return false;
    case Kind::k_typed_parameter: return false;
    case Kind::k_default_parameter:
    case Kind::k_typed_default_parameter: return f == Field::k_value;
    case Kind::k_assignment: return f != Field::k_left;
    case Kind::k_augmented_assignment: return f == Field::k_right;
    case Kind::k_for_statement:
    case Kind::k_for_in_clause: return f != Field::k_left;
    case Kind::k_named_expression: return f != Field::k_name;
    case Kind::k_as_pattern: return id == p.first_child();
    default: return true;
  }
}

// The outermost `type` node around the place; null if it stands in no annotation.
Node annotation_around(Node node) {
  Node out;
  for (Node p = node; p && !p.is_any(Kind::k_block, Kind::k_module); p = p.parent()) {
    if (p.is(Kind::k_type)) out = p;
  }
  return out;
}

bool has_future_annotations(const Module& module) {
  for (Node n : module.root().children()) {
    if (n.is(Kind::k_future_import_statement) && n.text().find("annotations") != std::string_view::npos) return true;
  }
  return false;
}

bool in_error_region(Node node) {
  for (Node p = node; p; p = p.parent()) {
    if (p.is(Kind::kError)) return true;
  }
  return false;
}

class NameChecker {
 public:
  NameChecker(RuleContext& ctx, const Module& module)
      : ctx_(ctx), module_(module), lazy_annotations_(has_future_annotations(module)) {}

  void run() {
    for (Node n : module_.root().descendants()) {
      if (n.is(Kind::k_identifier) && is_use(n)) use(n);
      if (n.is(Kind::k_type)) annotation(n);
    }
  }

 private:
  // Annotations of variables inside functions are never evaluated (PEP 526).
  bool never_evaluated(Node type) {
    return type.parent().is(Kind::k_assignment) && enclosing_function(module_.scopes(), type);
  }

  void use(Node n) {
    std::string_view name = n.text();
    // `type` and `match` as soft keywords, and what the parser made of broken code
    if (name.empty()) return;
    const ModuleScopes& scopes = module_.scopes();
    ScopeId holder = scopes.resolve(n.id(), name);
    if (Node type = annotation_around(n)) {
      if (lazy_annotations_ || never_evaluated(type)) return;
      if (holder == kModuleScope) bound_later(n, name);
    }
    if (holder == kNoScope) return unbound(n, name);
    if (holder == kModuleScope) typed_only(n, name);
  }

  void unbound(Node n, std::string_view name) {
    if (ctx_.sem.externals().builtins.count(name) || implicit_name(name)) return;
    if (ctx_.sem.module_member(module_, name).presence != Presence::kNo) return;
    if (in_error_region(n) || error_caught(n, "NameError", Handlers::kNamed)) return;
    if (!reported_.insert(std::string(name)).second) return;
    Finding* f = report(ctx_, "undefined-name", module_, n, std::string(name), "the name '" + std::string(name) + "' is defined nowhere");
    if (!f) {
      reported_.erase(std::string(name));
      return;
    }
    f->observed = "no assignment, import, parameter or builtin of this name";
    auto places = ctx_.definitions.find(name);
    if (places.size() == 1) f->fix = "import it from " + places[0].module->name;
  }

  // Bound under TYPE_CHECKING alone, used where code runs.
  void typed_only(Node n, std::string_view name) {
    Member member = ctx_.sem.module_member(module_, name);
    if (member.presence != Presence::kNo || !member.type_checking_only) return;
    if (ctx_.sem.externals().builtins.count(name)) return;
    if (ctx_.sem.type_checking_only(module_, n) || error_caught(n, "NameError", Handlers::kNamed)) return;
    if (!reported_.insert(std::string(name)).second) return;
    Finding* f = report(ctx_, "undefined-name", module_, n, std::string(name),
                        "the name '" + std::string(name) + "' is bound for type checkers only, and used at run time");
    if (!f) reported_.erase(std::string(name));
  }

  // The code around the annotation runs while the module is imported: it stands in no function's body.
  static bool runs_at_import(Node node) {
    for (Node p = node; p; p = p.parent()) {
      if (p.field() == Field::k_body && p.parent().is_any(Kind::k_function_definition, Kind::k_lambda)) return false;
    }
    return true;
  }

  // `x: Later` above `class Later`: every binding of the name stands further down.
  void bound_later(Node n, std::string_view name) {
    const ModuleScopes& scopes = module_.scopes();
    auto bindings = scopes.in_scope(kModuleScope, name);
    bool later = !bindings.empty() && std::all_of(bindings.begin(), bindings.end(), [&](const Binding& b) {
      return module_.at(b.node).start() > n.end() && enclosing_statement(module_.at(b.statement)).start() > n.end();
    });
    if (!later || scopes.scopes()[kModuleScope].star_import || !runs_at_import(n)) return;
    if (ctx_.sem.externals().builtins.count(name) || implicit_name(name)) return;
    if (in_error_region(n) || error_caught(n, "NameError", Handlers::kNamed) || ctx_.sem.type_checking_only(module_, n)) return;
    if (!reported_.insert(std::string(name)).second) return;
    Finding* f = report(ctx_, "eager-annotation", module_, n, std::string(name),
                        "the annotation is evaluated here, and '" + std::string(name) + "' is defined only further down: NameError");
    if (!f) return;
    relate(*f, module_, module_.at(bindings[0].node), std::string(name), "defined here");
    f->fix = "add 'from __future__ import annotations', or quote the annotation";
  }

  // `"A" | None` and `None | None` are evaluated when the function is defined, and fail there.
  void annotation(Node type) {
    if (lazy_annotations_ || type.parent().is(Kind::k_type)) return;
    if (never_evaluated(type)) return;
    for (Node n : type.descendants()) {
      if (!n.is(Kind::k_binary_operator) || n.child(Field::k_operator).text() != "|") continue;
      Node left = n.child(Field::k_left), right = n.child(Field::k_right);
      if (left.is(Kind::k_binary_operator)) left = left.child(Field::k_right);
      auto kind = [&](Node side) {
        if (side.is_any(Kind::k_string, Kind::k_none)) return side.is(Kind::k_string) ? 's' : 'n';
        Values v = ctx_.sem.infer(module_, side);
        if (!v.open && v.list.size() == 1 && v.list[0].kind == ValueKind::kNone) return 'n';
        return '?';
      };
      char a = kind(left), b = kind(right);
      // str | None and str | str have no meaning; None | None neither. str | type works where the type defines __ror__ only.
      bool fails = (a == 's' && b != '?') || (b == 's' && a != '?') || (a == 'n' && b == 'n');
      if (!fails) continue;
      std::string symbol(strip_parens(a == 'n' && b == 'n' && left.is(Kind::k_identifier) ? left : type).text().substr(0, 80));
      Finding* f = report(ctx_, "eager-annotation", module_, n, symbol,
                          "the annotation " + std::string(n.text().substr(0, 80)) + " is evaluated when the function is defined, and raises TypeError");
      if (!f) continue;
      f->observed = a == 's' || b == 's' ? "a string stands on one side of |" : "both sides of | are None at run time";
      f->fix = "add 'from __future__ import annotations', or quote the whole annotation";
    }
  }

  RuleContext& ctx_;
  const Module& module_;
  bool lazy_annotations_;
  std::set<std::string> reported_;
};

}  // namespace

void check_syntax(RuleContext& ctx, const Module& module) {
  const SyntaxTree& tree = module.syntax();
  // What the parser takes, CPython's compiler may still reject.
  std::vector<SyntaxError> errors = tree.errors().empty() ? check_syntax(tree, module.scopes()) : tree.errors();
  if (errors.empty()) return;
  const SyntaxError& e = errors.front();  // CPython stops at the first as well
  Finding* f = report(ctx, "syntax-error", module, module.root(), module.name.empty() ? module.file() : module.name, e.message);
  if (!f) return;
  f->location = locate_file(module);
  f->location.line = e.line;
  f->location.column = e.column;
  f->location.text = tree.line_text(e.line);
  f->observed = std::to_string(errors.size()) + " place" + (errors.size() == 1 ? "" : "s") + " that Python does not accept";
  f->limits.push_back("what the parser could read around the error was analysed all the same");
}

void check_names(RuleContext& ctx, const Module& module) { NameChecker(ctx, module).run(); }

}  // namespace assay
