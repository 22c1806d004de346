#include "vllm/helper_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "vllm/helper_values.h"

namespace assay {

namespace {

constexpr int kMostCalls = 12;  // that wait for one another

class HelperRun : public AbstractValues {
 public:
  explicit HelperRun(Semantics& semantics) : AbstractValues(semantics) {}

  std::vector<AttributeSet> run(const Module& module, Node expression, Node definition) {
    Env* env = new_env(nullptr);
    top_ = true;
    Abstract result = eval(module, expression, env);
    if (definition && result.kind == Abstract::Kind::kCode) {
      Abstract decorated = code(module, definition, env);
      decorated.from_call = true;
      invoke(result, {decorated}, {});
    }
    if (exhausted()) found_.clear();
    return std::move(found_);
  }

 private:
  enum class Flow : uint8_t { kNext, kReturns, kLeaves };

  // --- calls ---
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

  Abstract call(const Module& module, Node e, Env* env) override {
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
      out.items.push_back(abstract_text(std::move(part)));
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
    if (calls_ >= kMostCalls || !definition.is_any(Kind::k_function_definition, Kind::k_lambda))
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
    ++calls_;
    returned_.emplace_back();
    if (definition.is(Kind::k_lambda)) {
      result = eval(*function.module, definition.child(Field::k_body), env);
    } else {
      block(*function.module, definition.child(Field::k_body), env);
      result = returned_.back();
    }
    returned_.pop_back();
    --calls_;
    return result;
  }

  // Of several returns that may run, one that gives a function counts: a decorator's.
  void give_back(Abstract value) {
    Abstract& slot = returned_.back();
    if (slot.kind != Abstract::Kind::kCode || value.kind == Abstract::Kind::kCode) slot = std::move(value);
  }

  // --- statements ---
  Flow block(const Module& module, Node body, Env* env) {
    for (Node s : body.children()) {
      if (!step()) return Flow::kLeaves;
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
          abstract_text(std::string(target.child(Field::k_attribute).text())), value, module, s);
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

  // --- what is set ---
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

  std::vector<AttributeSet> found_;
  std::vector<Abstract> pending_;   // owner, name and value of a setattr in the statement at hand
  std::vector<Abstract> returned_;  // per call
  bool top_ = false;                // the call at hand is the one under examination
  int calls_ = 0;
};

}  // namespace

std::vector<AttributeSet> attributes_set_by(Semantics& semantics, const Module& module, Node expression,
                                            Node definition) {
  return HelperRun(semantics).run(module, expression, definition);
}

}  // namespace assay
