// Expressions: names through the bindings that reach them, displays, operators.
#include <algorithm>
#include <charconv>

#include "project/semantics.h"

namespace assay {

namespace {
constexpr int kMostDepth = 60;  // of inference steps that wait for one another

Value external_instance(std::string_view cls) {
  Value v;
  v.kind = ValueKind::kExternalInstance;
  v.text = cls;
  return v;
}

// The innermost block (or module) around a binding or a use.
Node block_of(Node node) {
  Node p = enclosing_statement(node).parent();
  return p.is(Kind::k_decorated_definition) ? p.parent() : p;
}

// Whether two places are in different branches of one if or try statement, so that never both run in one pass.
bool exclusive(Node a, Node b) {
  for (Node x = a; x.parent(); x = x.parent()) {
    Node holder = x.parent();
    if (!holder.is_any(Kind::k_if_statement, Kind::k_conditional_expression)) continue;
    if (!holder.contains(b) || x.contains(b)) continue;
    Node other = b;
    while (other.parent() != holder) other = other.parent();
    bool branch_a = x.field() != Field::k_condition && (x.field() != Field::kNone || x.is_any(Kind::k_elif_clause, Kind::k_else_clause));
    bool branch_b = other.field() != Field::k_condition && (other.field() != Field::kNone || other.is_any(Kind::k_elif_clause, Kind::k_else_clause));
    return branch_a && branch_b && x != other;
  }
  return false;
}

bool share_loop(Node a, Node b) {
  for (Node p = a.parent(); p; p = p.parent()) {
    if (p.is_any(Kind::k_for_statement, Kind::k_while_statement) && p.contains(b)) return true;
    if (p.is_any(Kind::k_function_definition, Kind::k_class_definition)) return false;
  }
  return false;
}

}  // namespace

struct Semantics::Depth {
  explicit Depth(int& d) : depth(d) { ++depth; }
  ~Depth() { --depth; }
  bool exceeded() const { return depth > kMostDepth; }
  int& depth;
};

Values Semantics::infer(const Module& module, Node expression, const Frame* frame) {
  if (!expression) return Values::unknown("no expression");
  Depth guard(depth_);
  if (guard.exceeded()) return Values::unknown("too deep to follow");
  if (frame) return infer_uncached(module, expression, frame);
  Key key{&module, expression.id()};
  auto [it, fresh] = values_.try_emplace(key, Values::unknown("depends on itself"));
  if (!fresh) return it->second;
  Values result = infer_uncached(module, expression, nullptr);
  values_[key] = result;
  return result;
}

Values Semantics::infer_uncached(const Module& module, Node e, const Frame* frame) {
  switch (e.kind()) {
    case Kind::k_parenthesized_expression:
    case Kind::k_type: return infer(module, e.first_child(), frame);
    case Kind::k_identifier: return infer_name(module, e, frame);
    case Kind::k_attribute: {
      Values objects = infer(module, e.child(Field::k_object), frame);
      std::string_view name = e.child(Field::k_attribute).text();
      Values out;
      if (objects.open) out = Values::unknown(objects.reason);
      for (const Value& v : objects.list) {
        // An attribute of None raises: what goes on holds one of the other alternatives.
        if (v.kind == ValueKind::kNone && objects.list.size() > 1) continue;
        out.merge(attribute(v, name));
      }
      return narrowed(module, e, std::move(out));
    }
    case Kind::k_call: {
      Node callee_node = e.child(Field::k_function);
      if (callee_node.is(Kind::k_identifier) && callee_node.text() == "super") return super_value(module, e, frame);
      Values callees = infer(module, callee_node, frame);
      Values out;
      if (callees.open) out = Values::unknown(callees.reason);
      for (const Value& v : callees.list) out.merge(call_result(v, module, e, frame));
      // What the plugin's own platform class does not say, the catalog may.
      bool decided = !out.open && std::all_of(out.list.begin(), out.list.end(), [](const Value& v) { return v.kind != ValueKind::kExternalInstance; });
      if (!decided) {
        if (Values platform = platform_call(module, e); !platform.open) return platform;
      }
      return out;
    }
    case Kind::k_string:
    case Kind::k_concatenated_string:
    case Kind::k_integer:
    case Kind::k_float:
    case Kind::k_true:
    case Kind::k_false:
    case Kind::k_none:
    case Kind::k_tuple:
    case Kind::k_expression_list:
    case Kind::k_list:
    case Kind::k_set:
    case Kind::k_dictionary: return infer_literal(module, e);
    case Kind::k_list_comprehension: return Values::of(external_instance("builtins.list"));
    case Kind::k_lambda: {
      Value v;
      v.kind = ValueKind::kFunction;
      v.module = &module;
      v.node = e.id();
      return Values::of(v);
    }
    case Kind::k_function_definition:
    case Kind::k_class_definition: {
      Value v;
      v.kind = e.is(Kind::k_class_definition) ? ValueKind::kClass : ValueKind::kFunction;
      v.module = &module;
      v.node = e.id();
      return decorated(module, e, v);
    }
    case Kind::k_named_expression: return infer(module, e.child(Field::k_value), frame);
    case Kind::k_conditional_expression: {
      Truth t = condition(module, e.child_at(1), frame);
      if (t == Truth::kYes) return infer(module, e.child_at(0), frame);
      if (t == Truth::kNo) return infer(module, e.child_at(2), frame);
      Values out = infer(module, e.child_at(0), frame);
      out.merge(infer(module, e.child_at(2), frame));
      return out;
    }
    case Kind::k_not_operator:
    case Kind::k_comparison_operator: {
      Truth t = condition(module, e, frame);
      if (t == Truth::kUnknown) return Values::unknown("condition not decided");
      return Values::of(bool_value(t == Truth::kYes));
    }
    case Kind::k_boolean_operator:
    case Kind::k_binary_operator:
    case Kind::k_unary_operator: return infer_operator(module, e, frame);
    case Kind::k_subscript:
    case Kind::k_generic_type: return infer_subscript(module, e, frame);
    default: return Values::unknown("expression not followed");
  }
}

// Which bindings of a name can be what a use sees: textually before it (or in a loop with it), not in another branch,
// and not hidden by a later one that certainly ran.
std::vector<const Binding*> Semantics::reaching(const Module& module, std::span<const Binding> all, Node use, bool same_scope, bool for_types) {
  std::vector<const Binding*> out;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const Binding& b = *it;
    if (b.kind == BindingKind::kAnnotation || b.kind == BindingKind::kDelete || b.kind == BindingKind::kGlobal || b.kind == BindingKind::kNonlocal) continue;
    Node place = module.at(b.node);
    Node statement = module.at(b.statement);
    if (same_scope && b.kind != BindingKind::kParameter) {
      bool before = b.statement < use.id() && !statement.contains(use);
      if (b.kind == BindingKind::kFor && statement.contains(use)) before = true;
      if (b.kind == BindingKind::kWith || b.kind == BindingKind::kExcept || b.kind == BindingKind::kWalrus || b.kind == BindingKind::kMatch) before = b.node < use.id();
      if (!before && !(share_loop(place, use) && !statement.contains(use))) continue;
      if (exclusive(place, use)) continue;
    }
    if (!for_types && type_checking_only(module, place)) continue;
    if (live(module, place) == Truth::kNo && !(for_types && type_checking_only(module, place))) continue;
    out.push_back(&b);
    if (b.kind == BindingKind::kParameter || b.kind == BindingKind::kAugmented) continue;
    // `global x` in some function: when that runs is not known.
    if (b.scope == kModuleScope && enclosing_function(module.scopes(), place)) continue;
    Node block = block_of(statement);
    bool certain = same_scope ? block.contains(use) && b.statement < use.id() : block.is(Kind::k_module) || block.parent().is_any(Kind::k_class_definition, Kind::k_function_definition);
    if (certain && b.kind != BindingKind::kFor) break;
  }
  return out;
}

