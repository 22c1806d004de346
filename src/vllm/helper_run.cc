#include "vllm/helper_run.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/text.h"

namespace assay {

namespace {

constexpr int kMostSteps = 3000;   // statements and expressions of one run
constexpr int kMostCalls = 12;     // that wait for one another
constexpr size_t kMostItems = 64;  // of a list that is looped over

struct Env;

// What is known of a value.
struct Abstract {
  enum class Kind : uint8_t { kUnknown, kNone, kText, kBool, kPlace, kCode, kList };
  Kind kind = Kind::kUnknown;
  bool from_call = false;          // it owes something to the arguments of the call under examination
  bool truth = false;              // kBool
  std::string text;                // kText
  Place place;                     // kPlace
  const Module* module = nullptr;  // kCode; else where the expression stands that gave the value
  Node node;
  Env* closure = nullptr;       // kCode
  std::vector<Abstract> items;  // kList
};

struct Env {
  std::map<std::string, Abstract, std::less<>> names;
  Env* outer = nullptr;

  const Abstract* find(std::string_view name) const {
    for (const Env* e = this; e; e = e->outer) {
      if (auto it = e->names.find(name); it != e->names.end()) return &it->second;
    }
    return nullptr;
  }
};

Abstract text_of(std::string text) {
  Abstract out;
  out.kind = Abstract::Kind::kText;
  out.text = std::move(text);
  return out;
}

Abstract none() {
  Abstract out;
  out.kind = Abstract::Kind::kNone;
  return out;
}

class HelperRun {
 public:
  explicit HelperRun(Semantics& semantics) : semantics_(semantics) {}

  std::vector<AttributeSet> run(const Module& module, Node expression, Node definition) {
    Env* env = new_env(nullptr);
    top_ = true;
    Abstract result = eval(module, expression, env);
    if (definition && result.kind == Abstract::Kind::kCode) {
      Abstract decorated = code(module, definition, env);
      decorated.from_call = true;
      invoke(result, {decorated}, {});
    }
    if (steps_ > kMostSteps) found_.clear();
    return std::move(found_);
  }

 private:
  enum class Flow : uint8_t { kNext, kReturns, kLeaves };

  // Kept until the run ends: functions hold on to the names around them.
  Env* new_env(Env* outer) {
    envs_.emplace_back();
    envs_.back().outer = outer;
    return &envs_.back();
  }

  // --- values
  // --------------------------------------------------------------------------------------------------------
  Abstract code(const Module& module, Node definition, Env* closure) {
    Abstract out;
    out.kind = Abstract::Kind::kCode;
    out.module = &module;
    out.node = definition;
    out.closure = closure;
    return out;
  }

  Abstract of_place(Place place, const Module& module, Node node) {
    Abstract out;
    if (place) out.kind = Abstract::Kind::kPlace;
    out.place = std::move(place);
    out.module = &module;
    out.node = node;
    return out;
  }

  // What the engine knows of an expression that depends on nothing local.
  Abstract outside(const Module& module, Node node) {
    Values values = semantics_.infer(module, node);
    const Value* v = values.single();
    Abstract out;
    out.module = &module;
    out.node = node;
    if (!v) return of_place(place_of(semantics_, module, node), module, node);
    switch (v->kind) {
      case ValueKind::kString:
        out.kind = Abstract::Kind::kText;
        out.text = v->text;
        break;
      case ValueKind::kNone:
        out.kind = Abstract::Kind::kNone;
        break;
      case ValueKind::kBool:
        out.kind = Abstract::Kind::kBool;
        out.truth = v->number != 0;
        break;
      case ValueKind::kFunction:
        out = code(*v->module, v->definition(), nullptr);
        break;
      case ValueKind::kLiteral:
        return literal(*v->module, v->definition(), new_env(nullptr));
      case ValueKind::kExternal:
        out.kind = Abstract::Kind::kPlace;
        out.place.kind = PlaceKind::kObject;
        out.place.dotted = v->text;
        break;
      default:
        return of_place(place_of(semantics_, module, node), module, node);
    }
    return out;
  }

