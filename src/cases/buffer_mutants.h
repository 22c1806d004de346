// Two faults that have nothing to do with what a kernel computes, only with the buffer that it was given: a
// captured graph, a workspace or an early return leaves in it what an earlier call wrote.
#pragma once

#include "cases/family.h"

namespace assay::num {

// Adds the mutants "previous-output" and "stale-buffer" to a family whose kernels write a buffer of their
// own. The earlier call had the same shapes and parameters and other activations: the case with the next
// number of `call`, or with the next seed where the family has no parameters.
void add_buffer_mutants(Family& family);

}  // namespace assay::num
