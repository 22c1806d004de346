#include "rules/object_facts.h"

#include <algorithm>

namespace assay {
namespace {

constexpr size_t kMostSubclasses = 300;  // looked into for one attribute; more stays unknown
constexpr size_t kMostStores = 24;       // modules that set such an attribute on something

// Attributes that every object (or every function, class and module, which objects may turn out to be) has.
bool universal(std::string_view name) { return name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__"; }

bool named_tuple_member(std::string_view name) {
  static constexpr std::string_view kMembers[] = {"_asdict", "_replace", "_make", "_fields", "_field_defaults", "count", "index"};
  return std::find(std::begin(kMembers), std::end(kMembers), name) != std::end(kMembers);
}

bool related(Semantics& sem, ClassRef a, ClassRef b) {
  return sem.class_info(a).derives_from(b) || sem.class_info(b).derives_from(a);
}

// The function around uses the variable in ways that objects of the class do not support.
bool used_as_another(Semantics& sem, const Module& module, Node variable, ClassRef ref) {
  Node function = enclosing_function(module.scopes(), variable);
  if (!function || !variable.is(Kind::k_identifier)) return false;
  for (Node n : function.descendants()) {
    if (!n.is(Kind::k_attribute) || n.child(Field::k_object).text() != variable.text() || is_store_target(n)) continue;
    std::string_view name = n.child(Field::k_attribute).text();
    if (!universal(name) && sem.instance_member(ref, name).presence == Presence::kNo) return true;
  }
  return false;
}

// Whether `receiver.name = …` cannot be about objects of the class.
Lack store_is_elsewhere(Semantics& sem, const Module& module, Node receiver, ClassRef ref) {
  Values values = sem.infer(module, receiver);
  if (!values.known()) return used_as_another(sem, module, receiver, ref) ? Lack::kCertain : Lack::kLikely;
  for (const Value& v : values.list) {
    if (v.kind == ValueKind::kModule || v.kind == ValueKind::kFunction || v.kind == ValueKind::kNone) continue;
    if (v.kind != ValueKind::kClass && v.kind != ValueKind::kInstance) return Lack::kLikely;
    if (related(sem, v.class_ref(), ref)) return Lack::kNo;
  }
  return Lack::kCertain;
}

Lack every_store_is_elsewhere(RuleContext& ctx, ClassRef ref, std::string_view name) {
  std::vector<const Module*> modules = ctx.definitions.members().stored_on_other(name);
  if (modules.size() > kMostStores) return Lack::kNo;
  Lack out = Lack::kCertain;
  for (const Module* m : modules) {
    const Module& module = ctx.project().load(*m);
    bool seen = false;
    for (Node n : module.root().descendants()) {
      if (!n.is(Kind::k_attribute) || n.child(Field::k_attribute).text() != name || !is_store_target(n)) continue;
      Node receiver = n.child(Field::k_object);
      if (receiver.text() == "self") continue;
      seen = true;
      out = std::min(out, store_is_elsewhere(ctx.sem, module, receiver, ref));
    }
    if (!seen) return Lack::kNo;  // named in a string that setattr may use
  }
  // A store on an object of unknown class is explained where classes have such an attribute themselves. Modules of torch
  // are given attributes from outside too often.
  bool explained = ctx.definitions.members().flags(name) & MemberIndex::kStoredOnSelf;
  if (out == Lack::kLikely && (!explained || ctx.sem.class_info(ref).derives_from("torch.nn.Module"))) return Lack::kNo;
  return out;
}

bool a_subclass_has(RuleContext& ctx, const ClassInfo& info, std::string_view name) {
  std::vector<ClassPlace> places = ctx.definitions.members().subclasses(info.facts->definition.child(Field::k_name).text());
  if (places.size() > kMostSubclasses) return true;
  for (const ClassPlace& place : places) {
    const Module& module = ctx.project().load(*place.module);
    Node definition = class_in_line(module, place.line);
    if (!definition) return true;
    ClassRef sub{&module, definition.id()};
    const ClassInfo& other = ctx.sem.class_info(sub);
    if (!other.derives_from(info.ref) && other.complete) continue;
    if (ctx.sem.instance_member(sub, name).presence == Presence::kNo && !other.dynamic) continue;
    if (other.derives_from(info.ref)) return true;
    // A base of it could not be resolved; its text decides.
    if (module.syntax().source().find(name) != std::string_view::npos) return true;
  }
  return false;
}

bool mentions(std::string_view text, std::string_view function, std::string_view what) {
  return text.find(function) != std::string_view::npos && text.find(what) != std::string_view::npos;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_store_target(Node attribute) {
  Node n = attribute, p = n.parent();
  while (p.is_any(Kind::k_pattern_list, Kind::k_tuple_pattern, Kind::k_list_pattern, Kind::k_list_splat_pattern, Kind::k_list_splat)) n = p, p = p.parent();
  if (n.field() == Field::k_left && p.is_any(Kind::k_assignment, Kind::k_for_statement, Kind::k_for_in_clause)) return true;
  return p.is_any(Kind::k_delete_statement, Kind::k_as_pattern_target);
}

Node class_in_line(const Module& module, uint32_t line) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_class_definition) && n.line() == line) return n;
  }
  return {};
}