Values Semantics::infer_name(const Module& module, Node name, const Frame* frame) {
  std::string_view text = name.text();
  const ModuleScopes& scopes = module.scopes();
  ScopeId holder = scopes.resolve(name.id(), text);
  if (holder == kNoScope) {
    Member member = module_member(module, text);  // star imports
    if (member.presence == Presence::kYes) return values_of(member);
    if (member.presence == Presence::kUnknown && !externals_.builtins.count(text)) return Values::unknown(member.reason);
    if (externals_.builtins.count(text)) return Values::of(external_value(project_.intern("builtins." + std::string(text))));
    return Values::unknown("undefined name");
  }
  if (frame && scopes.scopes()[holder].kind != ScopeKind::kModule) {
    auto it = frame->arguments.find(text);
    bool is_parameter = false;
    for (const Binding& b : scopes.in_scope(holder, text)) is_parameter |= b.kind == BindingKind::kParameter;
    if (it != frame->arguments.end() && is_parameter) return it->second;
  }
  bool same_scope = scopes.scope_of(name.id()) == holder;
  bool function_scope = scopes.scopes()[holder].kind != ScopeKind::kModule;
  if (scopes.in_scope(holder, text).size() > kMostBindings) return Values::unknown("bound too many times");
  auto bindings = reaching(module, scopes.in_scope(holder, text), name, same_scope, false);
  if (bindings.empty()) {
    if (holder == kModuleScope) {
      Member member = module_member(module, text);
      if (member.presence == Presence::kYes) return values_of(member);
    }
    return Values::unknown("no assignment reaches it");
  }
  Values out;
  for (const Binding* b : bindings) out.merge(infer_binding(module, *b, frame));
  if (holder == kModuleScope) {
    if (const auto* patches = patches_.find(&module, kNoNode, text)) {
      for (const Patch& p : *patches) out.merge(p.value ? infer(*p.module, p.value) : Values::unknown("patched"));
    }
  }
  return function_scope || holder == kModuleScope ? narrowed(module, name, std::move(out)) : out;
}

