#include "rules/rule_table.h"

#include <array>

namespace assay {

namespace {

constexpr Level kE = Level::kError;
constexpr Level kW = Level::kWarning;
constexpr Level kN = Level::kNote;
constexpr EvidenceLevel kSource = EvidenceLevel::kSourceInspected;
constexpr EvidenceLevel kSignature = EvidenceLevel::kSignatureChecked;

constexpr std::array kRules = std::to_array<RuleInfo>({
    // Names and modules
    {"missing-module", kE, "an imported module does not exist in the target", kSource},
    {"missing-symbol", kE, "a name is imported from a module that does not have it", kSource},
    {"missing-attribute", kE, "an attribute is read that the module or class does not have", kSource},
    {"missing-enum-member", kE, "an enum member is named that the enum does not have", kSource},
    {"unresolved-class-path", kE, "a dotted path in a string names nothing that exists", kSource},
    {"undefined-name", kE, "a name is used that nothing defines", kSource},
    {"syntax-error", kE, "the file is not valid Python", kSource},
    {"circular-import", kE, "an import needs a name of a module that is still being imported", kSource},
    {"eager-annotation", kE, "an annotation that is evaluated at import time names something missing",
     kSource},
    {"swallowed-import", kW, "a failing import is caught, and a feature is silently off", kSource},
    {"guarded-missing-import", kN, "an import that fails is guarded by a condition or a handler", kSource},
    {"unimported-submodule", kW, "a submodule is used through its package, and nothing imports it", kSource},
    // Registration and packaging
    {"entry-point-broken", kE, "an entry point names something that cannot be loaded", kSource},
    {"registered-not-importable", kE, "what is registered cannot be imported", kSource},
    {"registration-unreached", kW, "a registration stands in a file that nothing imports", kSource, true},
    {"not-packaged", kW, "a file that is needed is left out of the distribution", kSource},
    {"key-by-class-name", kE, "a registration under a name by which nobody looks it up", kSource},
    {"dispatch-bypass", kW, "an override that the dispatch passes by", kSource, true},
    // Calls
    {"call-missing-argument", kE, "a call leaves out a required argument", kSignature},
    {"call-unknown-argument", kE, "a call passes a keyword that the callee does not take", kSignature},
    {"call-too-many-arguments", kE, "a call passes more positional arguments than the callee takes",
     kSignature},
    {"argument-shifted", kE, "a positional argument lands on another parameter than it was written for",
     kSignature},
    {"argument-type-mismatch", kE, "an argument certainly has another type than the callee works on",
     kSignature},
    {"return-arity", kE, "a result is unpacked into another number of values than is returned", kSignature},
    {"implicit-none-return", kW, "a path ends without a value where the caller uses the result", kSource},
    {"removed-attribute", kW, "an attribute is stored that the target no longer knows", kSource},
    {"super-call-mismatch", kE, "a super() call does not fit the method it reaches", kSignature},
    {"super-in-staticmethod", kE, "super() without arguments in a static method", kSource},
    {"self-passed-explicitly", kE, "self is passed to a method that is already bound", kSignature},
    // Classes and state
    {"override-signature", kE, "an override cannot take the calls that reach it", kSignature},
    {"override-return", kE, "an override returns another shape than its callers use", kSignature},
    {"removed-hook", kW, "an override of a method that the target no longer has or calls", kSource, true},
    {"missing-abstract", kE, "a class that is created lacks an abstract method", kSource},
    {"unimplemented-hook", kW, "the target calls a method that only raises NotImplementedError here",
     kSource},
    {"uninitialised-state", kE, "an attribute is read that no constructor on this path sets", kSource},
    {"missing-member", kE, "a class that replaces another lacks what its users read", kSource},
    {"class-identity", kE, "isinstance against what is no class, or no longer the class used", kSource},
    {"constant-condition", kW, "a condition that always has the same answer", kSource},
    {"guard-not-reused", kW, "an attribute is read again without the guard that its first use has", kSource},
    // Patches
    {"patch-target-missing", kE, "a patch replaces something that the target does not have", kSource},
    {"patch-not-applied", kW, "a patch that puts nothing in place that anybody reads", kSource, true},
    {"patch-bound-too-late", kN, "a module keeps the old object: it took it before the patch ran", kSource},
    {"registry-shape", kE, "a table is replaced by one of another kind", kSource},
    {"patched-signature", kE, "a replacement cannot take the calls of what it replaces", kSignature},
});

}  // namespace

std::span<const RuleInfo> all_rules() { return kRules; }

const RuleInfo* find_rule(std::string_view name) {
  for (const RuleInfo& rule : kRules)
    if (rule.name == name) return &rule;
  return nullptr;
}

}  // namespace assay
