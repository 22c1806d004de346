// What an expression may be, as far as reading the source can tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "project/module.h"

namespace assay {

enum class Truth : uint8_t { kNo, kYes, kUnknown };

inline Truth operator!(Truth t) { return t == Truth::kUnknown ? t : t == Truth::kYes ? Truth::kNo : Truth::kYes; }
inline Truth truth_of(bool b) { return b ? Truth::kYes : Truth::kNo; }

// A class_definition of one of our modules.
struct ClassRef {
  const Module* module = nullptr;
  NodeId node = kNoNode;
  explicit operator bool() const { return module != nullptr; }
  bool operator==(const ClassRef&) const = default;
  auto operator<=>(const ClassRef&) const = default;
  Node definition() const { return module ? module->at(node) : Node(); }
};

enum class ValueKind : uint8_t {
  kModule,            // module
  kClass,             // module, node: class_definition
  kFunction,          // module, node: function_definition or lambda; self: the class it is bound to, if any
  kInstance,          // module, node: of its class; text: the member's name for an enum member
  kExternal,          // text: dotted name of a thing in a package that is not ours (also builtins.NAME)
  kExternalInstance,  // text: dotted name of its class
  kString,            // text
  kInteger,           // number
  kBool,              // number
  kNone,
  kLiteral,           // module, node: a tuple, list, set or dictionary display
  kVersion,           // text: packaging.version.Version of that text
  kSuper,             // self: the class after which the search starts; receiver: whose MRO is searched
  kSignature,         // module, node: inspect.signature of that function
};

// How a function was reached decides whether its first parameter is already given.
enum class Bound : uint8_t { kNo, kInstance, kClass };

struct Value {
  ValueKind kind = ValueKind::kNone;
  Bound bound = Bound::kNo;
  bool declared = false;  // known from an annotation: the real object may be of a subclass
  bool kernel = false;    // a Triton kernel after [grid]
  const Module* module = nullptr;
  NodeId node = kNoNode;
  ClassRef self;      // bound functions: the class it was looked up on; kSuper
  ClassRef receiver;  // kSuper
  int64_t number = 0;
  std::string_view text;

  bool operator==(const Value&) const = default;
  ClassRef class_ref() const { return {module, node}; }
  Node definition() const { return module && node != kNoNode ? module->at(node) : Node(); }
};

// The alternatives. `open`: it may also be something that is not listed, for the reason given.
struct Values {
  std::vector<Value> list;
  bool open = false;
  const char* reason = "";

  static Values unknown(const char* why) { return {{}, true, why}; }
  static Values of(Value v) { return {{v}, false, ""}; }
  bool known() const { return !open && !list.empty(); }
  const Value* single() const { return !open && list.size() == 1 ? &list[0] : nullptr; }
  void add(const Value& v);
  void merge(const Values& other);
};

Value module_value(const Module& module);
Value class_value(ClassRef ref);
Value instance_value(ClassRef ref);
Value external_value(std::string_view interned_dotted);
Value string_constant(std::string_view interned);
Value bool_value(bool b);
Value integer_value(int64_t n);

// Equality of two constants: unknown where either is no constant.
Truth equal(const Value& a, const Value& b);
// Truth of a value as a condition.
Truth truthiness(const Value& v);
// PEP 440 comparison of release segments and pre/post/dev parts: <0, 0, >0.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace assay
