// Classes: bases, method resolution order, members of classes and instances.
#include <algorithm>
#include <functional>

#include "project/semantics.h"
#include "python/c3.h"

namespace assay {

namespace {
constexpr size_t kMostBases = 400;  // in one linearisation; more is hostile
}

bool ClassInfo::derives_from(std::string_view external_dotted) const {
  return std::any_of(mro.begin(), mro.end(), [&](const MroEntry& e) { return e.external == external_dotted; });
}

bool ClassInfo::derives_from(ClassRef other) const {
  return std::any_of(mro.begin(), mro.end(), [&](const MroEntry& e) { return e.ref && e.ref == other; });
}

const ClassInfo& Semantics::class_info(ClassRef ref) {
  auto [it, fresh] = classes_.try_emplace(ref, nullptr);
  if (!fresh && it->second) return *it->second;
  it->second = std::make_unique<ClassInfo>();
  ClassInfo& info = *it->second;
  info.ref = ref;
  info.name = qualified_name(*ref.module, ref.definition());
  info.facts = std::make_shared<ClassFacts>(class_facts(*ref.module, ref.definition()));
  // Seen by itself while its bases are looked up: a circle of bases.
  info.mro = {MroEntry{ref, {}}};
  info.complete = false;
  info.reason = "inherits from itself";
  build_class(info);
  return info;
}

void Semantics::build_class(ClassInfo& info) {
  struct Base {
    MroEntry entry;
    std::vector<MroEntry> mro;
  };
  std::vector<Base> bases;
  bool complete = true;
  std::string reason;
  auto give_up = [&](const std::string& why) {
    complete = false;
    if (reason.empty()) reason = why;
  };
  std::function<std::vector<MroEntry>(std::string_view, int)> external_mro = [&](std::string_view name, int depth) {
    std::vector<MroEntry> out{{{}, name}};
    auto it = externals_.class_bases.find(name);
    if (it != externals_.class_bases.end() && depth < 20) {
      for (const std::string& b : it->second) {
        for (const MroEntry& e : external_mro(project_.intern(b), depth + 1)) {
          if (std::none_of(out.begin(), out.end(), [&](const MroEntry& x) { return x.external == e.external; })) out.push_back(e);
        }
      }
    }
    if (!externals_.class_members.count(name)) give_up("the base " + std::string(name) + " is not known");
    return out;
  };
  for (Node base : info.facts->bases) {
    if (base.is_any(Kind::k_list_splat, Kind::k_parenthesized_list_splat)) {
      give_up("its bases are computed");
      continue;
    }
    // A parametrised base (Generic[T]) is the class itself.
    Values values = infer(*info.ref.module, base.is(Kind::k_subscript) ? base.child(Field::k_value) : base);
    // Alternatives (a fallback in an except branch, a platform switch): follow the first class, but say so.
    const Value* chosen = nullptr;
    for (const Value& v : values.list) {
      if (v.kind == ValueKind::kClass || v.kind == ValueKind::kExternal) {
        chosen = &v;
        break;
      }
    }
    if (values.open || values.list.size() != 1) give_up("the base " + std::string(base.text().substr(0, 60)) + " is not resolved");
    if (!chosen) {
      give_up("the base " + std::string(base.text().substr(0, 60)) + " is not resolved");
      continue;
    }
    Base b;
    if (chosen->kind == ValueKind::kClass) {
      const ClassInfo& other = class_info(chosen->class_ref());
      b.entry.ref = other.ref;
      b.mro = other.mro;
      if (!other.complete) give_up(other.reason);
      info.dynamic |= other.dynamic;
    } else {
      b.entry.external = chosen->text;
      b.mro = external_mro(chosen->text, 0);
    }
    if (b.mro.size() > kMostBases) {  // cut off: a chain of thousands of classes would take cubic time
      give_up("too many bases");
      b.mro = {b.entry};
    }
    bases.push_back(std::move(b));
  }
  // C3 over small numbers that stand for the classes.
  std::vector<MroEntry> ids;
  auto id_of = [&](const MroEntry& e) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i].ref == e.ref && ids[i].external == e.external) return static_cast<uint32_t>(i);
    }
    ids.push_back(e);
    return static_cast<uint32_t>(ids.size() - 1);
  };
  std::vector<std::vector<uint32_t>> sequences;
  std::vector<uint32_t> order;
  uint32_t self = id_of({info.ref, {}});
  for (const Base& b : bases) {
    std::vector<uint32_t> sequence;
    for (const MroEntry& e : b.mro) {
      if (e.external != "builtins.object") sequence.push_back(id_of(e));
    }
    sequences.push_back(sequence);
    if (b.entry.external != "builtins.object") order.push_back(id_of(b.entry));
  }
  auto merged = c3_linearize(self, order, sequences);
  std::vector<MroEntry> mro;
  if (merged) {
    for (uint32_t id : *merged) mro.push_back(ids[id]);
  } else {
    info.consistent = false;
    give_up("its bases have no consistent order");
    mro.push_back({info.ref, {}});
    for (const Base& b : bases) {
      for (const MroEntry& e : b.mro) {
        if (std::none_of(mro.begin(), mro.end(), [&](const MroEntry& x) { return x.ref == e.ref && x.external == e.external; })) mro.push_back(e);
      }
    }
  }
  mro.push_back({{}, "builtins.object"});
  info.mro = std::move(mro);
  info.complete = complete;
  info.reason = reason;
  info.dynamic |= info.facts->dynamic;
  info.dynamic |= changed_by_decorators(info);
  for (Node m : info.facts->methods) {
    std::string_view name = m.child(Field::k_name).text();
    info.dynamic |= name == "__getattr__" || name == "__getattribute__" || name == "__init_subclass__";
  }
}

