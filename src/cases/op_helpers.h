// What the families of small operators share.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cases/simple_workload.h"
#include "oracle/moe.h"

namespace assay::num {

inline const std::vector<std::string> kTypes = {"bf16", "f16", "f32"};
inline KeySpec type_key() { return {"dtype", KeyKind::kWord, "bf16", 0, 0, kTypes, ""}; }
inline KeySpec count_key(const char* name, const char* fallback) {
  return {name, KeyKind::kInt, fallback, 1, 1 << 18, {}, ""};
}
// "silu", "gelu-tanh", "gelu" or "swiglu-oai", as the schemas allow.
inline Activation activation_named(const std::string& name) {
  return name == "silu"        ? Activation::kSilu
         : name == "gelu-tanh" ? Activation::kGeluTanh
         : name == "gelu"      ? Activation::kGeluErf
                               : Activation::kSwigluOai;
}
inline double out_rounding(DType type, double o) {
  return unit_roundoff(type) * std::fabs(o) + std::max(subnormal_roundoff(type), 0x1p-149);
}

inline Reference rows_reference(std::string name, DType type, std::int64_t rows, std::int64_t dim) {
  Reference r;
  r.name = std::move(name);
  r.type = type;
  r.shape = {rows, dim};
  r.axes = {"row", "dim"};
  return r;
}

}  // namespace assay::num
