// Where objects of a plugin's class come from.
#pragma once

#include "rules/override_calls.h"

namespace assay {

// A call of exactly this class in the plugin or the target; `call` is null when there is none.
ReachingCall creation_of(RuleContext& ctx, const ClassInfo& info);

// `return Class` in a method of the same module whose base declares `-> type[…]`: the target creates the objects.
Node handed_out(RuleContext& ctx, const Module& module, const ClassInfo& info);

}  // namespace assay
