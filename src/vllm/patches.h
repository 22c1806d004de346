// What the plugin changes in modules and classes that are not its own: attributes assigned from outside, by
// plain assignment, by setattr, or through a helper of the plugin's; and modules replaced in the import
// system.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "project/semantics.h"
#include "vllm/place.h"

namespace assay {

// One attribute of one foreign module or class.
struct PatchSite {
  Place owner;
  std::string attribute;
  std::string target;              // owner.attribute
  const Module* module = nullptr;  // where it is installed
  Node place;                      // the assignment, the setattr call, the helper's call, or its decorator
  const Module* value_module = nullptr;
  Node value;              // the new value; null if it can't be told
  bool decorator = false;  // `place` decorates `value`: the helper hands it on unchanged
};

// Stands for an import function that was replaced by one without a literal map.
inline constexpr const char* kImportHook = "builtins.__import__";

// `sys.modules["m"] = obj`, `del sys.modules["m"]`, or a replaced import function with a literal map.
struct ModuleRedirect {
  std::string name;  // the module that importers ask for; or kImportHook
  std::string to;    // dotted name of what they get; empty: not known
  const Module* module = nullptr;
  Node place;
  bool removes = false;  // `del sys.modules["m"]`: the next import makes it anew
};

struct Patches {
  std::vector<PatchSite> sites;
  std::vector<ModuleRedirect> redirects;
};

// In the order of the files; places that are dead on this platform included. `semantics` needs no patch
// table.
Patches find_patches(Semantics& semantics, const SourceTree& plugin,
                     const std::vector<const Module*>& modules);

// What the engine takes: the patches whose owner is a module or class of the project, those that are dead
// left out. `counts` may leave out more (what nothing reaches).
PatchTable collect_patches(Semantics& semantics, const Patches& patches,
                           const std::function<bool(const PatchSite&)>& counts = {});

}  // namespace assay