Values Semantics::infer_binding(const Module& module, const Binding& b, const Frame* frame) {
  Depth guard(depth_);
  if (guard.exceeded()) return Values::unknown("too deep to follow");
  Node node = module.at(b.node);
  switch (b.kind) {
    case BindingKind::kImport:
    case BindingKind::kFromImport: return infer_import(module, b);
    case BindingKind::kFunction:
    case BindingKind::kClass: return infer(module, node);
    case BindingKind::kWalrus: return infer(module, module.at(b.statement).child(Field::k_value), frame);
    case BindingKind::kParameter: return infer_parameter(module, b, frame);
    case BindingKind::kAssign: {
      Node statement = module.at(b.statement);
      Node target = statement.child(Field::k_left);
      if (Node type = statement.child(Field::k_type)) {
        Values declared = infer_annotation(module, type);
        Values value = infer(module, statement.child(Field::k_right), frame);
        if (value.known() && value.list[0].kind != ValueKind::kNone) return value;
        return declared.list.empty() ? value : declared;
      }
      if (target.is(Kind::k_identifier)) {
        Node value = statement.child(Field::k_right);
        while (value.is(Kind::k_assignment)) value = value.child(Field::k_right);
        return infer(module, value, frame);
      }
      // a, b = x, y
      Node value = strip_parens(statement.child(Field::k_right));
      if (target.is_any(Kind::k_pattern_list, Kind::k_tuple_pattern) && value.is_any(Kind::k_expression_list, Kind::k_tuple) &&
          target.child_count() == value.child_count()) {
        uint32_t i = 0;
        for (Node t : target.children()) {
          if (t == node) return infer(module, value.child_at(i), frame);
          ++i;
        }
      }
      return unpacked(module, target, node, value, frame);
    }
    case BindingKind::kWith: {
      Node value = module.at(b.statement).first_child();
      Values managers = infer(module, value, frame), out;
      for (const Value& v : managers.list) {
        if (v.kind != ValueKind::kInstance) return Values::unknown("context manager");
        Member enter = class_member(v.class_ref(), "__enter__");
          if (enter.presence != Presence::kYes || enter.bindings.empty()) return Values::unknown("context manager");
        Node function = enter.module->at(enter.bindings.back()->node);
        Node type = function.child(Field::k_return_type);
        if (!type) return Values::unknown("context manager");
        out.merge(infer_annotation(*enter.module, type));
      }
      if (managers.open || out.list.empty()) return Values::unknown("context manager");
      return out;
    }
    case BindingKind::kAugmented: return Values::unknown("augmented assignment");
    case BindingKind::kFor: return Values::unknown("loop variable");
    case BindingKind::kExcept: return Values::unknown("exception object");
    default: return Values::unknown("binding not followed");
  }
}

