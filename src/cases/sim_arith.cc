#include "cases/sim_arith.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "formats/vectorize.h"

namespace assay::num {
namespace {

constexpr std::int64_t kLanes = 8;
typedef float Floats __attribute__((vector_size(32)));
typedef float UnalignedFloats __attribute__((vector_size(32), aligned(4)));
typedef double Doubles __attribute__((vector_size(64)));
typedef std::int32_t Ints __attribute__((vector_size(32)));
typedef std::int64_t Bits __attribute__((vector_size(64)));

// Macros, not functions: vectors wider than the build's baseline must not cross a call.
#define load(from) (*reinterpret_cast<const UnalignedFloats*>(from))
#define wide(x) __builtin_convertvector(x, Doubles)
#define magnitude(x) (reinterpret_cast<Doubles>(reinterpret_cast<Bits>(x) & 0x7fffffffffffffff))
#define cut_to_integer(x) __builtin_convertvector(x, Ints)

constexpr std::int64_t kExponent = 0x7ff0000000000000;  // bits of a binary64
constexpr std::int64_t kPastBinary32 = 0x1fffffff;      // the 29 bits of a fraction that a binary32 lacks

int block_of(const Accumulation& a) { return a.order == Accumulation::Order::kFp8 ? 32 : a.block; }
int fraction_of(const Accumulation& a) { return a.order == Accumulation::Order::kFp8 ? 13 : a.fraction_bits; }
bool is_matrix_unit(const Accumulation& a) {
  return a.order == Accumulation::Order::kFp8 || a.order == Accumulation::Order::kMma;
}

ASSAY_VECTORIZED float lanes_dot(const float* x, const float* y, std::int64_t n) {
  Floats sum = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) sum += load(x + i) * load(y + i);
  for (; i < n; ++i) sum[i % kLanes] += x[i] * y[i];
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

float chain_dot(const float* x, const float* y, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// Four chains at once: one alone waits for each of its additions.
void four_chains(const float* x, const float* const* y, std::int64_t n, float* to) {
  float a = 0, b = 0, c = 0, d = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    a += x[i] * y[0][i];
    b += x[i] * y[1][i];
    c += x[i] * y[2][i];
    d += x[i] * y[3][i];
  }
  to[0] = a;
  to[1] = b;
  to[2] = c;
  to[3] = d;
}

// Blocks of 8, 16 or 32 products. What was cut fits an integer: less than 2^(fraction_bits + 1) a term.
ASSAY_VECTORIZED float mma_dot(const float* x, const float* y, std::int64_t n, int block, int fraction_bits) {
  float sum = 0;
  float x_tail[32], y_tail[32];
  for (std::int64_t t = 0; t < n; t += block) {
    if (t + block > n) {
      for (std::int64_t i = 0; i < block; ++i) {
        x_tail[i] = t + i < n ? x[t + i] : 0;
        y_tail[i] = t + i < n ? y[t + i] : 0;
      }
      x = x_tail - t;
      y = y_tail - t;
    }
    Doubles z[4], top = {}, not_finite = {};
    const int vectors = block / static_cast<int>(kLanes);
    for (int v = 0; v < vectors; ++v) {
      z[v] = wide(load(x + t + v * kLanes)) * wide(load(y + t + v * kLanes));
      const Doubles size = magnitude(z[v]);
      top = top > size ? top : size;
      not_finite += z[v] * 0;
    }
    double largest = std::fabs(static_cast<double>(sum)), bad = sum * 0.0;
    for (int i = 0; i < kLanes; ++i) {
      largest = largest > top[i] ? largest : top[i];
      bad += not_finite[i];
    }
    if (bad != 0) {  // NaN or infinite: no place to cut at
      for (int i = 0; i < block; ++i) sum += static_cast<float>(z[i / kLanes][i % kLanes]);
      continue;
    }
    if (largest == 0) continue;
    const std::int64_t exponent = std::bit_cast<std::int64_t>(largest) & kExponent;
    const std::int64_t cut = static_cast<std::int64_t>(fraction_bits) << 52;
    const auto step = std::bit_cast<double>(exponent - cut),
               steps = std::bit_cast<double>((std::int64_t{2046} << 52) - exponent + cut);
    Ints total = {};
    for (int v = 0; v < vectors; ++v) total += cut_to_integer(z[v] * steps);
    auto all = static_cast<std::int64_t>(sum * steps);
    for (int i = 0; i < kLanes; ++i) all += total[i];
    const double exact = static_cast<double>(all) * step;
    sum = static_cast<float>(std::bit_cast<double>(std::bit_cast<std::int64_t>(exact) & ~kPastBinary32));
  }
  return sum;
}

// Blocks of fewer terms than there are lanes.
float narrow_mma_dot(const float* x, const float* y, std::int64_t n, int block, int fraction_bits) {
  float sum = 0;
  double terms[kLanes];
  for (std::int64_t t = 0; t < n; t += block) {
    const auto count = static_cast<int>(std::min<std::int64_t>(block, n - t));
    for (int i = 0; i < count; ++i) terms[i] = static_cast<double>(x[t + i]) * y[t + i];
    sum = mma_block(sum, terms, count, fraction_bits);
  }
  return sum;
}

// One block of rows, eight dimensions at a time, from *done on: until fewer are left or something isn't
// finite.
ASSAY_VECTORIZED void mma_rows(const float* weights, const float* const* rows, int count, std::int64_t dims,
                               int fraction_bits, float* sums, std::int64_t* done) {
  const std::int64_t cut = static_cast<std::int64_t>(fraction_bits) << 52;
  for (std::int64_t& d = *done; d + kLanes <= dims; d += kLanes) {
    const Doubles sum = wide(load(sums + d));
    Doubles top = magnitude(sum), not_finite = sum * 0;
    for (int b = 0; b < count; ++b) {
      const Doubles z = static_cast<double>(weights[b]) * wide(load(rows[b] + d)), size = magnitude(z);
      top = top > size ? top : size;
      not_finite += z * 0;
    }
    double bad = 0;
    for (int i = 0; i < kLanes; ++i) bad += not_finite[i];
    if (bad != 0) return;
    const Doubles tiny = Doubles{} + 0x1p-500;  // all terms are zero: any place to cut at will do
    top = top > tiny ? top : tiny;
    const Bits exponent = reinterpret_cast<Bits>(top) & kExponent;
    const auto step = reinterpret_cast<Doubles>(exponent - cut),
               steps = reinterpret_cast<Doubles>((std::int64_t{2046} << 52) - exponent + cut);
    Ints total = cut_to_integer(sum * steps);
    for (int b = 0; b < count; ++b)
      total += cut_to_integer(static_cast<double>(weights[b]) * wide(load(rows[b] + d)) * steps);
    const Doubles exact = wide(total) * step;
    const auto whole = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(exact) & ~kPastBinary32);
    *reinterpret_cast<UnalignedFloats*>(sums + d) = __builtin_convertvector(whole, Floats);
  }
}

void add_block(const float* weights, const float* const* rows, int count, std::int64_t dims,
               int fraction_bits, float* sums) {
  std::int64_t d = 0;
  while (d < dims) {
    mma_rows(weights, rows, count, dims, fraction_bits, sums, &d);
    double terms[32];
    // The lanes that mma_rows left over, or refused.
    for (const std::int64_t end = std::min(dims, d + kLanes); d < end; ++d) {
      for (int b = 0; b < count; ++b) terms[b] = static_cast<double>(weights[b]) * rows[b][d];
      sums[d] = mma_block(sums[d], terms, count, fraction_bits);
    }
  }
}

ASSAY_VECTORIZED void add_row(float weight, const float* __restrict row, std::int64_t dims,
                              float* __restrict sums) {
  for (std::int64_t d = 0; d < dims; ++d) sums[d] += weight * row[d];
}

}  // namespace

