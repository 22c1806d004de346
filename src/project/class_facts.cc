#include "project/class_facts.h"

namespace assay {
namespace {

class FactsBuilder {
 public:
  FactsBuilder(const Module& module, ClassFacts& out) : module_(module), out_(out) {}

  void build() {
    Node def = out_.definition;
    for (Node a : def.child(Field::k_superclasses).children()) {
      if (!a.is(Kind::k_keyword_argument)) {
        out_.bases.push_back(a);
      } else if (a.child(Field::k_name).text() == "metaclass") {
        out_.metaclass = a.child(Field::k_value);
      } else {
        out_.keywords.push_back(a);
      }
    }
    Node body = def.child(Field::k_body);
    if (!body) return;
    for (Node n : body.descendants()) {
      if (n.is(Kind::k_function_definition)) method(n);
    }
  }

 private:
  // Only functions whose innermost class is this one; functions nested in methods are part of the method.
  void method(Node function) {
    if (enclosing_class(module_.scopes(), function) != out_.definition) return;
    if (enclosing_function(module_.scopes(), function)) return;
    out_.methods.push_back(function);
    std::string_view self = first_parameter(function);
    Node body = function.child(Field::k_body);
    if (self.empty() || !body) return;
    for (Node n : body.descendants()) {
      if (n.is(Kind::k_attribute) && n.child(Field::k_object).text() == self) access(n, function);
      if (n.is(Kind::k_call)) call(n, function, self);
    }
  }

  void access(Node attribute, Node function) {
    std::string_view name = attribute.child(Field::k_attribute).text();
    if (name == "__dict__") out_.dynamic = true;
    Node place = attribute;
    while (place.parent().is_any(Kind::k_tuple_pattern, Kind::k_pattern_list, Kind::k_list_pattern, Kind::k_list_splat_pattern, Kind::k_list_splat)) {
      place = place.parent();
    }
    Node holder = place.parent();
    bool target = place.field() == Field::k_left;
    if (target && holder.is(Kind::k_assignment)) {
      // In `self.a = self.b = value` the value stands behind the last target.
      Node value = holder.child(Field::k_right);
      while (value.is(Kind::k_assignment)) value = value.child(Field::k_right);
      out_.writes.emplace(name, AttributeWrite{attribute, place == attribute ? value : Node(), holder.child(Field::k_type), function});
    } else if (target && holder.is_any(Kind::k_for_statement, Kind::k_for_in_clause)) {
      out_.writes.emplace(name, AttributeWrite{attribute, Node(), Node(), function});
    } else if (holder.is(Kind::k_as_pattern_target)) {
      out_.writes.emplace(name, AttributeWrite{attribute, Node(), Node(), function});
    } else {
      if (!holder.is(Kind::k_delete_statement)) out_.reads.emplace(name, AttributeRead{attribute, function});
    }
  }

  // self.register_buffer("x", …), self.register_parameter("x", …), setattr(self, "x", …)
  void call(Node call, Node function, std::string_view self) {
    Node callee = call.child(Field::k_function);
    Node arguments = call.child(Field::k_arguments);
    bool is_setattr = callee.text() == "setattr" && arguments.child_at(0).text() == self;
    bool registers = false;
    if (callee.is(Kind::k_attribute) && callee.child(Field::k_object).text() == self) {
      std::string_view name = callee.child(Field::k_attribute).text();
      registers = name == "register_buffer" || name == "register_parameter" || name == "register_module" ||
                  name == "add_module" || name == "__setattr__";
    }
    if (!is_setattr && !registers) {
      if ((callee.text() == "vars" || callee.text() == "exec") && arguments) out_.dynamic |= callee.text() == "exec" || arguments.child_at(0).text() == self;
      return;
    }
    Node name = arguments.child_at(is_setattr ? 1 : 0);
    if (name.is(Kind::k_keyword_argument)) name = name.child(Field::k_value);
    std::string text;
    if (!string_value(name, text)) {
      out_.dynamic = true;
      return;
    }
    // The view must outlive `text`: a plain literal's content stands in the source.
    std::string_view source = name.text();
    size_t at = source.find(text);
    if (at == std::string_view::npos) {
      out_.dynamic = true;
      return;
    }
    out_.writes.emplace(source.substr(at, text.size()), AttributeWrite{call, is_setattr ? arguments.child_at(2) : Node(), Node(), function});
  }

  const Module& module_;
  ClassFacts& out_;
};

}  // namespace

ClassFacts class_facts(const Module& module, Node class_definition) {
  ClassFacts facts;
  facts.definition = class_definition;
  FactsBuilder(module, facts).build();
  return facts;
}

std::string_view first_parameter(Node function) {
  if (!function.is(Kind::k_function_definition) || has_decorator(function, "staticmethod")) return {};
  Node p = function.child(Field::k_parameters).first_child();
  if (p.is(Kind::k_typed_parameter)) p = p.first_child();
  return p.is(Kind::k_identifier) ? p.text() : std::string_view();
}

bool is_class_method(Node function) {
  std::string_view name = function.child(Field::k_name).text();
  return name == "__init_subclass__" || name == "__class_getitem__" || has_decorator(function, "classmethod");
}

std::vector<Node> decorators_of(Node definition) {
  std::vector<Node> out;
  Node holder = definition.parent();
  if (!holder.is(Kind::k_decorated_definition)) return out;
  for (Node c : holder.children()) {
    if (c.is(Kind::k_decorator)) out.push_back(c.first_child());
  }
  return out;
}

std::string decorator_name(Node decorator) {
  if (decorator.is(Kind::k_call)) decorator = decorator.child(Field::k_function);
  return dotted_text(decorator);
}

bool has_decorator(Node definition, std::string_view last_part) {
  for (Node d : decorators_of(definition)) {
    std::string name = decorator_name(d);
    size_t dot = name.rfind('.');
    if ((dot == std::string::npos ? name : name.substr(dot + 1)) == last_part) return true;
  }
  return false;
}

}  // namespace assay
