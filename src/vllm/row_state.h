// Whether a place of the plugin takes effect: active, conditional, inactive or dead, and by which way it is
// reached.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"
#include "project/reach.h"
#include "project/semantics.h"

namespace assay {

// White space folded, cut where it gets long.
std::string one_line(std::string_view text);

class RowState {
 public:
  RowState(Semantics& semantics, const Reachability& reach) : semantics_(semantics), reach_(reach) {}

  // Fills state, condition and activation.
  void fill(const Module& module, Node place, InventoryRow& row);
  // "file:line what", from the entry point to the module.
  std::vector<std::string> activation(const Module& module) const;

 private:
  void conditions(const Module& module, Node place, InventoryRow& row);

  Semantics& semantics_;
  const Reachability& reach_;
};

}  // namespace assay
