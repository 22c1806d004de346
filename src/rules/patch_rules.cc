// patch-target-missing, patch-not-applied, registry-shape: what the plugin puts into modules and classes of others,
// against what stands there.
#include <algorithm>
#include <set>

#include "rules/rules.h"
#include "rules/text_search.h"

namespace assay {
namespace {

bool is_module(const PatchSite& s) { return s.owner.kind == PlaceKind::kModule && s.owner.module && s.owner.module->kind == ModuleKind::kSource; }
bool is_class(const PatchSite& s) { return s.owner.kind == PlaceKind::kClass && s.owner.cls; }
const Module* holder_of(const PatchSite& s) { return is_class(s) ? s.owner.cls.module : s.owner.module; }

// Answers as if the plugin had patched nothing.
class Unpatched {
 public:
  explicit Unpatched(RuleContext& ctx) : sem_(ctx.project(), ctx.sem.externals(), ctx.sem.environment(), none_) {}
  Member member(const PatchSite& s) {
    if (!is_class(s)) return sem_.module_member(sem_.project().load(*s.owner.module), s.attribute);
    return sem_.instance_member(s.owner.cls, s.attribute);
  }

 private:
  PatchTable none_;
  Semantics sem_;
};

// A store, a definition or a keyword of the name reads nothing.
bool is_read(std::string_view text, size_t at, size_t length) {
  if (at >= 4 && text.substr(at - 4, 4) == "def ") return false;
  size_t after = at + length;
  while (after < text.size() && text[after] == ' ') ++after;
  bool assigned = after + 1 < text.size() && text[after] == '=' && text[after + 1] != '=';
  return !assigned;
}

// Whether any code might read the name on the class: `.name`, or the name as text.
bool class_attribute_read(RuleContext& ctx, const PatchSite& s) {
  bool read = false;
  auto look = [&](const Module& m, std::string_view text, size_t at) {
    char before = at ? text[at - 1] : ' ';
    if (before != '.' && before != '"' && before != '\'') return true;
    if (before == '.' && !is_read(text, at, s.attribute.size())) return true;
    // The replacement is often taken from a class of its own: `Mine.name` in the very statement.
    bool own = &m == s.module && at >= enclosing_statement(s.place).start() && at < enclosing_statement(s.place).end();
    read |= !own;
    return !read;
  };
  each_word(ctx.plugin, ctx.project(), s.attribute, look);
  if (!read) each_word(ctx.target, ctx.project(), s.attribute, look);
  return read;
}

// `from m import name`, or `m.name` by the module's last name or by any name in the plugin that means the module.
bool module_attribute_read(RuleContext& ctx, const PatchSite& s) {
  bool read = false;
  std::string_view last = last_part(s.owner.dotted);
  auto in_target = [&](const Module&, std::string_view text, size_t at) {
    if (at > last.size() && text[at - 1] == '.') {
      std::string_view before = text.substr(at - 1 - last.size(), last.size());
      read |= before == last && is_read(text, at, s.attribute.size());
    } else {
      // An import names it near a `from … m import`; text between is at most a list of names.
      size_t from = text.rfind("from ", at);
      size_t line_end = text.find("import", from);
      bool imports = from != std::string_view::npos && line_end < at && text.substr(from, line_end - from).find('\n') == std::string_view::npos;
      std::string_view source = imports ? text.substr(from + 5, line_end - from - 5) : std::string_view();
      while (!source.empty() && source.back() == ' ') source.remove_suffix(1);
      bool same = last_part(source) == last && text.substr(line_end, at - line_end).find('=') == std::string_view::npos;
      read |= same;
    }
    return !read;
  };
  each_word(ctx.target, ctx.project(), s.attribute, in_target);
  for (const Module* m : *ctx.facts.modules) {
    if (read) break;
    if (m->kind != ModuleKind::kSource) continue;
    for (Node n : ctx.project().load(*m).root().descendants()) {
      if (n.is(Kind::k_identifier) && n.text() == s.attribute && n.field() == Field::k_attribute) {
        Node whole = n.parent();
        bool store = whole.field() == Field::k_left && whole.parent().is_any(Kind::k_assignment, Kind::k_augmented_assignment);
        if (!store) read |= place_of(ctx.sem, *m, whole.child(Field::k_object)).module == s.owner.module;
      } else if (n.is(Kind::k_import_from_statement) && imported_module_name(*m, n.child(Field::k_module_name)) == s.owner.dotted) {
        for (Node name : n.children()) {
          read |= name.field() == Field::k_name && (name.is(Kind::k_aliased_import) ? name.child(Field::k_name) : name).text() == s.attribute;
        }
      }
    }
  }
  return read;
}

void relate_elsewhere(RuleContext& ctx, Finding& f, std::string_view name) {
  std::vector<DefinitionPlace> places = ctx.definitions.find(name);
  if (places.empty() || places.size() > 3) return;
  for (const DefinitionPlace& p : places) {
    const Module& m = ctx.project().load(*p.module);
    Location place = locate_file(m);
    place.line = p.line;
    place.column = 1;
    place.text = m.syntax().line_text(p.line);
    f.related.push_back({place, m.name + "." + std::string(name), "defined here"});
  }
  if (places.size() == 1) f.fix = "patch " + places[0].module->name + "." + std::string(name);
}

// The target has the name as a method or a function somewhere: it was looked for in the wrong place.
bool target_knows(RuleContext& ctx, std::string_view name) {
  if (!ctx.definitions.find(name).empty()) return true;
  bool found = false;
  each_word(ctx.target, ctx.project(), name, [&](const Module&, std::string_view text, size_t at) {
    found |= at >= 4 && text.substr(at - 4, 4) == "def ";
    return !found;
  });
  return found;
}

// A flag of the plugin's own (`m._patched = True`) is asked for with a computed name as often as not; a class put into a
// module under its own name is there for whoever looks it up by that name.
bool is_marker(RuleContext& ctx, const PatchSite& s) {
  if (s.value.is_any(Kind::k_true, Kind::k_false, Kind::k_none, Kind::k_integer, Kind::k_string)) return true;
  if (!is_module(s) || !s.value || !s.value_module) return false;
  const Values values = ctx.sem.infer(*s.value_module, s.value);
  const Value* v = values.single();
  return v && v->kind == ValueKind::kClass && last_part(ctx.sem.describe(*v)) == s.attribute;
}

// Some code of the target that is live here, and that no patch replaces, uses the function where it is now.
bool still_used(RuleContext& ctx, std::string_view name) {
  bool used = false;
  each_word(ctx.target, ctx.project(), name, [&](const Module& m, std::string_view, size_t at) {
    const Module& module = ctx.project().load(m);
    Node n = module.identifier_at(static_cast<uint32_t>(at));
    if (!n || n.field() == Field::k_name || n.parent().is_any(Kind::k_dotted_name, Kind::k_aliased_import)) return true;
    if (ctx.sem.live(module, n) == Truth::kNo) return true;
    Node holder;
    for (Node p = n.parent(); p; p = p.parent()) {
      if (p.is_any(Kind::k_function_definition, Kind::k_class_definition)) holder = p;
    }
    used = !holder || !ctx.sem.module_member(module, holder.child(Field::k_name).text()).patches;
    return !used;
  });
  return used;
}

void missing_target(RuleContext& ctx, Unpatched& unpatched, const PatchSite& s) {
  if (!is_module(s) && !is_class(s)) return;
  const Module* holder = holder_of(s);
  if (holder->tree != &ctx.target || s.attribute.substr(0, 2) == "__") return;
  if (unpatched.member(s).presence != Presence::kNo) return;
  if (is_class(s) ? class_attribute_read(ctx, s) : module_attribute_read(ctx, s)) return;
  bool elsewhere = target_knows(ctx, s.attribute);
  if (!elsewhere && is_marker(ctx, s)) return;
  std::string message = s.owner.dotted + " has no '" + s.attribute + "'";
  message += elsewhere ? ": the assignment adds a name that nobody reads there" : ", and nothing reads the name that is put there";
  Finding* f = report(ctx, elsewhere ? "patch-target-missing" : "patch-not-applied", *s.module, s.place, s.target, message);
  if (!f) return;
  // What only classes have was put on the wrong owner; a helper may ask first.
  bool direct = s.place.is(Kind::k_attribute);
  bool moved = !ctx.definitions.find(s.attribute).empty();
  if (f->level == Level::kError && (!direct || moved)) f->level = Level::kWarning;
  if (elsewhere && is_class(s) && f->level != Level::kNote) {
    f->level = Level::kNote;
    f->limits.push_back("a method put beside those of a class may be meant for users of the plugin");
  } else if (moved && f->level != Level::kNote && !still_used(ctx, s.attribute)) {
    f->level = Level::kNote;
    f->limits.push_back("what used it in the target is replaced by patches or dead on this platform: the patch may no longer be needed");
  }
  f->expected = s.owner.dotted + " has '" + s.attribute + "', or something reads the name";
  f->observed = message;
  Node owner = is_class(s) ? s.owner.cls.definition() : Node();
  relate(*f, *holder, owner, s.owner.dotted, "does not have it");
  relate_elsewhere(ctx, *f, s.attribute);
}

// --- registry-shape --------------------------------------------------------------------------------------------------

enum class Shape : uint8_t { kUnknown, kMapping, kSequence };

Shape shape_of_literal(Node n) {
  n = strip_parens(n);
  if (n.is_any(Kind::k_dictionary, Kind::k_dictionary_comprehension)) return Shape::kMapping;
  return n.is_any(Kind::k_list, Kind::k_tuple, Kind::k_set, Kind::k_list_comprehension) ? Shape::kSequence : Shape::kUnknown;
}

Shape shape_of_annotation(std::string_view text) {
  for (std::string_view name : {"dict", "Dict", "defaultdict", "OrderedDict", "Mapping", "MutableMapping"}) {
    if (text.substr(0, name.size()) == name && text.size() > name.size() && text[name.size()] == '[') return Shape::kMapping;
  }
  for (std::string_view name : {"list", "List", "tuple", "Tuple", "set", "Set", "Sequence"}) {
    if (text.substr(0, name.size()) == name && text.size() > name.size() && text[name.size()] == '[') return Shape::kSequence;
  }
  return Shape::kUnknown;
}

void wrong_shape(RuleContext& ctx, Unpatched& unpatched, const PatchSite& s) {
  if (!is_module(s) || !s.value || s.owner.module->tree != &ctx.target) return;
  Shape now = shape_of_literal(s.value);
  if (now == Shape::kUnknown) return;
  Member m = unpatched.member(s);
  if (m.presence != Presence::kYes || m.bindings.size() != 1 || !m.module) return;
  Node statement = m.module->at(m.bindings[0]->statement);
  Node assignment = statement.is(Kind::k_assignment) ? statement : statement.child(Kind::k_assignment);
  Shape was = shape_of_literal(assignment.child(Field::k_right));
  if (was == Shape::kUnknown) was = shape_of_annotation(assignment.child(Field::k_type).text());
  if (was == Shape::kUnknown || was == now) return;
  auto word = [](Shape x) { return x == Shape::kMapping ? "a mapping" : "a sequence"; };
  std::string message = s.target + " is " + word(was) + " in the target, and is replaced by " + word(now);
  Finding* f = report(ctx, "registry-shape", *s.module, s.place, s.target, message);
  if (!f) return;
  f->expected = std::string(word(was)) + ": " + std::string(assignment.text().substr(0, assignment.text().find('\n')));
  f->observed = word(now);
  relate(*f, *m.module, statement, s.target, "what it replaces");
}

// --- functions that are written like patches and never put in place ----------------------------------------------------

bool named_elsewhere(RuleContext& ctx, const Module& module, Node name) {
  bool found = false;
  each_word(ctx.plugin, ctx.project(), name.text(), [&](const Module& m, std::string_view text, size_t at) {
    found |= !(&m == &module && module.syntax().source().substr(at, name.text().size()) == name.text() && at == name.start()) &&
             !(at >= 4 && text.substr(at - 4, 4) == "def ");
    return !found;
  });
  return found;
}

void never_assigned(RuleContext& ctx, Unpatched& unpatched, const Module& module, const std::vector<const PatchSite*>& sites) {
  for (Node n : module.root().children()) {
    if (!n.is(Kind::k_function_definition)) continue;
    Node name = n.child(Field::k_name);
    for (const PatchSite* s : sites) {
      if (!is_module(*s) && !is_class(*s)) continue;
      PatchSite as_patch = *s;
      as_patch.attribute = name.text();
      if (holder_of(*s)->tree != &ctx.target || name.text().substr(0, 2) == "__") continue;
      Member m = unpatched.member(as_patch);
      if (m.presence != Presence::kYes || m.bindings.size() != 1 || m.bindings[0]->kind != BindingKind::kFunction) continue;
      if (named_elsewhere(ctx, module, name)) break;
      std::string symbol = s->owner.dotted + "." + as_patch.attribute;
      Finding* f = report(ctx, "patch-not-applied", module, name, symbol,
                          "a function of the name of " + symbol + " stands among patches of " + s->owner.dotted + ", and nothing puts it in its place");
      if (!f) break;
      if (f->level == Level::kError) f->level = Level::kWarning;
      f->expected = symbol + " = " + as_patch.attribute;
      f->observed = "no assignment, no decorator, no use of " + as_patch.attribute;
      relate(*f, *m.module, m.module->at(m.bindings[0]->node), symbol, "the function of that name");
      break;
    }
  }
}

}  // namespace

void check_patches(RuleContext& ctx) {
  if (!ctx.facts.patches || !ctx.facts.modules) return;
  Unpatched unpatched(ctx);
  std::map<const Module*, std::vector<const PatchSite*>> by_module;
  for (const PatchSite& s : ctx.facts.patches->sites) {
    missing_target(ctx, unpatched, s);
    wrong_shape(ctx, unpatched, s);
    by_module[s.module].push_back(&s);
  }
  for (const Module* m : *ctx.facts.modules) {
    auto it = by_module.find(m);
    if (it != by_module.end()) never_assigned(ctx, unpatched, *m, it->second);
  }
}

}  // namespace assay