// A class decorator that is not known may add attributes.
bool Semantics::changed_by_decorators(const ClassInfo& info) {
  for (Node d : decorators_of(info.facts->definition)) {
    std::string name = decorator_name(d);
    std::string last = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    if (last == "dataclass" || last == "final" || last == "runtime_checkable" || externals_.transparent_decorators.count(last)) continue;
    Values values = infer(*info.ref.module, d.is(Kind::k_call) ? d.child(Field::k_function) : d);
    const Value* f = values.single();
    if (!f || f->kind != ValueKind::kFunction) return true;
    std::string_view text = f->definition().text();
    if (text.find("setattr(") != std::string_view::npos) return true;
  }
  return false;
}

Member Semantics::class_member(ClassRef ref, std::string_view name, ClassRef after) {
  const ClassInfo& info = class_info(ref);
  Member out;
  bool skipping = static_cast<bool>(after);
  for (const MroEntry& entry : info.mro) {
    if (skipping) {
      if (entry.ref == after) skipping = false;
      continue;
    }
    if (!entry.ref) {
      auto it = externals_.class_members.find(entry.external);
      if (it == externals_.class_members.end()) {
        out.presence = Presence::kUnknown;
        out.reason = "a base is not known";
        return out;
      }
      // Lists of members leave out what every object has; but a library's class has a constructor of its own.
      bool own_constructor = name == "__init__" && entry.external != "builtins.object" && entry.external != "abc.ABC" &&
                             entry.external != "typing.Generic" && entry.external != "typing.Protocol";
      if (own_constructor || it->second.count(name)) {
        out.presence = Presence::kYes;
        out.external_owner = entry.external;
        return out;
      }
      continue;
    }
    const Module& module = *entry.ref.module;
    out.patches = patches_.find(&module, entry.ref.node, name);
    ScopeId scope = module.scopes().scope_opened_by(entry.ref.node);
    if (scope != kNoScope) {
      auto bindings = module.scopes().in_scope(scope, name);
      if (bindings.size() > kMostBindings) {
        out.presence = Presence::kUnknown;
        out.reason = "bound too many times";
        return out;
      }
      for (const Binding& b : bindings) {
        Node place = module.at(b.node);
        if (b.kind == BindingKind::kDelete || b.kind == BindingKind::kExcept || live(module, place) == Truth::kNo) continue;
        out.bindings.push_back(&b);
      }
    }
    if (!out.bindings.empty() || out.patches) {
      out.presence = Presence::kYes;
      out.module = &module;
      out.owner = entry.ref;
      return out;
    }
  }
  out.presence = info.complete ? Presence::kNo : Presence::kUnknown;
  if (!info.complete) out.reason = "a base is not known";
  return out;
}

Member Semantics::instance_member(ClassRef ref, std::string_view name) {
  Member in_class = class_member(ref, name);
  // `x: T` in the class body only declares; the value is set in methods.
  bool only_declared = !in_class.bindings.empty() && std::all_of(in_class.bindings.begin(), in_class.bindings.end(),
                                                               [](const Binding* b) { return b->kind == BindingKind::kAnnotation; });
  if (in_class.presence == Presence::kYes && !only_declared) return in_class;
  const ClassInfo& info = class_info(ref);
  for (const MroEntry& entry : info.mro) {
    if (!entry.ref) continue;
    const ClassInfo& cls = class_info(entry.ref);
    auto [first, last] = cls.facts->writes.equal_range(name);
    if (first == last) continue;
    Member out = in_class;
    // A declaration in another module: `module` speaks of the writes.
    if (out.module != entry.ref.module) out.bindings.clear();
    out.presence = Presence::kYes;
    out.module = entry.ref.module;
    out.owner = entry.ref;
    for (auto it = first; it != last; ++it) {
      if (out.writes.size() == kMostBindings) {
        out.presence = Presence::kUnknown;
        out.reason = "bound too many times";
        break;
      }
      out.writes.push_back(it->second);
    }
    return out;
  }
  if (only_declared) return in_class;
  if (in_class.presence == Presence::kNo && info.dynamic) {
    in_class.presence = Presence::kUnknown;
    in_class.reason = "the class sets attributes dynamically";
  }
  return in_class;
}

bool Semantics::is_enum(ClassRef ref) {
  for (const MroEntry& e : class_info(ref).mro) {
    if (e.external == "enum.Enum" || e.external == "enum.IntEnum" || e.external == "enum.StrEnum" || e.external == "enum.Flag" ||
        e.external == "enum.IntFlag") {
      return true;
    }
  }
  return false;
}

}  // namespace assay
