#include "vllm/inventory.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/order.h"
#include "vllm/compare_bodies.h"
#include "vllm/file_rows.h"
#include "vllm/registrations.h"
#include "vllm/row_state.h"
#include "vllm/tables.h"

namespace assay {

namespace {

class Taker {
 public:
  Taker(const InventoryInput& input, Inventory& out)
      : in_(input), out_(out), state_(input.semantics, input.reach) {}

  void run() {
    for (const EntryPoint& e : in_.entry_points) entry_point(e);
    std::set<std::pair<const Module*, NodeId>> used;
    for (const RegistrationSite& site : find_registrations(in_.semantics, in_.catalog, in_.modules)) {
      registration(site);
      for (const Term& s : site.strings) used.insert({s.module, s.node.id()});
    }
    for (const PatchSite& site : in_.patches.sites) patch(site);
    for (const ModuleRedirect& r : in_.patches.redirects) redirect(r, used);
    for (const TableSite& t : find_tables(in_.semantics, in_.plugin, in_.modules,
                                          in_.catalog.settings_modules, in_.catalog.standard_library)) {
      add("table-mutation", t.table, *t.module, t.place).effective = t.what;
    }
    for (const ClassPathSite& c : find_class_paths(in_.semantics, in_.plugin, in_.modules, used)) {
      add("class-path", c.path, *c.module, c.place).effective = c.path;
    }
    std::ranges::stable_sort(out_.rows, [](const auto& a, const auto& b) { return in_report_order(a, b); });
  }

 private:
  InventoryRow& add(const std::string& kind, std::string key, const Module& module, Node place) {
    InventoryRow& row = out_.rows.emplace_back();
    row.kind = kind;
    row.key = std::move(key);
    row.location.tree = in_.plugin.role;
    row.location.file = module.file();
    row.location.line = place.line();
    row.location.column = module.syntax().column_of(place.start());
    row.location.end_line = place.end_line();
    row.location.text = module.syntax().line_text(row.location.line);
    state_.fill(module, place, row);
    return row;
  }

  void entry_point(const EntryPoint& e) {
    InventoryRow& row = out_.rows.emplace_back();
    row.kind = "entry-point";
    row.key = e.group + ":" + e.name;
    row.effective = e.value;
    row.location.tree = in_.plugin.role;
    row.location.file = e.file;
    row.location.line = e.line;
    row.state = "active";
    row.activation = {fmt::format("{}:{} entry point {}:{}", e.file, e.line, e.group, e.name)};
    const EntryPointGroup* group = in_.catalog.entry_point_group(e.group);
    if (group && group->when == "startup") return;
    row.state = "conditional";
    row.condition = group ? "vLLM loads this group when it is asked for" : "run by its users, not by vLLM";
  }

  void registration(const RegistrationSite& site) {
    InventoryRow& row = add(site.point->kind, site.key, *site.module, site.place);
    row.effective = site.effective;
    Term upstream = counterpart(site, row);
    compare(site.value, upstream, row);
  }

  // The class that the key stands for where the plugin doesn't replace it.
  Term counterpart(const RegistrationSite& site, InventoryRow& row) {
    if (site.point->upstream == "receiver" && site.receiver) return found(site.receiver.dotted, row);
    if (site.point->upstream == "enum-value") {
      for (const Value& v : enum_value(site)) {
        if (v.kind == ValueKind::kString && !v.text.empty()) return found(v.text, row);
      }
    }
    if (!site.value.node.is(Kind::k_class_definition)) return same_name(site.value, row);
    if (Term same = same_name(site.value, row)) return same;
    return foreign_base(site.value, row);
  }

  // `.value` of the enum member that the registering call names.
  std::vector<Value> enum_value(const RegistrationSite& site) {
    Node call = site.place.is(Kind::k_decorator) ? site.place.first_child() : site.place;
    std::vector<Value> out;
    for (Node a : call.child(Field::k_arguments).children()) {
      Node e = a.is(Kind::k_keyword_argument) ? a.child(Field::k_value) : a;
      if (!e.is(Kind::k_attribute)) continue;
      for (const Value& member : in_.semantics.infer(*site.module, e).list) {
        if (member.kind != ValueKind::kInstance || member.text != site.key) continue;
        for (const Value& v : in_.semantics.attribute(member, "value").list) out.push_back(v);
      }
    }
    return out;
  }

  Term found(std::string_view dotted, InventoryRow& row) {
    row.upstream = dotted;
    for (const Value& v : in_.semantics.resolve_dotted(dotted).list) {
      bool foreign = v.module && v.module->tree != &in_.plugin;
      if (foreign && (v.kind == ValueKind::kClass || v.kind == ValueKind::kFunction))
        return {v.module, v.definition()};
    }
    return {};
  }

  Term same_name(const Term& value, InventoryRow& row) {
    if (!value || !in_.definitions) return {};
    std::vector<DefinitionPlace> places = in_.definitions->find(value.node.child(Field::k_name).text());
    if (places.size() != 1 || places[0].module->tree == &in_.plugin) return {};
    const Module& module = in_.semantics.project().load(*places[0].module);
    return found(module.name + "." + std::string(value.node.child(Field::k_name).text()), row);
  }

