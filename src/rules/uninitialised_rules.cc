// uninitialised-state: a constructor that passes by the constructor of a base, where an inherited method reads what only
// that one sets.
#include <algorithm>
#include <map>
#include <set>

#include "rules/object_facts.h"
#include "rules/rules.h"
#include "rules/text_search.h"

namespace assay {
namespace {

struct MethodRef {
  ClassRef owner;
  Node function;
  auto operator<=>(const MethodRef& o) const { return std::make_pair(owner, function.id()) <=> std::make_pair(o.owner, o.function.id()); }
  bool operator==(const MethodRef& o) const { return owner == o.owner && function == o.function; }
};

Node own_function(ClassRef cls, std::string_view name) {
  ScopeId scope = cls.module->scopes().scope_opened_by(cls.node);
  if (scope == kNoScope) return {};
  Node out;
  for (const Binding& b : cls.module->scopes().in_scope(scope, name)) {
    if (b.kind == BindingKind::kFunction) out = cls.module->at(b.node);
  }
  return out;
}

// The constructors of one class and which of them run.
class Construction {
 public:
  Construction(RuleContext& ctx, ClassRef cls) : ctx_(ctx), info_(ctx.sem.class_info(cls)) {}

  // False where it can't be told which constructors run.
  bool trace() {
    if (!info_.complete || !info_.consistent || answers_any_name()) return false;
    Node init = own_function(info_.ref, "__init__");
    if (!init || !follow({info_.ref, init})) return false;
    for (const MroEntry& e : info_.mro) {
      if (!e.ref) continue;
      Node f = own_function(e.ref, "__init__");
      if (f && !running_.count({e.ref, f})) skipped_.insert({e.ref, f});
    }
    if (skipped_.empty() || !by_name_) return false;
    helpers_of_skipped();
    return true;
  }

  // `name` is set by what is passed by and by nothing else; gives the place.
  bool set_only_there(std::string_view name, MethodRef& where, Node& write) const {
    bool found = false;
    for (const MroEntry& e : info_.mro) {
      if (!e.ref) continue;
      auto [first, last] = ctx_.sem.class_info(e.ref).facts->writes.equal_range(name);
      for (auto it = first; it != last; ++it) {
        MethodRef m{e.ref, it->second.method};
        if (!passed_by(m)) return false;
        if (!found) where = m, write = it->second.target;
        found = true;
      }
    }
    return found;
  }

  bool passed_by(const MethodRef& m) const { return skipped_.count(m) || helpers_.count(m); }
  const std::set<MethodRef>& skipped() const { return skipped_; }
  Node jump() const { return jump_; }  // the call that passes a constructor by
  const ClassInfo& info() const { return info_; }
  std::set<std::string_view> names_set() const {
    std::set<std::string_view> out;
    for (const MroEntry& e : info_.mro) {
      if (!e.ref) continue;
      for (const auto& [name, write] : ctx_.sem.class_info(e.ref).facts->writes) {
        if (passed_by({e.ref, write.method})) out.insert(name);
      }
    }
    return out;
  }

 private:
  static bool passes(Node call, std::string_view self) {
    for (Node a : call.child(Field::k_arguments).children()) {
      if (a.text() == self || (a.is(Kind::k_keyword_argument) && a.child(Field::k_value).text() == self)) return true;
    }
    return false;
  }

  // setattr with computed names may stand in the classes: what is looked at here has a plain assignment, which is skipped.
  bool answers_any_name() const {
    return std::any_of(info_.mro.begin(), info_.mro.end(), [](const MroEntry& e) {
      return e.ref && (own_function(e.ref, "__getattr__") || own_function(e.ref, "__getattribute__"));
    });
  }

  bool follow(const MethodRef& m) {
    if (!running_.insert(m).second) return true;
    std::string_view self = first_parameter(m.function);
    for (Node n : m.function.child(Field::k_body).descendants()) {
      if (!n.is(Kind::k_call)) continue;
      Node callee = n.child(Field::k_function);
      if (!callee.is(Kind::k_attribute) || callee.child(Field::k_attribute).text() != "__init__") continue;
      if (!follow_call(m, callee.child(Field::k_object), n, self)) return false;
    }
    return true;
  }

