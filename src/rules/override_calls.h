// Which calls reach a method of a plugin's class. A call in the text names only the method; who receives it is inferred,
// and where that fails the call counts only if no other class that defines the name could take it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/context.h"

namespace assay {

enum class MethodKind : uint8_t { kInstance, kClass, kStatic, kProperty };

// One method as a class body defines it.
struct MethodDef {
  ClassRef owner;
  const Module* module = nullptr;
  Node function;          // null: `definition` is an assignment of a constant
  Node definition;        // the function, or the assigned name
  MethodKind kind = MethodKind::kInstance;
  Signature signature;    // as written
  explicit operator bool() const { return module != nullptr; }

  // What a call through an object (or through the class) binds to.
  Signature bound(bool through_class) const;
};

// The one live definition that the MRO holds after `after` (from the class itself on, if that is empty); empty where
// there are several, where a decorator hides the signature, or where a base is not known.
MethodDef method_of(RuleContext& ctx, ClassRef cls, std::string_view name, ClassRef after = {});
// The nearest definition above the class that belongs to the target; where none does, the nearest.
MethodDef base_method(RuleContext& ctx, ClassRef cls, std::string_view name);
// The definition in exactly this class.
MethodDef own_method(RuleContext& ctx, ClassRef cls, std::string_view name);

struct Override {
  ClassRef cls;
  std::string_view name;
  MethodDef own;
  MethodDef base;  // the nearest of the target; where the target has none, the nearest
};

enum class Reaches : uint8_t { kNo, kPerhaps, kYes };

struct ReachingCall {
  const Module* module = nullptr;
  Node call;
  CallShape shape;
  bool through_class = false;
  Reaches reaches = Reaches::kNo;
  BindResult failure;  // against the override
};

// Every method or constant of the class body that a base defines too, in the order of their names.
std::vector<Override> overrides_of(RuleContext& ctx, const Module& module, Node class_definition);

// The calls that the base takes and the override certainly does not, the most certain first.
std::vector<ReachingCall> failing_calls(RuleContext& ctx, const Override& override_);

// The calls that fit the base and reach the override, at most `limit`; certain ones only unless `perhaps`.
std::vector<ReachingCall> reaching_calls(RuleContext& ctx, const Override& override_, size_t limit, bool perhaps = false);

// Whether the call of `override_.name` at the node reaches the override's class.
Reaches reaches(RuleContext& ctx, const Override& override_, const Module& module, Node call, const CallShape& shape,
                bool& through_class);

}  // namespace assay
