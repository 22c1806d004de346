// Conditions: what is known on this platform, with this target. And from them: which places are live.
#include <algorithm>

#include "project/semantics.h"

namespace assay {
namespace {

bool handles_imports_only(Node except_clause) {
  std::vector<std::string> types = handled_types(except_clause);
  return !types.empty() && std::all_of(types.begin(), types.end(), [](const std::string& t) {
    return t == "ImportError" || t == "ModuleNotFoundError";
  });
}

Truth both(Truth a, Truth b) {
  if (a == Truth::kNo || b == Truth::kNo) return Truth::kNo;
  return a == Truth::kYes && b == Truth::kYes ? Truth::kYes : Truth::kUnknown;
}

// What every alternative says.
Truth truth_of_all(const Values& values) {
  if (values.open || values.list.empty()) return Truth::kUnknown;
  Truth out = truthiness(values.list[0]);
  for (const Value& v : values.list) {
    if (truthiness(v) != out) return Truth::kUnknown;
  }
  return out;
}

// The text asks for a version or for the presence of something: the other branch is meant for the other answer.
bool asks_for_version(Node condition) {
  std::string_view t = condition.text();
  for (std::string_view word : {"version", "Version", "hasattr(", "find_spec", "signature(", "is_available", "_AVAILABLE", "has_"}) {
    if (t.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// The same through a helper of whatever name: torch_at_least("2.9").
bool helper_asks_for_version(Semantics& semantics, const Module& module, Node condition) {
  Node call = strip_parens(condition);
  if (call.is(Kind::k_not_operator)) call = strip_parens(call.child(Field::k_argument));
  if (!call.is(Kind::k_call)) return false;
  Values callees = semantics.infer(module, call.child(Field::k_function));
  const Value* f = callees.single();
  return f && f->kind == ValueKind::kFunction && asks_for_version(f->definition().child(Field::k_body));
}

}  // namespace

Truth Semantics::condition(const Module& module, Node e, const Frame* frame) {
  if (!e || depth_ > 55) return Truth::kUnknown;
  ++depth_;
  Truth out = Truth::kUnknown;
  switch (e.kind()) {
    case Kind::k_parenthesized_expression: out = condition(module, e.first_child(), frame); break;
    case Kind::k_not_operator: out = !condition(module, e.child(Field::k_argument), frame); break;
    case Kind::k_boolean_operator: {
      Truth a = condition(module, e.child(Field::k_left), frame);
      bool is_or = e.child(Field::k_operator).text() == "or";
      if (a == (is_or ? Truth::kYes : Truth::kNo)) {
        out = a;
        break;
      }
      Truth b = condition(module, e.child(Field::k_right), frame);
      out = is_or ? !both(!a, !b) : both(a, b);
      break;
    }
    case Kind::k_comparison_operator: out = comparison(module, e, frame); break;
    default: {
      if (e.is_any(Kind::k_identifier, Kind::k_attribute) && last_part(e.text()) == "TYPE_CHECKING") {
        out = Truth::kNo;
        break;
      }
      Values values = infer(module, e, frame);
      out = truth_of_all(values);
      if (out == Truth::kUnknown && e.is(Kind::k_attribute)) out = truth_of_all(constructed_field(module, e));
    }
  }
  --depth_;
  return out;
}

Truth Semantics::comparison(const Module& module, Node e, const Frame* frame) {
  if (e.child_count() != 3) return Truth::kUnknown;  // chains are not followed
  std::string op(e.child(Field::k_operators).text());
  Node left_node = e.child_at(0), right_node = e.child_at(2);
  // sys.version_info and sys.platform: what every supported setting agrees on
  if (left_node.text() == "sys.platform") {
    std::string text;
    if (!string_value(right_node, text)) return Truth::kUnknown;
    return op == "==" ? truth_of(text == "linux") : op == "!=" ? truth_of(text != "linux") : Truth::kUnknown;
  }
  if (left_node.text() == "sys.version_info" && right_node.is(Kind::k_tuple)) {
    Node minor = right_node.child_at(1);
    bool at_most_3_10 = right_node.child_at(0).text() == "3" && (!minor || (minor.text().size() == 1 || minor.text() == "10"));
    if (at_most_3_10 && op == ">=") return Truth::kYes;
    if (at_most_3_10 && op == "<") return Truth::kNo;
    return Truth::kUnknown;
  }
  Values left = infer(module, left_node, frame), right = infer(module, right_node, frame);
  if (left.open && left_node.is(Kind::k_attribute)) left = loop_column(module, left_node);
  if (left.open || right.open || left.list.empty() || right.list.empty()) return Truth::kUnknown;
  Truth out = Truth::kUnknown;
  bool first = true;
  auto add = [&](Truth t) {
    if (first) out = t;
    else if (t != out) out = Truth::kUnknown;
    first = false;
  };
  for (const Value& a : left.list) {
    for (const Value& b : right.list) {
      if (op == "==" || op == "is") {
        add(equal(a, b));
      } else if (op == "!=" || op == "is not") {
        add(!equal(a, b));
      } else if (op == "in" || op == "not in") {
        Truth found = Truth::kUnknown;
        if (b.kind == ValueKind::kLiteral && !b.definition().is(Kind::k_dictionary)) {
          found = Truth::kNo;
          for (Node item : b.definition().children()) {
            Values v = infer(*b.module, item);
            Truth same = v.single() ? equal(a, *v.single()) : Truth::kUnknown;
            if (same == Truth::kYes) found = Truth::kYes;
            if (same == Truth::kUnknown && found == Truth::kNo) found = Truth::kUnknown;
          }
        } else if (a.kind == ValueKind::kString && b.kind == ValueKind::kSignature) {  // "k" in inspect.signature(f).parameters
          Value f = b;
          f.kind = b.definition().is(Kind::k_class_definition) ? ValueKind::kClass : ValueKind::kFunction;
          Callable c = callable(f);
          if (c.known) found = truth_of(c.signature.find(a.text) != nullptr);
        } else if (a.kind == ValueKind::kString && b.kind == ValueKind::kString) {
          found = truth_of(b.text.find(a.text) != std::string_view::npos);
        }
        add(op == "in" ? found : !found);
      } else {
        int order = 0;
        if (a.kind == ValueKind::kVersion && b.kind == ValueKind::kVersion) {
          order = compare_versions(a.text, b.text);
        } else if (a.kind == ValueKind::kInteger && b.kind == ValueKind::kInteger) {
          order = a.number < b.number ? -1 : a.number > b.number;
        } else {
          add(Truth::kUnknown);
          continue;
        }
        add(op == "<" ? truth_of(order < 0) : op == "<=" ? truth_of(order <= 0) : op == ">" ? truth_of(order > 0) : op == ">=" ? truth_of(order >= 0) : Truth::kUnknown);
      }
    }
  }
  return out;
}

Truth Semantics::has_attribute(const Module& module, Node object, Node name_node, const Frame* frame) {
  Values names = infer(module, name_node, frame);
  const Value* name = names.single();
  if (!name || name->kind != ValueKind::kString) return Truth::kUnknown;
  Values objects = infer(module, object, frame);
  if (objects.open || objects.list.empty()) return Truth::kUnknown;
  Truth out = Truth::kUnknown;
  bool first = true;
  for (const Value& v : objects.list) {
    Presence p = Presence::kUnknown;
    if (v.kind == ValueKind::kModule) p = module_member(*v.module, name->text).presence;
    if (v.kind == ValueKind::kClass) p = class_member(v.class_ref(), name->text).presence;
    if (v.kind == ValueKind::kInstance && !v.declared) p = class_member(v.class_ref(), name->text).presence == Presence::kYes ? Presence::kYes : Presence::kUnknown;
    Truth t = p == Presence::kYes ? Truth::kYes : p == Presence::kNo ? Truth::kNo : Truth::kUnknown;
    if (first) out = t;
    else if (t != out) out = Truth::kUnknown;
    first = false;
  }
  return out;
}

// Whether an import in the try body certainly fails, or certainly none does. What is not ours may or may not be there.
Truth Semantics::some_import_fails(const Module& module, Node try_statement) {
  Truth out = Truth::kNo;
  bool any = false;
  for (Node n : try_statement.child(Field::k_body).descendants()) {
    // Something else in the body may raise ImportError as well: a call that imports.
    if (n.is(Kind::k_raise_statement)) return Truth::kUnknown;
    if (!n.is_any(Kind::k_import_statement, Kind::k_import_from_statement)) continue;
    any = true;
    Truth t = import_fails(module, n);
    if (t == Truth::kYes) return t;
    if (t == Truth::kUnknown) out = t;
  }
  return any ? out : Truth::kUnknown;
}

Truth Semantics::import_fails(const Module& module, Node statement) {
  auto module_fails = [&](const std::string& dotted) {
    if (dotted.empty() || !project_.owns(dotted)) return Truth::kUnknown;
    const Module* m = project_.find(dotted);
    if (!m) return Truth::kYes;
    // That it can be found does not say that its own imports work: a compiled or plugin module may raise.
    return m->kind == ModuleKind::kSource && m->tree && m->tree->role == "target" ? Truth::kNo : Truth::kUnknown;
  };
  if (statement.is(Kind::k_import_statement)) {
    Truth out = Truth::kNo;
    for (Node n : statement.children()) {
      if (n.field() != Field::k_name) continue;
      Truth t = module_fails(dotted_text(n.is(Kind::k_aliased_import) ? n.child(Field::k_name) : n));
      if (t != Truth::kNo && out != Truth::kYes) out = t;
    }
    return out;
  }
  std::string source = imported_module_name(module, statement.child(Field::k_module_name));
  Truth out = module_fails(source);
  const Module* from = out == Truth::kYes ? nullptr : project_.find_loaded(source);
  if (!from) return out;
  for (Node n : statement.children()) {
    if (n.field() != Field::k_name) continue;
    Member found = module_member(*from, dotted_text(n.is(Kind::k_aliased_import) ? n.child(Field::k_name) : n));
    if (found.presence == Presence::kNo) return Truth::kYes;
    const bool below = found.submodule && found.bindings.empty();  // its own import may fail
    if (found.presence == Presence::kUnknown || (below ? module_fails(found.submodule->name) != Truth::kNo : may_be_unbound(found))) out = Truth::kUnknown;
  }
  return out;
}

// In the body of a try statement that goes on without it: this statement, or an import before it, may raise.
bool Semantics::may_be_skipped(const Module& module, Node statement) {
  for (const Guard& g : guards_of(statement)) {
    if (g.kind == GuardKind::kFunctionBody) return true;  // `global x`: who calls the function is not known
    if (g.kind == GuardKind::kLoop) continue;
    if (g.kind != GuardKind::kTry) continue;
    Node handler = import_error_handler(g.node, true);
    if (!handler) continue;
    Node last;
    for (Node s : handler.child(Kind::k_block).children()) last = s;
    if (last && always_leaves(last)) continue;
    for (Node n : g.node.child(Field::k_body).descendants()) {
      if (n.id() > statement.id()) break;
      if (n.is_any(Kind::k_import_statement, Kind::k_import_from_statement) && import_fails(module, n) != Truth::kNo) return true;
    }
  }
  return false;
}

bool Semantics::may_be_unbound(const Member& member) {
  if (member.presence != Presence::kYes || !member.module || member.bindings.empty() || member.submodule) return false;
  const Module& module = *member.module;
  // Modules that import each other in try statements ask each other.
  Key key{&module, member.bindings.front()->node};
  if (!active_members_.insert(key).second) return false;
  bool out = std::all_of(member.bindings.begin(), member.bindings.end(), [&](const Binding* b) {
    Node statement = module.at(b->statement);
    return live(module, statement) == Truth::kUnknown || may_be_skipped(module, statement);
  });
  active_members_.erase(key);
  return out;
}

bool Semantics::evaluate_guards(const Module& module, Node node, Truth& alive, bool& types_only, bool& versions) {
  alive = Truth::kYes;
  types_only = versions = false;
  for (const Guard& g : guards_of(node)) {
    if (g.kind == GuardKind::kHandler) {
      Truth fails = Truth::kUnknown;
      // A handler of import errors alone runs only where one of the imports fails.
      if (import_error_handler(g.node.parent(), true) == g.node) {
        versions = true;
        if (handles_imports_only(g.node)) fails = some_import_fails(module, g.node.parent());
      }
      if (fails == Truth::kNo) alive = Truth::kNo;
      if (fails == Truth::kUnknown && alive == Truth::kYes) alive = Truth::kUnknown;
      continue;
    }
    if (g.kind != GuardKind::kCondition) continue;
    Truth t = condition(module, g.node);
    if (!g.negated && last_part(strip_parens(g.node).text()) == "TYPE_CHECKING") types_only = true;
    if (g.negated) t = !t;
    if (t == Truth::kNo) alive = Truth::kNo;
    if (t == Truth::kUnknown) {
      if (alive == Truth::kYes) alive = Truth::kUnknown;
      versions |= asks_for_version(g.node) || helper_asks_for_version(*this, module, g.node);
    }
  }
  return true;
}

Truth Semantics::live(const Module& module, Node node) {
  // All expressions of a statement without inner conditions share its guards.
  Node place = node;
  while (place.parent() && !place.parent().is_any(Kind::k_block, Kind::k_module, Kind::k_conditional_expression, Kind::k_boolean_operator,
                                                  Kind::k_if_statement, Kind::k_elif_clause, Kind::k_while_statement, Kind::k_list_comprehension,
                                                  Kind::k_set_comprehension, Kind::k_dictionary_comprehension, Kind::k_generator_expression)) {
    place = place.parent();
  }
  Key key{&module, place.id()};
  if (auto it = guards_.find(key); it != guards_.end()) return it->second.live;
  guards_[key] = {Truth::kUnknown, false, false};  // while it is being decided: a guard that depends on itself
  GuardState state{};
  evaluate_guards(module, place, state.live, state.types_only, state.versions);
  guards_[key] = state;
  return state.live;
}

bool Semantics::type_checking_only(const Module& module, Node node) {
  if (!module.mentions_type_checking) return false;
  for (const Guard& g : guards_of(node)) {
    if (g.kind == GuardKind::kCondition && !g.negated && last_part(strip_parens(g.node).text()) == "TYPE_CHECKING") return true;
  }
  return false;
}

bool Semantics::version_guarded(const Module& module, Node node) {
  Truth alive;
  bool types_only, versions;
  evaluate_guards(module, node, alive, types_only, versions);
  return versions;
}

}  // namespace assay
