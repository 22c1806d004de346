#pragma once

#include "cases/family.h"

namespace assay::num {

// attn.varlen, attn.paged, attn.kvcache, mla.dense, mla.sparse.
std::vector<Family> attention_families();

}  // namespace assay::num
