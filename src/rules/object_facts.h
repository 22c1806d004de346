// What the rules about objects share: whether a class certainly lacks an attribute, and whether the code asked first.
#pragma once

#include <string>
#include <string_view>

#include "rules/context.h"

namespace assay {

enum class Lack : uint8_t {
  kNo,      // it may have it
  kLikely,  // code sets such an attribute on objects whose class is not known, but other classes explain that
  kCertain,
};

// Whether no object of the class (or, where `subclasses` counts, of a class derived from it) can have the attribute: the
// method resolution order is known to its end, nothing in it defines or sets the name, and no code of any tree sets it
// from outside.
Lack lacks_attribute(RuleContext& ctx, ClassRef ref, std::string_view name, bool subclasses);

// hasattr, getattr, isinstance or a version test asks around the use of the attribute, or a handler catches
// AttributeError.
bool asked_before(const Module& module, Node attribute);

bool is_store_target(Node attribute);

// The class_definition of the module that stands in this line; null if there is none.
Node class_in_line(const Module& module, uint32_t line);

// The nearest name of those that the class has, for "did you mean"; empty if none is close.
std::string closest_member(RuleContext& ctx, ClassRef ref, std::string_view name);

}  // namespace assay
