// What the text of one class body says: methods, class attributes, instance attributes. Nothing is resolved here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "project/module.h"

namespace assay {

// `self.name = value` in a method.
struct AttributeWrite {
  Node target;      // the attribute node (or the call, for register_buffer("name", …) and setattr(self, "name", …))
  Node value;       // the assigned expression; null where it can't be told (tuple unpacking, for, with)
  Node annotation;  // `self.x: T = …`
  Node method;      // the function_definition
};

struct AttributeRead {
  Node node;    // the attribute node self.name
  Node method;
};

struct ClassFacts {
  Node definition;
  std::vector<Node> bases;                              // positional arguments of the class statement
  Node metaclass;                                       // value of metaclass=…, or null
  std::vector<Node> keywords;                           // other keyword arguments of the class statement
  std::vector<Node> methods;                            // function_definitions directly in the body, ifs included
  std::multimap<std::string_view, AttributeWrite> writes;
  std::multimap<std::string_view, AttributeRead> reads;
  bool dynamic = false;  // setattr(self, <computed>), self.__dict__, exec: attributes can't be listed
};

ClassFacts class_facts(const Module& module, Node class_definition);

// The name of a method's first parameter (`self`, `cls`); empty for static methods and functions without parameters.
std::string_view first_parameter(Node function);
// By its decorator, or because Python makes it one by its name.
bool is_class_method(Node function);

// The decorators of a function or class definition, without the @.
std::vector<Node> decorators_of(Node definition);
// The dotted name of a decorator, its call taken away: `functools.lru_cache` for @functools.lru_cache(maxsize=1).
std::string decorator_name(Node decorator);
bool has_decorator(Node definition, std::string_view last_part);

}  // namespace assay
