// What an attention kernel declares about its rounding. The budget follows it; a kernel that keeps another
// contract is judged wrong, or reported as keeping a looser one.
#pragma once

#include <limits>
#include <string>

#include "formats/dtype.h"
#include "judge/accumulation.h"

namespace assay::num {

enum class Tanh : std::uint8_t { kExact, kFromExp, kApprox };

struct AttentionContract {
  std::string name;
  DType out = DType::kBf16;
  DType operand = DType::kBf16;     // type that rounded q·scale and dequantised keys are stored in
  Accumulation scores = kAnyOrder;  // of q·k
  Accumulation values = kAnyOrder;  // of P·V
  std::int64_t tile = 0;            // keys per step of the running softmax; 0: one step
  bool fresh_register = false;      // P·V of each step starts from zero and is added afterwards
  std::int64_t splits = 1;          // parts of the keys that are attended to apart and merged
  DType partial = DType::kF32;      // type of the parts' outputs
  DType p = DType::kF32;            // type of the weights before P·V; f32: not rounded
  int p_offset = 0;                 // log2 of the factor that e4m3 weights are scaled by
  bool p_truncated = false;
  bool sum_from_rounded_p = false;
  bool q_scaled_rounded = false;  // q·scale is stored in the operand type
  bool k_rounded = false;         // dequantised keys are stored in the operand type
  DType v_type = DType::kF64;     // dequantised values are rounded to this; f64: not rounded
  int score_roundings = 0;        // how often a score is stored in the operand type
  Tanh tanh = Tanh::kExact;
  bool lse_base2 = false;
  double empty_lse = -std::numeric_limits<double>::infinity();  // of a row that sees no key
  bool writes_lse = true;
};

}  // namespace assay::num
