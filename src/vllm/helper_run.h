// Runs small functions of the plugin in the abstract, far enough to see which attribute of which module or
// class they set: that is how a patch helper is recognised, whatever it is called.
#pragma once

#include <string>
#include <vector>

#include "vllm/place.h"

namespace assay {

struct AttributeSet {
  Place owner;  // the module or class
  std::string attribute;
  const Module* helper = nullptr;  // where the assignment stands
  Node statement;
  const Module* module = nullptr;  // where the new value stands
  Node value;                      // null if it isn't known
};

// What evaluating the call sets, as far as it depends on the call's own arguments. `definition`: the
// expression decorates that function or class. Text, lists, modules, classes and functions are followed, also
// into inner functions; everything else is unknown. Both branches of an undecided condition run. Bounded:
// what takes too many steps sets nothing.
std::vector<AttributeSet> attributes_set_by(Semantics& semantics, const Module& module, Node expression,
                                            Node definition = {});

}  // namespace assay
