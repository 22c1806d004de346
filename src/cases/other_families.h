// The families beside attention, one file each.
#pragma once

#include <vector>

#include "cases/family.h"

namespace assay::num {

Family merge_family();
Family cp_family();                      // cp.attention
std::vector<Family> indexer_families();  // indexer.logits, indexer.topk
std::vector<Family> index_families();    // index.convert, batch.split
std::vector<Family> cache_families();    // cache.insert, cache.gather
std::vector<Family> weight_families();   // quant.wna16, quant.repack
std::vector<Family> scaled_families();   // quant.w8a8, quant.fp8block
Family moe_family();                     // quant.moe
Family rmsnorm_family();
Family rotary_family();
Family activation_family();
Family router_family();

}  // namespace assay::num