  Abstract literal(const Module& module, Node node, Env* env) {
    Abstract out;
    out.module = &module;
    out.node = node;
    if (!node.is_any(Kind::k_list, Kind::k_tuple, Kind::k_set, Kind::k_expression_list)) return out;
    out.kind = Abstract::Kind::kList;
    for (Node item : node.children()) {
      if (out.items.size() < kMostItems) out.items.push_back(eval(module, item, env));
    }
    for (const Abstract& item : out.items) out.from_call |= item.from_call;
    return out;
  }

  // --- expressions
  // ---------------------------------------------------------------------------------------------------
  Abstract eval(const Module& module, Node expression, Env* env) {
    Node e = strip_parens(expression);
    if (!e || ++steps_ > kMostSteps) return {};
    switch (e.kind()) {
      case Kind::k_identifier:
        return name(module, e, env);
      case Kind::k_call:
        return call(module, e, env);
      case Kind::k_attribute:
        return attribute(module, e, env);
      case Kind::k_string:
      case Kind::k_concatenated_string:
        return string(module, e, env);
      case Kind::k_none:
        return none();
      case Kind::k_list:
      case Kind::k_tuple:
      case Kind::k_set:
      case Kind::k_expression_list:
        return literal(module, e, env);
      case Kind::k_lambda:
        return code(module, e, env);
      case Kind::k_boolean_operator:
        return boolean(module, e, env);
      case Kind::k_binary_operator:
        return sum(module, e, env);
      case Kind::k_conditional_expression: {
        Truth t = truth(module, e.child_at(1), env);
        return t == Truth::kNo ? eval(module, e.child_at(2), env) : eval(module, e.child_at(0), env);
      }
      case Kind::k_named_expression: {
        Abstract v = eval(module, e.child(Field::k_value), env);
        env->names[std::string(e.child(Field::k_name).text())] = v;
        return v;
      }
      default:
        return outside(module, e);
    }
  }

  Abstract name(const Module& module, Node e, Env* env) {
    if (const Abstract* known = env->find(e.text())) return *known;
    return outside(module, e);
  }

  Abstract attribute(const Module& module, Node e, Env* env) {
    Abstract object = eval(module, e.child(Field::k_object), env);
    std::string_view attribute_name = e.child(Field::k_attribute).text();
    Abstract out = member(object, attribute_name);
    if (out.kind != Abstract::Kind::kUnknown || object.from_call) return out;
    return outside(module, e);
  }

  Abstract member(const Abstract& object, std::string_view attribute_name) {
    Abstract out;
    bool named = attribute_name == "__name__" || attribute_name == "__qualname__";
    if (object.kind == Abstract::Kind::kCode && named)
      out = text_of(std::string(object.node.child(Field::k_name).text()));
    if (object.kind == Abstract::Kind::kPlace) {
      if (named && object.place.kind == PlaceKind::kClass) {
        out = text_of(object.place.dotted.substr(object.place.dotted.rfind('.') + 1));
      } else if (named && object.place.kind == PlaceKind::kModule) {
        out = text_of(object.place.dotted);
      } else {
        out.place = member_place(semantics_, object.place, attribute_name);
        if (out.place) out.kind = Abstract::Kind::kPlace;
      }
    }
    out.from_call = object.from_call;
    return out;
  }

  Abstract string(const Module& module, Node e, Env* env) {
    std::string text;
    if (string_value(e, text)) return text_of(std::move(text));
    if (!e.is(Kind::k_string)) return {};
    // f"{package}.{name}": the pieces between the placeholders are text as it stands.
    Abstract out = text_of("");
    uint32_t at = static_cast<uint32_t>(e.text().find_first_of("'\"")) + e.start() + 1;
    std::string_view source = e.tree()->source();
    for (Node piece : e.children()) {
      if (!piece.is(Kind::k_interpolation)) return {};
      out.text += source.substr(at, piece.start() - at);
      Abstract value = eval(module, piece.first_child(), env);
      if (value.kind != Abstract::Kind::kText) return {};
      out.text += value.text;
      out.from_call |= value.from_call;
      at = piece.end();
    }
    out.text += source.substr(at, e.end() - at - 1);
    return out;
  }