// a, b = f(), where all that f returns are tuples written down.
Values Semantics::unpacked(const Module& module, Node targets, Node target, Node value, const Frame* frame) {
  if (!targets.is_any(Kind::k_pattern_list, Kind::k_tuple_pattern) || !value.is(Kind::k_call)) return Values::unknown("unpacked");
  uint32_t at = 0;
  while (at < targets.child_count() && targets.child_at(at) != target) ++at;
  Values tuples = infer(module, value, frame), out;
  if (!tuples.known()) return Values::unknown("unpacked");
  for (const Value& v : tuples.list) {
    bool fits = v.kind == ValueKind::kLiteral && v.definition().is_any(Kind::k_tuple, Kind::k_expression_list) && v.definition().child_count() == targets.child_count();
    if (!fits) return Values::unknown("unpacked");
    out.merge(infer(*v.module, v.definition().child_at(at)));
  }
  return out;
}

Values Semantics::infer_import(const Module& module, const Binding& b) {
  Node clause = module.at(b.node);
  Node statement = module.at(b.statement);
  if (statement.is(Kind::k_future_import_statement)) return Values::of(external_value("__future__"));
  Node name = clause.is(Kind::k_aliased_import) ? clause.child(Field::k_name) : clause;
  std::string dotted = dotted_text(name);
  if (b.kind == BindingKind::kImport) {
    std::string bound = clause.is(Kind::k_aliased_import) ? dotted : dotted.substr(0, dotted.find('.'));
    if (const Module* m = project_.find_loaded(bound)) return Values::of(module_value(*m));
    if (project_.owns(bound)) return Values::unknown("missing module");
    return Values::of(external_value(project_.intern(bound)));
  }
  std::string source = imported_module_name(module, statement.child(Field::k_module_name));
  const Module* from = project_.find_loaded(source);
  if (!from) {
    if (source.empty() || project_.owns(source)) return Values::unknown("missing module");
    return Values::of(external_value(project_.intern(source + "." + dotted)));
  }
  auto special = environment_.instances.find(source + "." + dotted);
  if (special != environment_.instances.end()) return special->second;
  Member member = module_member(*from, dotted);
  if (member.presence == Presence::kNo) return Values::unknown("missing symbol");
  if (member.presence == Presence::kUnknown) return Values::unknown(member.reason);
  return values_of(member);
}

Values Semantics::infer_parameter(const Module& module, const Binding& b, const Frame* frame) {
  Node parameter = module.at(b.statement);
  Node function = parameter.parent().parent();
  if (frame) {
    auto it = frame->arguments.find(b.name);
    if (it != frame->arguments.end()) return it->second;
  }
  if (function.is(Kind::k_function_definition) && first_parameter(function) == b.name) {
    Node owner = enclosing_class(module.scopes(), function);
    if (owner && module.scopes().scopes()[module.scopes().scope_of(function.id())].kind == ScopeKind::kClass) {
      ClassRef ref = frame && frame->self ? frame->self : ClassRef{&module, owner.id()};
      bool cls = has_decorator(function, "classmethod") || function.child(Field::k_name).text() == "__new__" ||
                 function.child(Field::k_name).text() == "__init_subclass__" || function.child(Field::k_name).text() == "__class_getitem__";
      Value v = cls ? class_value(ref) : instance_value(ref);
      v.declared = true;
      return Values::of(v);
    }
  }
  if (Values settled = settled_argument(module, function, b.name); !settled.open) return settled;
  if (parameter.is(Kind::k_list_splat_pattern) || parameter.is(Kind::k_dictionary_splat_pattern)) return Values::unknown("collected arguments");
  if (parameter.is(Kind::k_typed_parameter) && !parameter.first_child().is(Kind::k_identifier)) return Values::unknown("collected arguments");
  if (Node type = parameter.child(Field::k_type)) {
    Values v = infer_annotation(module, type);
    if (!v.list.empty()) return v;
    return Values::unknown(*v.reason ? v.reason : "parameter");
  }
  return Values::unknown("parameter without annotation");
}

