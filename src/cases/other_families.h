// The families beside attention, one file each.
#pragma once

#include <vector>

#include "cases/family.h"

namespace assay::num {

Family merge_family();
std::vector<Family> indexer_families();   // indexer.logits, indexer.topk
std::vector<Family> parallel_families();  // cp.attention, index.convert, batch.split
std::vector<Family> cache_families();     // cache.insert, cache.gather
std::vector<Family> weight_families();    // quant.wna16, quant.repack
std::vector<Family> scaled_families();    // quant.w8a8, quant.fp8block
std::vector<Family> moe_families();       // quant.moe
std::vector<Family> op_families();        // ops.rmsnorm, ops.rotary, ops.activation, ops.router

}  // namespace assay::num