  Abstract boolean(const Module& module, Node e, Env* env) {
    Abstract left = eval(module, e.child(Field::k_left), env);
    bool is_or = e.child(Field::k_operator).text() == "or";
    Truth t = truth_of_value(left);
    if (t == Truth::kUnknown && left.kind == Abstract::Kind::kUnknown)
      return eval(module, e.child(Field::k_right), env);
    return (t == Truth::kYes) == is_or ? left : eval(module, e.child(Field::k_right), env);
  }

  Abstract sum(const Module& module, Node e, Env* env) {
    Abstract a = eval(module, e.child(Field::k_left), env), b = eval(module, e.child(Field::k_right), env);
    if (a.kind != Abstract::Kind::kText || b.kind != a.kind || e.child(Field::k_operator).text() != "+")
      return {};
    a.text += b.text;
    a.from_call |= b.from_call;
    return a;
  }

  static Truth truth_of_value(const Abstract& v) {
    switch (v.kind) {
      case Abstract::Kind::kNone:
        return Truth::kNo;
      case Abstract::Kind::kText:
        return assay::truth_of(!v.text.empty());
      case Abstract::Kind::kBool:
        return assay::truth_of(v.truth);
      case Abstract::Kind::kList:
        return assay::truth_of(!v.items.empty());
      case Abstract::Kind::kPlace:
      case Abstract::Kind::kCode:
        return Truth::kYes;
      default:
        return Truth::kUnknown;
    }
  }

  Truth truth(const Module& module, Node condition, Env* env) {
    Node e = strip_parens(condition);
    if (e.is(Kind::k_not_operator)) return !truth(module, e.child(Field::k_argument), env);
    if (e.is(Kind::k_boolean_operator)) {
      Truth a = truth(module, e.child(Field::k_left), env);
      bool is_or = e.child(Field::k_operator).text() == "or";
      if (a == (is_or ? Truth::kYes : Truth::kNo)) return a;
      Truth b = truth(module, e.child(Field::k_right), env);
      return a == Truth::kUnknown && b != (is_or ? Truth::kYes : Truth::kNo) ? Truth::kUnknown : b;
    }
    if (e.is(Kind::k_comparison_operator)) return comparison(module, e, env);
    return truth_of_value(eval(module, e, env));
  }

  Truth comparison(const Module& module, Node e, Env* env) {
    if (e.child_count() != 3) return Truth::kUnknown;
    std::string_view op = e.child(Field::k_operators).text();
    Abstract a = eval(module, e.child_at(0), env), b = eval(module, e.child_at(2), env);
    using K = Abstract::Kind;
    if (a.kind == K::kUnknown || b.kind == K::kUnknown) return Truth::kUnknown;
    Truth out = Truth::kUnknown;
    bool negated = op == "!=" || op == "is not" || op == "not in";
    if (op == "in" || op == "not in") {
      if (a.kind == K::kText && b.kind == K::kText)
        out = assay::truth_of(b.text.find(a.text) != std::string::npos);
    } else if (a.kind == K::kNone || b.kind == K::kNone) {
      out = assay::truth_of(a.kind == b.kind);
    } else if (a.kind == K::kText && b.kind == K::kText) {
      out = assay::truth_of(a.text == b.text);
    }
    return negated ? !out : out;
  }

  // --- calls
  // ---------------------------------------------------------------------------------------------------------
  struct Arguments {
    std::vector<Abstract> positional;
    std::map<std::string, Abstract, std::less<>> named;
  };

