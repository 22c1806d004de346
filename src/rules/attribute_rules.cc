// missing-attribute and missing-enum-member: `module.name`, `Class.name`, `Enum.MEMBER`, `object.name`.
#include <algorithm>

#include "rules/rules.h"

namespace assay {
namespace {

bool is_store_or_delete(Node attribute) {
  Node p = attribute.parent();
  if (attribute.field() == Field::k_left && p.is_any(Kind::k_assignment, Kind::k_augmented_assignment, Kind::k_for_statement)) return true;
  if (p.is_any(Kind::k_delete_statement, Kind::k_pattern_list, Kind::k_tuple_pattern, Kind::k_as_pattern_target)) return true;
  return false;
}

// A hasattr or getattr test of the same attribute, or a handler for AttributeError, stands around the use.
bool asked_for(Node attribute) {
  if (error_caught(attribute, "AttributeError", Handlers::kAny)) return true;
  std::string_view name = attribute.child(Field::k_attribute).text();
  for (const Guard& g : guards_of(attribute)) {
    if (g.kind == GuardKind::kCondition) {
      std::string_view text = g.node.text();
      if (text.find("hasattr") != std::string_view::npos && text.find(name) != std::string_view::npos) return true;
    }
  }
  return false;
}

struct Missing {
  std::string rule, symbol, message;
  const Module* holder = nullptr;
  Node definition;
};

// Some code in the modules of the class family stores an attribute of this name on some object: perhaps on this class.
bool set_from_outside(const ClassInfo& info, std::string_view name) {
  std::string store = "." + std::string(name);
  for (const MroEntry& e : info.mro) {
    if (!e.ref) continue;
    std::string_view text = e.ref.module->syntax().source();
    for (size_t at = text.find(store); at != std::string_view::npos; at = text.find(store, at + 1)) {
      size_t next = at + store.size();
      while (next < text.size() && text[next] == ' ') ++next;
      if (next + 1 < text.size() && text[next] == '=' && text[next + 1] != '=') return true;
    }
  }
  return false;
}

// True if the value certainly lacks the attribute.
bool lacks(RuleContext& ctx, const Value& v, std::string_view name, Missing& out) {
  Semantics& sem = ctx.sem;
  if (v.kind == ValueKind::kModule) {
    Member m = sem.module_member(*v.module, name);
    if (m.presence != Presence::kNo) return false;
    out = {"missing-attribute", v.module->name + "." + std::string(name), v.module->name + " has no attribute '" + std::string(name) + "'", v.module, {}};
    return true;
  }
  if ((v.kind != ValueKind::kClass && v.kind != ValueKind::kInstance) || v.declared) return false;
  const ClassInfo& info = sem.class_info(v.class_ref());
  bool is_enum = sem.is_enum(v.class_ref());
  if (!info.complete || info.dynamic) return false;
  if (v.kind == ValueKind::kInstance && !is_enum) return false;  // state of objects: see the class rules
  if (v.kind == ValueKind::kClass) {
    for (const MroEntry& e : info.mro) {
      if (!e.ref) continue;
      const ClassInfo& c = sem.class_info(e.ref);
      if (!c.facts->metaclass) continue;
      // Enum's own metaclass and ABCMeta add nothing; a metaclass of the project may add anything.
      Values meta = sem.infer(*e.ref.module, c.facts->metaclass);
      const Value* m = meta.single();
      bool known = m && m->kind == ValueKind::kClass && !sem.class_info(m->class_ref()).dynamic && sem.class_member(m->class_ref(), name).presence == Presence::kNo;
      known |= m && m->kind == ValueKind::kExternal && (m->text == "abc.ABCMeta" || m->text == "enum.EnumMeta" || m->text == "enum.EnumType");
      if (!known) return false;
    }
  }
  Member m = sem.class_member(v.class_ref(), name);
  if (m.presence != Presence::kNo || set_from_outside(info, name)) return false;
  if (v.kind == ValueKind::kInstance && sem.instance_member(v.class_ref(), name).presence != Presence::kNo) return false;
  if (ctx.sem.externals().class_members.count("builtins.type") && ctx.sem.externals().class_members.at("builtins.type").count(name)) return false;
  std::string rule = is_enum && v.kind == ValueKind::kClass ? "missing-enum-member" : "missing-attribute";
  out = {rule, info.name + "." + std::string(name),
         std::string(is_enum ? "the enum " : "the class ") + info.name + " has no " + (is_enum ? "member" : "attribute") + " '" + std::string(name) + "'",
         info.ref.module, info.facts->definition};
  return true;
}

void check_attribute(RuleContext& ctx, const Module& module, Node n) {
  if (is_store_or_delete(n) || n.child(Field::k_attribute).text().substr(0, 2) == "__") return;
  Node object = n.child(Field::k_object);
  if (!object.is_any(Kind::k_identifier, Kind::k_attribute)) return;
  std::string_view name = n.child(Field::k_attribute).text();
  Values values = ctx.sem.infer(module, object);
  if (!values.known()) return;
  std::vector<Missing> missing;
  for (const Value& v : values.list) {
    Missing m;
    if (!lacks(ctx, v, name, m)) return;
    missing.push_back(m);
  }
  if (asked_for(n)) return;
  const Missing& m = missing.front();
  Finding* f = report(ctx, m.rule, module, n, m.symbol, m.message);
  if (!f) return;
  f->observed = m.message;
  relate(*f, *m.holder, m.definition, m.symbol.substr(0, m.symbol.rfind('.')), "looked for here");
  f->group = m.rule + ":" + m.symbol;
  auto places = ctx.definitions.find(name);
  if (places.size() == 1 && places[0].module != m.holder) f->fix = "it is defined in " + places[0].module->name;
}

}  // namespace

void check_attributes(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_attribute)) check_attribute(ctx, module, n);
  }
}

}  // namespace assay