float mma_block(float sum, const double* terms, int count, int fraction_bits) {
  double largest = std::fabs(static_cast<double>(sum));
  bool finite = std::isfinite(sum);
  for (int i = 0; i < count; ++i) {
    largest = std::max(largest, std::fabs(terms[i]));
    finite = finite && std::isfinite(terms[i]);
  }
  if (!finite) {  // no place to cut at: infinities and NaN go their way
    for (int i = 0; i < count; ++i) sum += static_cast<float>(terms[i]);
    return sum;
  }
  if (largest == 0) return 0;
  const double step = std::ldexp(1.0, std::ilogb(largest) - fraction_bits);
  double total = std::trunc(sum / step) * step;
  for (int i = 0; i < count; ++i) total += std::trunc(terms[i] / step) * step;
  // Cut, not rounded, to binary32.
  auto cut = static_cast<float>(total);
  if (std::fabs(static_cast<double>(cut)) > std::fabs(total)) cut = std::nextafterf(cut, 0.0f);
  return cut;
}

float dot_in_order(const Accumulation& order, const float* x, const float* y, std::int64_t n) {
  if (is_matrix_unit(order))
    return block_of(order) % kLanes == 0 ? mma_dot(x, y, n, block_of(order), fraction_of(order))
                                         : narrow_mma_dot(x, y, n, block_of(order), fraction_of(order));
  return order.order == Accumulation::Order::kChain ? chain_dot(x, y, n) : lanes_dot(x, y, n);
}

void dots_in_order(const Accumulation& order, const float* x, const float* const* y, std::int64_t count,
                   std::int64_t n, float* to) {
  std::int64_t j = 0;
  if (order.order == Accumulation::Order::kChain)
    for (; j + 4 <= count; j += 4) four_chains(x, y + j, n, to + j);
  for (; j < count; ++j) to[j] = dot_in_order(order, x, y[j], n);
}

void add_rows_in_order(const Accumulation& order, const float* weights, const float* const* rows,
                       std::int64_t count, std::int64_t dims, float* sums) {
  if (!is_matrix_unit(order)) {
    for (std::int64_t j = 0; j < count; ++j) add_row(weights[j], rows[j], dims, sums);
    return;
  }
  const std::int64_t block = block_of(order);
  for (std::int64_t j = 0; j < count; j += block)
    add_block(weights + j, rows + j, static_cast<int>(std::min(block, count - j)), dims, fraction_of(order),
              sums);
}

}  // namespace assay::num