Lack lacks_attribute(RuleContext& ctx, ClassRef ref, std::string_view name, bool subclasses) {
  Semantics& sem = ctx.sem;
  if (universal(name)) return Lack::kNo;
  const ClassInfo& info = sem.class_info(ref);
  if (!info.complete || !info.consistent || info.dynamic || sem.is_enum(ref)) return Lack::kNo;
  if (info.derives_from("typing.Protocol") || info.derives_from("typing.TypedDict")) return Lack::kNo;
  if (info.derives_from("typing.NamedTuple") && named_tuple_member(name)) return Lack::kNo;
  if (sem.instance_member(ref, name).presence != Presence::kNo) return Lack::kNo;
  uint8_t flags = ctx.definitions.members().flags(name);
  Lack out = Lack::kCertain;
  if (flags & MemberIndex::kStoredOnOther) out = every_store_is_elsewhere(ctx, ref, name);
  if (out == Lack::kNo || flags == 0 || !subclasses) return out;
  return a_subclass_has(ctx, info, name) ? Lack::kNo : out;
}

bool asked_before(const Module& module, Node attribute) {
  std::string_view name = attribute.child(Field::k_attribute).text();
  std::string_view object = attribute.child(Field::k_object).text();
  if (error_caught(attribute, "AttributeError", Handlers::kAny)) return true;
  for (const Guard& g : guards_of(attribute)) {
    if (g.kind != GuardKind::kCondition) continue;
    std::string_view text = g.node.text();
    for (std::string_view word : {"version", "Version", "VERSION"}) {
      if (text.find(word) != std::string_view::npos) return true;
    }
    if (mentions(text, "hasattr", name) || mentions(text, "getattr", name) || mentions(text, "getattr", object) || mentions(text, "isinstance", object) ||
        mentions(text, "issubclass", object) || mentions(text, "type(", object) || mentions(text, "__class__", object)) {
      return true;
    }
  }
  // An assertion, or a flag computed from hasattr, stands somewhere in the function.
  Node function = enclosing_function(module.scopes(), attribute);
  if (!function) return false;
  for (std::string quote : {"\"", "'"}) {
    std::string quoted = quote + std::string(name) + quote;
    if (function.text().find(quoted) != std::string_view::npos) return true;
  }
  return false;
}

std::string closest_member(RuleContext& ctx, ClassRef ref, std::string_view name) {
  std::string best;
  size_t least = std::max<size_t>(1, name.size() / 3) + 1;
  auto offer = [&](std::string_view candidate) {
    size_t d = edit_distance(name, candidate);
    if (d < least || (d == least && candidate < best && !best.empty())) least = d, best = candidate;
  };
  for (const MroEntry& e : ctx.sem.class_info(ref).mro) {
    if (!e.ref) continue;
    ScopeId scope = e.ref.module->scopes().scope_opened_by(e.ref.node);
    if (scope != kNoScope) {
      for (const Binding& b : e.ref.module->scopes().in_scope(scope)) offer(b.name);
    }
    for (const auto& [written, write] : ctx.sem.class_info(e.ref).facts->writes) offer(written);
  }
  return best;
}

}  // namespace assay