  bool follow_call(const MethodRef& from, Node object, Node call, std::string_view self) {
    Member next;
    if (object.is(Kind::k_call) && object.child(Field::k_function).text() == "super") {
      ClassRef after = from.owner;
      Node arguments = object.child(Field::k_arguments);
      if (Node first = arguments.first_child()) {
        Values v = ctx_.sem.infer(*from.owner.module, first);
        const Value* c = v.single();
        if (!c || c->kind != ValueKind::kClass || !info_.derives_from(c->class_ref())) return false;
        after = c->class_ref();
        if (after != from.owner && from.owner == info_.ref) by_name_ = true, jump_ = call;
      }
      next = ctx_.sem.class_member(info_.ref, "__init__", after);
    } else {
      if (!passes(call, self)) return true;  // of another object
      Values v = ctx_.sem.infer(*from.owner.module, object);
      const Value* c = v.single();
      if (!c) return false;
      if (c->kind == ValueKind::kExternal) {
        if (from.owner == info_.ref) by_name_ = true, jump_ = call;
        return true;
      }
      if (c->kind != ValueKind::kClass || !info_.derives_from(c->class_ref())) return false;
      next = ctx_.sem.class_member(c->class_ref(), "__init__");
      if (from.owner == info_.ref) by_name_ = true, jump_ = call;
    }
    if (!next.owner) return next.presence == Presence::kYes;  // an external constructor ends the chain
    Node f = own_function(next.owner, "__init__");
    return f && follow({next.owner, f});
  }

  // Methods that only constructors that are passed by call.
  void helpers_of_skipped() {
    std::set<std::string_view> called;
    for (const MethodRef& m : skipped_) {
      std::string_view self = first_parameter(m.function);
      for (Node n : m.function.child(Field::k_body).descendants()) {
        Node callee = n.is(Kind::k_call) ? n.child(Field::k_function) : Node();
        if (callee.is(Kind::k_attribute) && callee.child(Field::k_object).text() == self) called.insert(callee.child(Field::k_attribute).text());
      }
    }
    for (std::string_view name : called) {
      Member m = ctx_.sem.class_member(info_.ref, name);
      Node f = m.owner ? own_function(m.owner, name) : Node();
      if (f && !mentioned_elsewhere(name, m.owner)) helpers_.insert({m.owner, f});
    }
  }

  // Some text other than the skipped constructors names the method.
  bool mentioned_elsewhere(std::string_view name, ClassRef) const {
    bool elsewhere = false;
    for (const SourceTree* tree : {&ctx_.target, &ctx_.plugin}) {
      each_word(*tree, ctx_.project(), name, [&](const Module& m, std::string_view text, size_t at) {
        if (at >= 4 && text.substr(at - 4, 4) == "def ") return true;
        for (const MethodRef& s : skipped_) {
          if (s.owner.module == &m && at >= s.function.start() && at < s.function.end()) return true;
        }
        // Another class may have a method of the name: only calls on self of related classes, or on anything else, count.
        ctx_.project().load(m);
        for (Node c : m.root().descendants()) {
          if (!c.is(Kind::k_class_definition) || at < c.start() || at >= c.end()) continue;
          const ClassInfo& other = ctx_.sem.class_info({&m, c.id()});
          bool related = other.derives_from(info_.ref) || info_.derives_from(other.ref);
          if (!related && at >= 5 && text.substr(at - 5, 5) == "self.") return true;
        }
        elsewhere = true;
        return false;
      });
    }
    return elsewhere;
  }

