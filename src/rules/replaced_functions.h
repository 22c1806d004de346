// Functions of other trees that a module of the plugin replaces: `holder.name = function`, `setattr(holder, "name", function)`,
// and what helpers of the plugin install.
#pragma once

#include <string>
#include <vector>

#include "rules/override_calls.h"

namespace assay {

struct ReplacedFunction {
  struct Side {
    const Module* module = nullptr;
    Node node;         // function_definition
    MethodDef method;  // kind kStatic for functions of modules
    bool kernel = false;
  };
  const Module* module = nullptr;  // where the assignment stands
  Node statement, value;
  const Module* value_module = nullptr;  // where `value` stands
  const Module* holder = nullptr;
  NodeId cls = kNoNode;  // of the holder, if it is a class
  std::string attribute;
  std::string symbol;  // dotted name of what is replaced
  Side original, replacement;

  Override as_override() const;
};

// In source order; only those whose both sides are single known functions of different trees.
std::vector<ReplacedFunction> replaced_functions(RuleContext& ctx, const Module& module);

// Whether the callee names the original.
bool names_original(RuleContext& ctx, const Module& module, Node callee, const ReplacedFunction& r);

}  // namespace assay