  // The nearest base that the plugin doesn't own and that is more than an interface.
  Term foreign_base(const Term& value, InventoryRow& row) {
    const ClassInfo& info = in_.semantics.class_info({value.module, value.node.id()});
    for (const MroEntry& e : info.mro) {
      if (!e.ref || e.ref.module->tree == &in_.plugin) continue;
      if (is_interface(e.ref)) continue;
      return found(in_.semantics.qualified_name(*e.ref.module, e.ref.definition()), row);
    }
    return {};
  }

  // A class that only says what others have to do: of the catalog, a protocol, or with abstract methods of
  // its own.
  bool is_interface(ClassRef cls) {
    std::string dotted = in_.semantics.qualified_name(*cls.module, cls.definition());
    for (const BaseClass& b : in_.catalog.base_classes) {
      if (std::ranges::count(b.classes, dotted)) return true;
    }
    const ClassFacts& facts = *in_.semantics.class_info(cls).facts;
    for (Node base : facts.bases) {
      std::string_view name = base.text();
      if (name.starts_with("Protocol") || name == "ABC" || name == "abc.ABC" ||
          name.starts_with("typing.Protocol"))
        return true;
    }
    return std::ranges::any_of(facts.methods, [](Node m) { return has_decorator(m, "abstractmethod"); });
  }

  void compare(const Term& ours, const Term& theirs, InventoryRow& row) {
    if (row.upstream.empty() || !ours || !theirs) return;
    Difference d = compare_bodies(ours.node, theirs.node);
    // What inherits is related, however little of it is repeated.
    bool classes = ours.node.is(Kind::k_class_definition) && theirs.node.is(Kind::k_class_definition);
    if (d == Difference::kUnrelated && classes &&
        in_.semantics.class_info({ours.module, ours.node.id()})
            .derives_from(ClassRef{theirs.module, theirs.node.id()})) {
      d = Difference::kChanged;
    }
    row.difference = to_string(d);
  }

  void patch(const PatchSite& site) {
    InventoryRow& row = add("patch", site.target, *site.module, site.place);
    Term ours = definition_of({site.value_module, site.value}, row);
    if (site.owner.kind == PlaceKind::kObject) return;
    Term theirs;
    for (const Value& v : original(site).list) {
      bool foreign = v.module && v.module->tree != &in_.plugin;
      if (foreign && (v.kind == ValueKind::kClass || v.kind == ValueKind::kFunction))
        theirs = {v.module, v.definition()};
    }
    if (theirs) row.upstream = in_.semantics.qualified_name(*theirs.module, theirs.node);
    compare(ours, theirs, row);
  }

  // What stood there before: the bindings of the owner itself, without the patches.
  Values original(const PatchSite& site) {
    Values out;
    bool in_module = site.owner.kind == PlaceKind::kModule;
    if (in_module ? site.owner.module == nullptr : !site.owner.cls) return out;  // a module that is not there
    Member member = in_module ? in_.semantics.module_member(*site.owner.module, site.attribute)
                              : in_.semantics.class_member(site.owner.cls, site.attribute);
    if (!member.module) return out;
    for (const Binding* b : member.bindings) {
      Node node = member.module->at(b->node);
      Value v;
      if (b->kind == BindingKind::kFunction || b->kind == BindingKind::kClass) {
        v.kind = b->kind == BindingKind::kClass ? ValueKind::kClass : ValueKind::kFunction;
        v.module = member.module;
        v.node = node.id();
        out.add(v);
      } else {
        out.merge(in_.semantics.infer_binding(*member.module, *b));
      }
    }
    return out;
  }

  // The class or function that an expression stands for, wrappers of methods taken away.
  Term definition_of(Term value, InventoryRow& row) {
    if (!value) return {};
    Node e = strip_parens(value.node);
    std::string_view callee = e.is(Kind::k_call) ? e.child(Field::k_function).text() : std::string_view();
    if (callee == "property" || callee == "staticmethod" || callee == "classmethod")
      e = e.child(Field::k_arguments).child_at(0);
    if (e.is_any(Kind::k_function_definition, Kind::k_class_definition)) {
      row.effective = in_.semantics.qualified_name(*value.module, e);
      return {value.module, e};
    }
    for (const Value& v : in_.semantics.infer(*value.module, e).list) {
      if (v.kind != ValueKind::kClass && v.kind != ValueKind::kFunction) continue;
      row.effective = in_.semantics.qualified_name(*v.module, v.definition());
      return {v.module, v.definition()};
    }
    row.effective = std::string(e.text().substr(0, e.text().find('\n')).substr(0, 80));
    return {};
  }

  void redirect(const ModuleRedirect& r, std::set<std::pair<const Module*, NodeId>>& used) {
    InventoryRow& row = add("module-redirect", r.name, *r.module, r.place);
    row.effective = r.to;
    row.upstream = r.name;
    if (r.place.is(Kind::k_pair)) used.insert({r.module, r.place.child(Field::k_value).id()});
  }

  const InventoryInput& in_;
  Inventory& out_;
  RowState state_;
};

}  // namespace

Inventory take_inventory(const InventoryInput& input, const std::function<bool(std::string_view)>& in_scope) {
  Inventory out;
  Taker(input, out).run();
  out.files = file_rows(input, out.rows, in_scope);
  return out;
}

}  // namespace assay
