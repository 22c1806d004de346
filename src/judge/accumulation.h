// How far an accumulation in binary32 can be from the exact sum: the acc[z] of docs/numerics.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace assay::num {

constexpr double kU32 = 0x1p-24;  // unit roundoff of binary32

// The order in which a kernel adds z_1 … z_N.
struct Accumulation {
  enum class Order : std::uint8_t {
    kUnknown,  // any order, on a unit no worse than `unknown_factor` roundings a term
    kChain,    // one fused multiply-add after another, in index order
    kMma,  // blocks of `block` terms, aligned to the largest exponent and cut to `fraction_bits` bits below
           // it
    kFp8,  // any order, on the 14-bit accumulators of the first FP8 tensor cores
  };
  Order order = Order::kUnknown;
  double unknown_factor = 1.4;
  int block = 16;
  int fraction_bits = 25;
};

constexpr Accumulation kChain{Accumulation::Order::kChain, 1.0, 1, 0};
constexpr Accumulation kAnyOrder{};
constexpr Accumulation kVolta{Accumulation::Order::kMma, 3.0, 4, 23};
constexpr Accumulation kAmpere{Accumulation::Order::kMma, 1.4, 8, 24};
constexpr Accumulation kHopper{Accumulation::Order::kMma, 1.4, 16, 25};
constexpr Accumulation kHopperFp8{Accumulation::Order::kFp8, 0, 32, 13};

// The order-unknown depth c: the error of N terms is at most c·u32·Σ|z|, whatever the order.
//
// Proof. In every order each term passes through at most N-1 additions of relative error u32 each, so its
// coefficient is (1+η) with |η| <= (1+u32)^(N-1) - 1; the (1 + 2^-4) pays for second order up to N = 2^20. A
// truncating matrix unit loses up to one unit of its last kept bit per aligned term instead, which the
// factors 3 and 1.4 cover for the published widths; 14-bit accumulators lose 33 units of 2^-13 per block of
// 32 terms.
double depth(const Accumulation& a, double terms);

// acc[z] for the declared order. With known order the running sums take the place of Σ|z|, which is far
// smaller for terms of mixed sign.
//
// Proof, chain: step t rounds a_t = a_{t-1} + z_t once, an error of at most u32·|a_t| that later steps carry
// along unscaled. Matrix unit: each of the block's terms and the running sum is cut at 2^-f of the largest
// magnitude m, (block+1)·2^-f·m in all, and the block's result is cut to 24 bits, 2^-23·|a_t|.
double accumulation_error(const Accumulation& a, std::span<const double> terms);

// How far a unit that cuts instead of rounding drifts towards zero, as a mean: no sum of independent errors.
// Zero for units that round, and where the order of the sums, hence their size, is unknown.
//
// Proof. A cut to 24 bits loses between nothing and 2^-23·|a_t|, half of it on average, always of the running
// sum's sign. The cuts of the terms have the terms' signs and average out where those are independent.
double drift(const Accumulation& a, std::span<const double> terms);

// Name for reports: "fp32 chain", "order unknown (1.4 roundings a term)".
std::string describe(const Accumulation& a);

}  // namespace assay::num