  Arguments arguments(const Module& module, Node call_node, Env* env, bool own) {
    Arguments out;
    for (Node a : call_node.child(Field::k_arguments).children()) {
      if (a.is_any(Kind::k_list_splat, Kind::k_dictionary_splat)) continue;
      bool keyword = a.is(Kind::k_keyword_argument);
      Node value = keyword ? a.child(Field::k_value) : a;
      Abstract v = eval(module, value, env);
      if (!v.node) v.node = value, v.module = &module;
      v.from_call |= own;
      if (keyword)
        out.named[std::string(a.child(Field::k_name).text())] = v;
      else
        out.positional.push_back(v);
    }
    return out;
  }

  Abstract call(const Module& module, Node e, Env* env) {
    bool own = std::exchange(top_, false);
    Node function = e.child(Field::k_function);
    if (function.is(Kind::k_attribute) && !own) {
      Abstract object = eval(module, function.child(Field::k_object), env);
      if (object.kind == Abstract::Kind::kText)
        return text_method(object, function.child(Field::k_attribute).text(), e, module, env);
    }
    // patch("m", "n")(f): what the inner call gives is called with what the outer one passes.
    if (own && function.is(Kind::k_call)) top_ = true;
    Abstract callee = eval(module, function, env);
    top_ = false;
    Arguments given = arguments(module, e, env, own);
    if (callee.kind == Abstract::Kind::kCode) return invoke(callee, given.positional, given.named);
    return builtin(callee_name(module, function, callee), given);
  }

  std::string callee_name(const Module& module, Node function, const Abstract& callee) {
    if (callee.kind == Abstract::Kind::kPlace) return callee.place.dotted;
    Values values = semantics_.infer(module, function);
    const Value* v = values.single();
    return v && v->kind == ValueKind::kExternal ? std::string(v->text) : std::string();
  }

  Abstract text_method(const Abstract& text, std::string_view method, Node call_node, const Module& module,
                       Env* env) {
    Arguments given = arguments(module, call_node, env, false);
    const std::string* separator =
        given.positional.empty() || given.positional[0].kind != Abstract::Kind::kText
            ? nullptr
            : &given.positional[0].text;
    Abstract out;
    out.from_call = text.from_call;
    if (!separator || separator->empty()) return out;
    auto add = [&](std::string part) {
      out.items.push_back(text_of(std::move(part)));
      out.items.back().from_call = text.from_call;
    };
    bool last = method.starts_with("r");
    size_t at = last ? text.text.rfind(*separator) : text.text.find(*separator);
    if (method == "split" && given.positional.size() == 1 && separator->size() == 1) {
      for (std::string_view part : split(text.text, (*separator)[0])) add(std::string(part));
    } else if (method == "partition" || method == "rpartition") {
      bool found = at != std::string::npos;
      add(found ? text.text.substr(0, at) : last ? "" : text.text);
      add(found ? *separator : "");
      add(found ? text.text.substr(at + separator->size()) : last ? text.text : "");
    } else if (method == "split" || method == "rsplit") {
      add(text.text.substr(0, at));
      if (at != std::string::npos) add(text.text.substr(at + separator->size()));
    } else {
      return out;
    }
    out.kind = Abstract::Kind::kList;
    return out;
  }

  Abstract builtin(std::string_view called, const Arguments& given) {
    const auto& args = given.positional;
    Abstract out;
    for (const Abstract& a : args) out.from_call |= a.from_call;
    bool named = args.size() >= 2 && args[1].kind == Abstract::Kind::kText;
    if ((called == "builtins.getattr" || called == "inspect.getattr_static") && named) {
      Abstract found = member(args[0], args[1].text);
      found.from_call = out.from_call;
      return found;
    }
    bool imports = called == "importlib.import_module" || called == "builtins.__import__";
    if (imports && !args.empty() && args[0].kind == Abstract::Kind::kText) {
      out.place = place_of_dotted(semantics_, args[0].text);
      out.kind = Abstract::Kind::kPlace;
    } else if (called == "builtins.setattr" && args.size() == 3 && named) {
      pending_ = {args[0], args[1], args[2]};
    } else if (called == "builtins.isinstance" && args.size() == 2 && args[0].kind == Abstract::Kind::kText) {
      out.kind = Abstract::Kind::kBool;
      out.truth = args[1].place.dotted == "builtins.str";
    } else if ((called == "typing.cast" || called == "typing_extensions.cast") && args.size() == 2) {
      return args[1];
    } else if ((called == "functools.wraps" || called == "functools.partial") && !args.empty()) {
      return args[0];
    }
    return out;
  }