Values Semantics::infer_literal(const Module& module, Node e) {
  Value v;
  std::string text;
  switch (e.kind()) {
    case Kind::k_string:
    case Kind::k_concatenated_string:
      if (string_value(e, text)) return Values::of(string_constant(project_.intern(text)));
      v.kind = ValueKind::kExternalInstance;
      v.text = e.text().substr(0, 1) == "b" ? "builtins.bytes" : "builtins.str";
      return Values::of(v);
    case Kind::k_integer: {
      int64_t number = 0;
      std::string_view digits = e.text();
      auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc() || end != digits.data() + digits.size()) {
        v.kind = ValueKind::kExternalInstance;
        v.text = "builtins.int";
        return Values::of(v);
      }
      return Values::of(integer_value(number));
    }
    case Kind::k_float:
      v.kind = ValueKind::kExternalInstance;
      v.text = "builtins.float";
      return Values::of(v);
    case Kind::k_true: return Values::of(bool_value(true));
    case Kind::k_false: return Values::of(bool_value(false));
    case Kind::k_none: return Values::of(v);
    default:
      v.kind = ValueKind::kLiteral;
      v.module = &module;
      v.node = e.id();
      return Values::of(v);
  }
}

Values Semantics::infer_operator(const Module& module, Node e, const Frame* frame) {
  std::string_view op = e.child(Field::k_operator).text();
  if (e.is(Kind::k_unary_operator)) {
    Values operand = infer(module, e.child(Field::k_argument), frame);
    const Value* v = operand.single();
    if (v && op == "-" && v->kind == ValueKind::kInteger) return Values::of(integer_value(-v->number));
    return Values::unknown("operator not evaluated");
  }
  Node left_node = e.child(Field::k_left), right_node = e.child(Field::k_right);
  Values left = infer(module, left_node, frame);
  if (e.is(Kind::k_boolean_operator)) {
    bool is_or = op == "or";
    Values out;
    bool right_needed = left.open;
    for (const Value& v : left.list) {
      Truth t = truthiness(v);
      bool stops = is_or ? t == Truth::kYes : t == Truth::kNo;
      bool goes_on = is_or ? t == Truth::kNo : t == Truth::kYes;
      if (!goes_on) out.add(v);
      right_needed |= !stops;
    }
    if (left.open) out.open = true, out.reason = left.reason;
    if (right_needed) out.merge(infer(module, right_node, frame));
    // `unknown and False` is some false value.
    if (Truth t = out.open ? condition(module, e, frame) : Truth::kUnknown; t != Truth::kUnknown) return Values::of(bool_value(t == Truth::kYes));
    return out;
  }
  Values right = infer(module, right_node, frame);
  const Value* a = left.single();
  const Value* b = right.single();
  if (a && b && op == "+" && a->kind == ValueKind::kString && b->kind == ValueKind::kString) {
    return Values::of(string_constant(project_.intern(std::string(a->text) + std::string(b->text))));
  }
  if (a && b && a->kind == ValueKind::kInteger && b->kind == ValueKind::kInteger) {
    int64_t result = 0;
    bool fine = op == "+" ? !__builtin_add_overflow(a->number, b->number, &result)
                : op == "-" ? !__builtin_sub_overflow(a->number, b->number, &result)
                : op == "*" ? !__builtin_mul_overflow(a->number, b->number, &result) : false;
    if (fine) return Values::of(integer_value(result));
  }
  return Values::unknown("operator not evaluated");
}

