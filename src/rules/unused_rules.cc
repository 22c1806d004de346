// What the target has no use for any more: an attribute that is stored on one of its objects and that nothing reads
// (removed-attribute), and a class that objects are tested against though nothing makes one (class-identity).
#include <algorithm>

#include "rules/object_facts.h"
#include "rules/rules.h"
#include "rules/text_search.h"

namespace assay {
namespace {

bool spelled_by_target(RuleContext& ctx, std::string_view word) {
  bool found = false;
  each_word(ctx.target, ctx.project(), word, [&](const Module&, std::string_view, size_t) {
    found = true;
    return false;
  });
  return found;
}

// The plugin reads an attribute of this name, or spells it in a string.
bool used_by_plugin(RuleContext& ctx, std::string_view name) {
  bool used = false;
  each_word(ctx.plugin, ctx.project(), name, [&](const Module& m, std::string_view, size_t at) {
    const Module& module = ctx.project().load(m);
    Node n = module.identifier_at(static_cast<uint32_t>(at));
    if (n) {
      used = !(n.field() == Field::k_attribute && is_store_target(n.parent()));
      return !used;
    }
    // In a string, or a comment, which is no use.
    for (Node text : module.root().descendants()) {
      if (text.start() > at) break;
      used |= text.is(Kind::k_string) && at < text.end() && !text.parent().is(Kind::k_expression_statement);
    }
    return !used;
  });
  return used;
}

// All that the receiver may be are objects of the target's classes, which have no such attribute.
bool certainly_foreign(RuleContext& ctx, const Values& receivers, std::string_view name) {
  if (!receivers.known()) return false;
  return std::all_of(receivers.list.begin(), receivers.list.end(), [&](const Value& v) {
    if (v.kind != ValueKind::kInstance || v.module->tree != &ctx.target) return false;
    const ClassInfo& info = ctx.sem.class_info(v.class_ref());
    // Layers are given attributes for code outside Python's reach.
    if (!info.complete || !info.consistent || info.dynamic || info.derives_from("torch.nn.Module")) return false;
    return ctx.sem.instance_member(v.class_ref(), name).presence == Presence::kNo;
  });
}

void check_store(RuleContext& ctx, const Module& module, Node attribute) {
  std::string_view name = attribute.child(Field::k_attribute).text();
  Node receiver = attribute.child(Field::k_object);
  if (!attribute.parent().is(Kind::k_assignment) || name.substr(0, 2) == "__" || receiver.text() == "self" || receiver.text() == "cls") return;
  Values receivers = ctx.sem.infer(module, receiver);
  if (!certainly_foreign(ctx, receivers, name) || asked_before(module, attribute)) return;
  if (spelled_by_target(ctx, name) || used_by_plugin(ctx, name)) return;
  std::string cls = ctx.sem.describe(class_value(receivers.list[0].class_ref()));
  Finding* f = report(ctx, "removed-attribute", module, attribute, cls + "." + std::string(name),
                      "objects of " + cls + " have no attribute '" + std::string(name) + "', and nothing reads what is stored there");
  if (!f) return;
  f->expected = "an attribute that the target reads";
  f->observed = "the name stands nowhere in the target";
  relate(*f, *receivers.list[0].module, receivers.list[0].definition(), cls, "the class");
  if (std::string near = closest_member(ctx, receivers.list[0].class_ref(), name); !near.empty()) f->fix = "the nearest name is '" + near + "'";
}

// The identifier does more than define, import, annotate or test: objects of the class may come from there.
bool may_make(Node n) {
  Node p = n.parent();
  if (n.field() == Field::k_name && p.is(Kind::k_class_definition)) return false;
  for (Node x = n; x; x = x.parent()) {
    if (x.is_any(Kind::k_import_statement, Kind::k_import_from_statement, Kind::k_type)) return false;
    if (x.is(Kind::k_call)) {
      std::string_view callee = x.child(Field::k_function).text();
      return !((callee == "isinstance" || callee == "issubclass") && !x.child(Field::k_function).contains(n));
    }
    if (x.is(Kind::k_block)) break;
  }
  return true;
}

bool something_makes(RuleContext& ctx, const SourceTree& tree, std::string_view name) {
  bool makes = false;
  each_word(tree, ctx.project(), name, [&](const Module& m, std::string_view text, size_t at) {
    // In quotes: a class path, a lazy table, a string annotation.
    size_t line = text.rfind('\n', at) + 1;
    std::string_view before = text.substr(line, at - line);
    if (before.find_first_not_of(' ') != std::string_view::npos && before[before.find_first_not_of(' ')] == '#') return true;
    Node n = ctx.project().load(m).identifier_at(static_cast<uint32_t>(at));
    makes = n ? may_make(n) : before.find_first_of("\"'") != std::string_view::npos && before.find('`') == std::string_view::npos;
    return !makes;
  });
  return makes;
}

void check_tested_class(RuleContext& ctx, const Module& module, Node call, Node type) {
  if (type.is_any(Kind::k_tuple, Kind::k_parenthesized_expression)) return;  // another member of the tuple may be the one
  Values values = ctx.sem.infer(module, type);
  const Value* v = values.single();
  if (!v || v->kind != ValueKind::kClass || v->module->tree != &ctx.target) return;
  const ClassInfo& info = ctx.sem.class_info(v->class_ref());
  std::string_view name = v->definition().child(Field::k_name).text();
  // Abstract classes and protocols are there to be tested against, and a decorator may put the class anywhere.
  if (!info.complete || info.facts->metaclass || !decorators_of(v->definition()).empty() || !ctx.definitions.members().subclasses(name).empty()) return;
  for (std::string_view base : {"abc.ABC", "typing.Protocol", "enum.Enum"}) {
    if (info.derives_from(base)) return;
  }
  if (something_makes(ctx, ctx.target, name) || something_makes(ctx, ctx.plugin, name)) return;
  std::string dotted = ctx.sem.describe(*v);
  Finding* f = report(ctx, "class-identity", module, call, dotted, "nothing in the target or the plugin makes objects of " + dotted + ": the test is always false");
  if (!f) return;
  f->level = std::min(f->level, Level::kWarning);
  f->expected = "a class that the target still makes objects of";
  f->observed = "the class is only defined, imported and tested against";
  relate(*f, *v->module, v->definition(), dotted, "the class");
}

}  // namespace

void check_unused(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_attribute) && is_store_target(n)) check_store(ctx, module, n);
    if (!n.is(Kind::k_call)) continue;
    std::string_view callee = n.child(Field::k_function).text();
    Node arguments = n.child(Field::k_arguments);
    if ((callee == "isinstance" || callee == "issubclass") && arguments.child_count() == 2) check_tested_class(ctx, module, n, arguments.child_at(1));
  }
}

}  // namespace assay