  Abstract invoke(const Abstract& function, const std::vector<Abstract>& positional,
                  const std::map<std::string, Abstract, std::less<>>& named) {
    Node definition = function.node;
    Abstract result;
    if (depth_ >= kMostCalls || !definition.is_any(Kind::k_function_definition, Kind::k_lambda))
      return result;
    Env* env = new_env(function.closure);
    Signature signature = signature_of(definition);
    size_t next = 0;
    for (const Parameter& p : signature.parameters) {
      Abstract& slot = env->names[std::string(p.name)];
      if (auto it = named.find(p.name); it != named.end()) {
        slot = it->second;
      } else if (p.is_positional() && next < positional.size()) {
        slot = positional[next++];
      } else if (p.default_value) {
        slot = eval(*function.module, p.default_value, new_env(nullptr));
      }
    }
    ++depth_;
    returned_.emplace_back();
    if (definition.is(Kind::k_lambda)) {
      result = eval(*function.module, definition.child(Field::k_body), env);
    } else {
      block(*function.module, definition.child(Field::k_body), env);
      result = returned_.back();
    }
    returned_.pop_back();
    --depth_;
    return result;
  }

  // Of several returns that may run, one that gives a function counts: a decorator's.
  void give_back(Abstract value) {
    Abstract& slot = returned_.back();
    if (slot.kind != Abstract::Kind::kCode || value.kind == Abstract::Kind::kCode) slot = std::move(value);
  }

  // --- statements
  // ----------------------------------------------------------------------------------------------------
  Flow block(const Module& module, Node body, Env* env) {
    for (Node s : body.children()) {
      if (++steps_ > kMostSteps) return Flow::kLeaves;
      Flow flow = statement(module, s, env);
      if (flow != Flow::kNext) return flow;
    }
    return Flow::kNext;
  }

  Flow statement(const Module& module, Node s, Env* env) {
    switch (s.kind()) {
      case Kind::k_expression_statement:
        expression(module, s, env);
        return Flow::kNext;
      case Kind::k_return_statement:
        give_back(eval(module, s.first_child(), env));
        flush(module, s);
        return Flow::kReturns;
      case Kind::k_raise_statement:
      case Kind::k_continue_statement:
      case Kind::k_break_statement:
        return Flow::kLeaves;
      case Kind::k_if_statement:
        return branch(module, s, env);
      case Kind::k_for_statement:
        return loop(module, s, env);
      case Kind::k_while_statement:
      case Kind::k_with_statement:
        block(module, s.child(Field::k_body), env);
        return Flow::kNext;
      case Kind::k_try_statement: {
        Flow flow = block(module, s.child(Field::k_body), env);
        for (Node clause : s.children()) {
          if (flow == Flow::kNext && clause.is(Kind::k_else_clause))
            flow = block(module, clause.child(Field::k_body), env);
        }
        return flow;
      }
      case Kind::k_function_definition:
        env->names[std::string(s.child(Field::k_name).text())] = code(module, s, env);
        return Flow::kNext;
      case Kind::k_decorated_definition:
        return statement(module, s.child(Field::k_definition), env);
      default:
        return Flow::kNext;
    }
  }

  void expression(const Module& module, Node s, Env* env) {
    for (Node e : s.children()) {
      if (e.is(Kind::k_assignment)) {
        Node right = e.child(Field::k_right);
        if (right.is(Kind::k_assignment)) right = right.child(Field::k_right);
        if (right) assign(module, e.child(Field::k_left), eval(module, right, env), env, s, right);
      } else {
        eval(module, e, env);
        flush(module, s);
      }
    }
  }