Values Semantics::infer_subscript(const Module& module, Node e, const Frame* frame) {
  Node object = e.is(Kind::k_generic_type) ? e.first_child() : e.child(Field::k_value);
  Values objects = infer(module, object, frame);
  Values out;
  if (objects.open) out = Values::unknown(objects.reason);
  Node index_node = e.child(Field::k_subscript);
  for (const Value& v : objects.list) {
    if (v.kind == ValueKind::kClass && !is_enum(v.class_ref())) {
      out.add(v);  // a parametrised generic is its class
      continue;
    }
    if (v.kind == ValueKind::kFunction) {
      bool triton = false;
      for (Node d : decorators_of(v.definition())) triton |= decorator_name(d).find("jit") != std::string::npos;
      Value kernel = v;
      kernel.kernel = true;
      if (triton) out.add(kernel);
      else out.merge(Values::unknown("subscript of a function"));
      continue;
    }
    if (v.kind == ValueKind::kExternalInstance && v.text == "builtins.list" && index_node.is(Kind::k_slice)) {
      out.add(v);
      continue;
    }
    if (v.kind == ValueKind::kClass) {  // Enum["MEMBER"]
      const Value* name = nullptr;
      Values index = infer(module, index_node, frame);
      name = index.single();
      if (name && name->kind == ValueKind::kString) {
        out.merge(attribute(v, name->text));
        continue;
      }
    }
    if (v.kind != ValueKind::kLiteral) {
      out.merge(Values::unknown("subscript not followed"));
      continue;
    }
    Values index = infer(module, index_node, frame);
    const Value* key = index.single();
    Node literal = v.definition();
    bool found = false;
    if (key && literal.is(Kind::k_dictionary)) {
      for (Node pair : literal.children()) {
        if (!pair.is(Kind::k_pair)) continue;
        Values k = infer(*v.module, pair.child(Field::k_key));
        if (k.single() && equal(*k.single(), *key) == Truth::kYes) {
          out.merge(infer(*v.module, pair.child(Field::k_value)));
          found = true;
        }
      }
    } else if (key && key->kind == ValueKind::kInteger && key->number >= 0 && literal.is_any(Kind::k_tuple, Kind::k_list, Kind::k_expression_list)) {
      Node item = literal.child_at(static_cast<uint32_t>(std::min<int64_t>(key->number, 1 << 20)));
      if (item && !item.is(Kind::k_list_splat)) {
        out.merge(infer(*v.module, item));
        found = true;
      }
    }
    if (!found) out.merge(Values::unknown("subscript not followed"));
  }
  return out;
}

// What decorators make of a function or class.
Values Semantics::decorated(const Module& module, Node definition, Value value) {
  for (Node d : decorators_of(definition)) {
    std::string name = decorator_name(d);
    std::string last = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    if (last == "staticmethod" || last == "classmethod" || last == "property" || last == "cached_property" || last == "setter" ||
        last == "getter" || last == "deleter" || externals_.transparent_decorators.count(last)) {
      continue;
    }
    // A kernel: `kernel[grid](…)` takes its parameters (see callable), a plain call of it is not followed.
    if (name.rfind("triton.", 0) == 0 && (last == "jit" || last == "autotune" || last == "heuristics")) continue;
    // Registries hand on what they register: a function of ours whose every return gives its argument back.
    if (last.rfind("register", 0) == 0) continue;
    Node callee = d.is(Kind::k_call) ? d.child(Field::k_function) : d;
    Values deco = infer(module, callee);
    const Value* f = deco.single();
    bool passes = false;
    if (f && f->kind == ValueKind::kFunction) {
      Node function = f->definition();
      // A decorator (or the inner function of a decorator factory) that returns its own argument.
      for (Node n : function.descendants()) {
        if (!n.is(Kind::k_return_statement)) continue;
        Node returned = n.first_child();
        Node inner = enclosing_function(f->module->scopes(), n);
        if (returned.is(Kind::k_identifier) && inner) {
          Node p = inner.child(Field::k_parameters).first_child();
          if (p && (p.text() == returned.text() || p.first_child().text() == returned.text())) passes = true;
        }
      }
    }
    if (!passes) {
      if (definition.is(Kind::k_class_definition)) continue;  // class decorators nearly always return the class
      return Values::unknown("decorated in a way that is not known");
    }
  }
  return Values::of(value);
}

}  // namespace assay
