// Arithmetic of simulated kernels: sums as real units make them, in binary32 or coarser.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "formats/small_float.h"
#include "judge/accumulation.h"

namespace assay::num {

// One block of a matrix unit: the terms and the running sum are cut below the largest one, added exactly, cut
// to 24 bits.
inline float mma_block(float sum, const double* terms, int count, int fraction_bits) {
  double largest = std::fabs(static_cast<double>(sum));
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::fabs(terms[i]));
  if (largest == 0) return 0;
  if (!std::isfinite(largest)) {  // no place to cut at: infinities and NaN go their way
    for (int i = 0; i < count; ++i) sum += static_cast<float>(terms[i]);
    return sum;
  }
  const double step = std::ldexp(1.0, std::ilogb(largest) - fraction_bits);
  double total = std::trunc(sum / step) * step;
  for (int i = 0; i < count; ++i) total += std::trunc(terms[i] / step) * step;
  // Cut, not rounded, to binary32.
  auto cut = static_cast<float>(total);
  if (std::fabs(static_cast<double>(cut)) > std::fabs(total)) cut = std::nextafterf(cut, 0.0f);
  return cut;
}

// A running sum over a sequence of products, in the declared order.
class Accumulator {
 public:
  explicit Accumulator(const Accumulation& a) : a_(a) {}

  void add(float x, float y) {
    switch (a_.order) {
      case Accumulation::Order::kChain:
        sum_ += x * y;
        return;
      case Accumulation::Order::kUnknown:  // eight lanes
        lanes_[next_++ % 8] += x * y;
        return;
      default:
        terms_[held_++] = static_cast<double>(x) * y;
        if (held_ == width()) flush();
    }
  }

  float total() {
    if (a_.order == Accumulation::Order::kUnknown)
      return ((lanes_[0] + lanes_[4]) + (lanes_[2] + lanes_[6])) +
             ((lanes_[1] + lanes_[5]) + (lanes_[3] + lanes_[7]));
    flush();
    return sum_;
  }

 private:
  bool fp8() const { return a_.order == Accumulation::Order::kFp8; }
  int width() const { return fp8() ? 32 : a_.block; }
  void flush() {
    if (held_ > 0) sum_ = mma_block(sum_, terms_, held_, fp8() ? 13 : a_.fraction_bits);
    held_ = 0;
  }

  Accumulation a_;
  float sum_ = 0, lanes_[8] = {};
  double terms_[32];
  int held_ = 0;
  unsigned next_ = 0;
};

}  // namespace assay::num