  void assign(const Module& module, Node target, Abstract value, Env* env, Node s, Node right) {
    if (target.is(Kind::k_identifier)) {
      env->names[std::string(target.text())] = value;
    } else if (target.is_any(Kind::k_pattern_list, Kind::k_tuple_pattern, Kind::k_list_pattern)) {
      size_t i = 0;
      for (Node t : target.children()) {
        bool known = value.kind == Abstract::Kind::kList && value.items.size() == target.child_count();
        assign(module, t, known ? value.items[i] : Abstract(), env, s, right);
        ++i;
      }
    } else if (target.is(Kind::k_attribute)) {
      if (!value.node) value.node = right, value.module = &module;
      set(eval(module, target.child(Field::k_object), env),
          text_of(std::string(target.child(Field::k_attribute).text())), value, module, s);
    }
  }

  Flow branch(const Module& module, Node s, Env* env) {
    Truth t = truth(module, s.child(Field::k_condition), env);
    Flow all = Flow::kLeaves;
    bool fell_through = true;
    if (t != Truth::kNo) {
      all = block(module, s.child(Field::k_consequence), env);
      if (t == Truth::kYes) return all;
    }
    for (Node clause : s.children()) {
      if (!clause.is_any(Kind::k_elif_clause, Kind::k_else_clause)) continue;
      Truth here =
          clause.is(Kind::k_else_clause) ? Truth::kYes : truth(module, clause.child(Field::k_condition), env);
      if (here == Truth::kNo) continue;
      Flow flow = block(
          module,
          clause.is(Kind::k_else_clause) ? clause.child(Field::k_body) : clause.child(Field::k_consequence),
          env);
      if (flow == Flow::kNext) all = Flow::kNext;
      if (here == Truth::kYes) {
        fell_through = false;
        if (t == Truth::kNo) return flow;
        break;
      }
    }
    // A branch that was only possible does not end the function.
    return fell_through || all == Flow::kNext ? Flow::kNext : all;
  }

  Flow loop(const Module& module, Node s, Env* env) {
    Abstract items = eval(module, s.child(Field::k_right), env);
    Node body = s.child(Field::k_body);
    if (items.kind != Abstract::Kind::kList) {
      assign(module, s.child(Field::k_left), {}, env, s, {});
      block(module, body, env);
      return Flow::kNext;
    }
    for (const Abstract& item : items.items) {
      assign(module, s.child(Field::k_left), item, env, s, {});
      if (block(module, body, env) == Flow::kReturns) return Flow::kReturns;
    }
    return Flow::kNext;
  }

  // --- what is set
  // ---------------------------------------------------------------------------------------------------
  void flush(const Module& module, Node s) {
    if (pending_.size() == 3) set(pending_[0], pending_[1], pending_[2], module, s);
    pending_.clear();
  }

  void set(const Abstract& owner, const Abstract& attribute_name, const Abstract& value, const Module& module,
           Node s) {
    // Objects of classes are not patched, they are used.
    bool place = owner.kind == Abstract::Kind::kPlace && owner.place.kind != PlaceKind::kInstance &&
                 (owner.place.kind != PlaceKind::kObject || !owner.place.cls);
    if (!place || attribute_name.kind != Abstract::Kind::kText || attribute_name.text.empty()) return;
    if (!owner.from_call && !attribute_name.from_call && !value.from_call) return;
    AttributeSet out;
    out.owner = owner.place;
    out.attribute = attribute_name.text;
    out.helper = &module;
    out.statement = s;
    out.module = value.module;
    out.value = value.node;
    found_.push_back(std::move(out));
  }

  Semantics& semantics_;
  std::deque<Env> envs_;
  std::vector<AttributeSet> found_;
  std::vector<Abstract> pending_;   // owner, name and value of a setattr in the statement at hand
  std::vector<Abstract> returned_;  // per call
  bool top_ = false;                // the call at hand is the one under examination
  int depth_ = 0;
  int steps_ = 0;
};

}  // namespace

std::vector<AttributeSet> attributes_set_by(Semantics& semantics, const Module& module, Node expression,
                                            Node definition) {
  return HelperRun(semantics).run(module, expression, definition);
}

}  // namespace assay
