#include "rules/return_facts.h"

#include <algorithm>

namespace assay {
namespace {

constexpr int kDeepest = 3;  // functions that hand on what another returns

bool is_splat(Node n) { return n.is_any(Kind::k_list_splat, Kind::k_parenthesized_list_splat, Kind::k_list_splat_pattern); }

bool is_ellipsis_or_text(Node statement) {
  if (statement.is(Kind::k_pass_statement)) return true;
  Node e = statement.is(Kind::k_expression_statement) ? statement.first_child() : Node();
  return e.is_any(Kind::k_string, Kind::k_ellipsis, Kind::k_concatenated_string);
}

bool is_stub(Node function) {
  if (has_decorator(function, "abstractmethod")) return true;
  for (Node s : function.child(Field::k_body).children()) {
    if (is_ellipsis_or_text(s)) continue;
    if (s.is(Kind::k_raise_statement) && s.text().find("NotImplemented") != std::string_view::npos) continue;
    return false;
  }
  return true;
}

// Of a name: the tuples that it was assigned.
std::optional<uint32_t> inferred_arity(RuleContext& ctx, const Module& module, Node expression) {
  Values values = ctx.sem.infer(module, expression);
  std::optional<uint32_t> out;
  if (!values.known()) return {};
  for (const Value& v : values.list) {
    Node display = v.kind == ValueKind::kLiteral ? v.definition() : Node();
    if (!display.is(Kind::k_tuple)) return {};
    for (Node c : display.children()) {
      if (is_splat(c)) return {};
    }
    if (out && *out != display.child_count()) return {};
    out = display.child_count();
  }
  return out;
}

std::optional<uint32_t> result_arity(RuleContext& ctx, const Module& module, Node call, int depth) {
  if (depth >= kDeepest) return {};
  Values callees = ctx.sem.infer(module, call.child(Field::k_function));
  const Value* f = callees.single();
  if (!f || f->kind != ValueKind::kFunction || !f->definition().is(Kind::k_function_definition)) return {};
  if (f->bound != Bound::kNo && f->self) return {};  // a method: a subclass may give something else
  Node function = f->definition();
  const Module& home = *f->module;
  std::optional<uint32_t> out;
  bool any = false;
  for (Node n : function.child(Field::k_body).descendants()) {
    if (n.is(Kind::k_yield)) return {};
    if (!n.is(Kind::k_return_statement) || enclosing_function(home.scopes(), n) != function) continue;
    if (ctx.sem.live(home, n) == Truth::kNo) continue;
    auto one = tuple_arity(ctx, home, n.first_child(), depth + 1);
    if (!one || (any && one != out)) return {};
    out = one;
    any = true;
  }
  if (function.child(Kind::kAsync) || may_fall_through(function.child(Field::k_body))) return {};
  return out;
}

bool breaks_out(Node loop) {
  for (Node n : loop.child(Field::k_body).descendants()) {
    if (!n.is(Kind::k_break_statement)) continue;
    Node p = n.parent();
    while (!p.is_any(Kind::k_for_statement, Kind::k_while_statement)) p = p.parent();
    if (p == loop) return true;
  }
  return false;
}

bool try_falls_through(Node s) {
  Node last_of_body = s.child(Field::k_body), otherwise;
  for (Node c : s.children()) {
    if (c.is(Kind::k_finally_clause)) {
      if (!may_fall_through(c.child(Kind::k_block))) return false;
    } else if (c.is(Kind::k_else_clause)) {
      otherwise = c.child(Field::k_body);
    }
  }
  if (may_fall_through(last_of_body) && (!otherwise || may_fall_through(otherwise))) return true;
  for (Node c : s.children()) {
    if (c.is_any(Kind::k_except_clause, Kind::k_except_group_clause) && may_fall_through(c.child(Kind::k_block))) return true;
  }
  return false;
}

bool match_falls_through(Node s) {
  bool wildcard = false;
  for (Node c : s.child(Field::k_body).children()) {
    if (!c.is(Kind::k_case_clause)) continue;
    if (may_fall_through(c.child(Field::k_consequence))) return true;
    wildcard |= c.child(Kind::k_case_pattern).text() == "_";
  }
  return !wildcard;
}

bool if_falls_through(Node s) {
  if (may_fall_through(s.child(Field::k_consequence))) return true;
  bool otherwise = false;
  for (Node c : s.children()) {
    if (c.is(Kind::k_elif_clause) && may_fall_through(c.child(Field::k_consequence))) return true;
    if (!c.is(Kind::k_else_clause)) continue;
    otherwise = true;
    if (may_fall_through(c.child(Field::k_body))) return true;
  }
  return !otherwise;
}

bool statement_falls_through(Node s) {
  if (always_leaves(s)) return false;
  switch (s.kind()) {
    case Kind::k_with_statement: return may_fall_through(s.child(Field::k_body));
    case Kind::k_while_statement: return !s.child(Field::k_condition).is(Kind::k_true) || breaks_out(s);
    case Kind::k_try_statement: return try_falls_through(s);
    case Kind::k_match_statement: return match_falls_through(s);
    case Kind::k_if_statement: return if_falls_through(s);
    case Kind::k_assert_statement: return !s.first_child().is(Kind::k_false);
    case Kind::k_expression_statement: {
      Node call = s.first_child();
      std::string name = call.is(Kind::k_call) ? dotted_text(call.child(Field::k_function)) : std::string();
      return name.find("assert_never") == std::string::npos && name.find("unreachable") == std::string::npos &&
             name.find("fail") == std::string::npos && name.find("exit") == std::string::npos;
    }
    default: return true;
  }
}

}  // namespace

bool may_fall_through(Node block) {
  if (!block) return true;
  for (Node s : block.children()) {
    if (!statement_falls_through(s)) return false;
  }
  return true;
}

std::optional<uint32_t> tuple_arity(RuleContext& ctx, const Module& module, Node e, int depth) {
  if (!e) return {};
  if (e.is(Kind::k_parenthesized_expression)) return tuple_arity(ctx, module, e.first_child(), depth);
  if (e.is_any(Kind::k_tuple, Kind::k_expression_list)) {
    for (Node c : e.children()) {
      if (is_splat(c)) return {};
    }
    return e.child_count();
  }
  if (e.is(Kind::k_conditional_expression)) {
    auto a = tuple_arity(ctx, module, e.child_at(0), depth), b = tuple_arity(ctx, module, e.child_at(2), depth);
    return a == b ? a : std::nullopt;
  }
  if (e.is(Kind::k_call)) return result_arity(ctx, module, e, depth);
  if (!e.is(Kind::k_identifier)) return {};
  // The one assignment of a local name, followed to the call or display behind it.
  ScopeId scope = module.scopes().resolve(e.id(), e.text());
  if (scope != kNoScope && module.scopes().scopes()[scope].kind == ScopeKind::kFunction) {
    auto bindings = module.scopes().in_scope(scope, e.text());
    if (bindings.size() == 1 && bindings[0].kind == BindingKind::kAssign && bindings[0].node < e.id()) {
      Node statement = module.at(bindings[0].statement);
      bool whole = statement.child(Field::k_left) == module.at(bindings[0].node) && statement.is(Kind::k_assignment);
      if (whole) return tuple_arity(ctx, module, statement.child(Field::k_right), depth);
    }
  }
  return inferred_arity(ctx, module, e);
}

std::optional<uint32_t> annotated_arity(Node type) {
  std::string_view text = type.text();
  size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') return {};
  std::string_view head = text.substr(0, open);
  if (head != "tuple" && head != "Tuple" && head != "typing.Tuple") return {};
  uint32_t count = 1;
  int depth = 0;
  std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  for (size_t i = 0; i < inner.size(); ++i) {
    char c = inner[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') {
      if (--depth < 0) return {};  // tuple[A] | tuple[B]
    }
    if (c == '"' || c == '\'' || c == '#' || c == '*') return {};
    if (depth == 0 && c == '.' && inner.substr(i, 3) == "...") return {};
    if (depth == 0 && c == ',' && inner.find_first_not_of(" \t\r\n", i + 1) != std::string_view::npos) ++count;
  }
  if (inner == "()") return 0;
  return count;
}

Returns returns_of(RuleContext& ctx, const Module& module, Node function) {
  Returns out;
  Node body = function.child(Field::k_body);
  out.coroutine = static_cast<bool>(function.child(Kind::kAsync));
  out.stub = is_stub(function);
  out.every_arity_known = true;
  for (Node n : body.descendants()) {
    bool own = n.is_any(Kind::k_yield, Kind::k_return_statement) && enclosing_function(module.scopes(), n) == function;
    if (!own) continue;
    if (n.is(Kind::k_yield)) {
      out.generator = true;
      continue;
    }
    if (ctx.sem.live(module, n) == Truth::kNo) continue;
    Node value = n.first_child();
    if (!value || value.is(Kind::k_none)) {
      ++out.nones;
      continue;
    }
    if (++out.values == 1) out.first_value = value;
    auto arity = tuple_arity(ctx, module, value);
    if (!arity || (out.values > 1 && arity != out.arity)) out.every_arity_known = false;
    out.arity = arity;
  }
  if (out.values == 0) out.every_arity_known = false;
  if (!out.every_arity_known) out.arity.reset();
  out.falls_through = may_fall_through(body);
  for (Node s : body.children()) out.end = s;
  if (Node type = function.child(Field::k_return_type)) out.declared_arity = annotated_arity(type);
  return out;
}

Use use_of(Node call) {
  Use use;
  Node e = call;
  while (e.parent().is_any(Kind::k_parenthesized_expression, Kind::k_await)) {
    e = e.parent();
    use.awaited |= e.is(Kind::k_await);
  }
  Node p = e.parent();
  if (p.is(Kind::k_expression_statement)) {
    use.kind = Use::Kind::kIgnored;
  } else if (p.is(Kind::k_attribute) && e.field() == Field::k_object) {
    use.kind = Use::Kind::kAttribute;
  } else if (p.is(Kind::k_subscript) && e.field() == Field::k_value) {
    use.kind = Use::Kind::kSubscript;
  } else if (p.is_any(Kind::k_for_statement, Kind::k_for_in_clause) && e.field() == Field::k_right) {
    use.kind = Use::Kind::kIterated;
  } else if (p.is(Kind::k_assignment) && e.field() == Field::k_right) {
    Node left = p.child(Field::k_left);
    if (left.is_any(Kind::k_pattern_list, Kind::k_tuple_pattern, Kind::k_list_pattern)) {
      use.kind = Use::Kind::kUnpacked;
      use.count = left.child_count();
      for (Node c : left.children()) use.starred |= is_splat(c);
    } else {
      use.kind = Use::Kind::kOther;
    }
  } else {
    use.kind = Use::Kind::kOther;
  }
  return use;
}

}  // namespace assay