  RuleContext& ctx_;
  const ClassInfo& info_;
  std::set<MethodRef> running_, skipped_, helpers_;
  bool by_name_ = false;  // a constructor is passed by on purpose: super(Base, self), Other.__init__(self)
  Node jump_;
};

struct Reading {
  ClassRef owner;
  Node function, read;
  std::string how;
};

bool is_unguarded(Node read) {
  for (const Guard& g : guards_of(read)) {
    if (g.kind == GuardKind::kFunctionBody) return true;
    if (g.kind == GuardKind::kCondition || g.kind == GuardKind::kTry || g.kind == GuardKind::kHandler) return false;
  }
  return true;
}

// Something of the trees calls the method on an object of the class whose state is not set, or of one derived from it.
bool is_called(RuleContext& ctx, const Construction& c, std::string_view name, ClassRef setter, Reading& out) {
  if (name == "forward" || name == "__call__") {
    out.how = "a call of the object";
    return true;
  }
  bool found = false;
  for (const SourceTree* tree : {&ctx.target, &ctx.plugin}) {
    each_word(*tree, ctx.project(), name, [&](const Module& unloaded, std::string_view text, size_t at) {
      bool called = at > 0 && text[at - 1] == '.' && at + name.size() < text.size() && text[at + name.size()] == '(';
      if (!called || (at >= 5 && text.substr(at - 5, 5) == "self.") || (at >= 8 && text.substr(at - 8, 8) == "super().")) return true;
      const Module& m = ctx.project().load(unloaded);
      for (Node n : m.root().descendants()) {
        if (!n.is(Kind::k_attribute) || n.end() != at + name.size()) continue;
        for (const Value& v : ctx.sem.infer(m, n.child(Field::k_object)).list) {
          if (v.kind != ValueKind::kInstance) continue;
          const ClassInfo& receiver = ctx.sem.class_info(v.class_ref());
          found |= receiver.derives_from(setter) && c.info().derives_from(receiver.ref);
        }
        break;
      }
      out.how = "called by " + m.name;
      return !found;
    });
    if (found) break;
  }
  return found;
}

// A method that objects of the class have and that is called from outside reads the attribute, whatever the conditions.
bool find_reading(RuleContext& ctx, const Construction& c, std::string_view name, ClassRef setter, Reading& out) {
  for (const MroEntry& e : c.info().mro) {
    if (!e.ref) continue;
    auto [first, last] = ctx.sem.class_info(e.ref).facts->reads.equal_range(name);
    for (auto it = first; it != last; ++it) {
      Node function = it->second.method;
      std::string_view method = function.child(Field::k_name).text();
      if (c.passed_by({e.ref, function}) || method == "__init__" || !is_unguarded(it->second.node)) continue;
      Member m = ctx.sem.class_member(c.info().ref, method);
      if (m.owner != e.ref || own_function(e.ref, method) != function) continue;  // overridden
      if (asked_before(*e.ref.module, it->second.node) || ctx.sem.live(*e.ref.module, it->second.node) != Truth::kYes) continue;
      out = {e.ref, function, it->second.node, {}};
      if (is_called(ctx, c, method, setter, out)) return true;
    }
  }
  return false;
}

void check_attribute(RuleContext& ctx, const Construction& c, std::string_view name) {
  MethodRef where;
  Node write;
  if (!c.set_only_there(name, where, write)) return;
  Member in_class = ctx.sem.class_member(c.info().ref, name);
  bool declared_only = std::all_of(in_class.bindings.begin(), in_class.bindings.end(), [](const Binding* b) { return b->kind == BindingKind::kAnnotation; });
  if (in_class.presence == Presence::kUnknown || (in_class.presence == Presence::kYes && (!declared_only || in_class.patches || !in_class.external_owner.empty()))) return;
  if (ctx.definitions.members().flags(name) & MemberIndex::kStoredOnOther) return;
  Reading reading;
  if (!find_reading(ctx, c, name, where.owner, reading)) return;
  const ClassInfo& info = c.info();
  std::string setter = ctx.sem.class_info(where.owner).name + "." + std::string(where.function.child(Field::k_name).text());
  std::string reader = ctx.sem.class_info(reading.owner).name + "." + std::string(reading.function.child(Field::k_name).text());
  Finding* f = report(ctx, "uninitialised-state", *info.ref.module, c.jump(), info.name + "." + std::string(name),
                      "the constructor passes by " + setter + ", which alone sets '" + std::string(name) + "'; " + reader + " reads it");
  if (!f) return;
  f->expected = "'" + std::string(name) + "' is set before " + reader + " runs";
  f->observed = std::string(c.jump().text().substr(0, 160));
  f->trigger += (f->trigger.empty() ? "" : "; ") + reading.how;
  f->group = "uninitialised-state:" + info.name;
  relate(*f, *reading.owner.module, reading.read, reader, "read here, under no condition");
  relate(*f, *where.owner.module, write, setter, "set here, and nowhere else");
  f->fix = "call super().__init__(), or set '" + std::string(name) + "' in the constructor";
}

}  // namespace

void check_uninitialised(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_class_definition) || n.text().find("__init__(") == std::string_view::npos) continue;
    Construction construction(ctx, {&module, n.id()});
    if (!construction.trace()) continue;
    for (std::string_view name : construction.names_set()) check_attribute(ctx, construction, name);
  }
}

}  // namespace assay
