#include "oracle/dense_kernels.h"

#include <cmath>

#include "formats/vectorize.h"

namespace assay::num {
namespace {

typedef double Eight __attribute__((vector_size(64)));
typedef double Unaligned __attribute__((vector_size(64), aligned(8)));
typedef std::int64_t EightBits __attribute__((vector_size(64)));

// Macros, not functions: vectors wider than the build's baseline must not cross a call.
#define load(from) (*reinterpret_cast<const Unaligned*>(from))
#define store(to, value) (*reinterpret_cast<Unaligned*>(to) = (value))
#define magnitude(x) (reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x) & 0x7fffffffffffffff))

}  // namespace

void tile_key(const double* key, std::int64_t j, std::int64_t dim, double* tiled) {
  double* block = tiled + j / kKeyBlock * kKeyBlock * dim + j % kKeyBlock;
  for (std::int64_t d = 0; d < dim; ++d) block[d * kKeyBlock] = key[d];
}

ASSAY_VECTORIZED void narrow_row(const double* __restrict v, std::int64_t dim, float* __restrict narrow,
                                 double* __restrict largest) {
  for (std::int64_t d = 0; d < dim; ++d) {
    const double size = std::fabs(v[d]);
    narrow[d] = static_cast<float>(v[d]);
    largest[d] = largest[d] > size ? largest[d] : size;
  }
}

// Four rows and sixteen keys at a time: sixteen accumulators, each used in one fused multiply-add a
// dimension.
ASSAY_VECTORIZED void dots_and_spreads(const double* q, const double* tiled, std::int64_t dim,
                                       std::int64_t first, std::int64_t last, std::int64_t rows,
                                       std::int64_t stride, double scale, double* raw, double* spread) {
  for (std::int64_t j = first / kKeyBlock * kKeyBlock; j < last; j += kKeyBlock)
    for (std::int64_t r = 0; r < rows; r += 4) {
      Eight sum[4][2] = {}, size[4][2] = {};
      for (std::int64_t d = 0; d < dim; ++d) {
        const Eight k0 = load(tiled + j * dim + d * kKeyBlock),
                    k1 = load(tiled + j * dim + d * kKeyBlock + 8);
        const Eight a0 = magnitude(k0), a1 = magnitude(k1);
#pragma GCC unroll 4
        for (int a = 0; a < 4; ++a) {
          const double x = q[(r + a) * dim + d], y = std::fabs(x);
          sum[a][0] += x * k0;
          sum[a][1] += x * k1;
          size[a][0] += y * a0;
          size[a][1] += y * a1;
        }
      }
      for (int a = 0; a < 4; ++a)
        for (int half = 0; half < 2; ++half) {
          store(raw + (r + a) * stride + j + 8 * half, scale * sum[a][half]);
          store(spread + (r + a) * stride + j + 8 * half, std::fabs(scale) * size[a][half]);
        }
    }
}

double exponentials(const double* score, std::int64_t n, double top, double* weight) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += weight[j] = std::exp(score[j] - top);
  return sum;
}

ASSAY_VECTORIZED void weighted_values(const double* weight, std::int64_t stride, const double* v,
                                      std::int64_t dim, std::int64_t first, std::int64_t last,
                                      std::int64_t rows, double* out) {
  for (std::int64_t r = 0; r < rows; r += 4) {
    std::int64_t d = 0;
    for (; d + 16 <= dim; d += 16) {
      Eight sum[4][2] = {};
      for (std::int64_t j = first; j < last; ++j) {
        const Eight v0 = load(v + j * dim + d), v1 = load(v + j * dim + d + 8);
#pragma GCC unroll 4
        for (int a = 0; a < 4; ++a) {
          const double p = weight[(r + a) * stride + j];
          sum[a][0] += p * v0;
          sum[a][1] += p * v1;
        }
      }
      for (int a = 0; a < 4; ++a)
        for (int half = 0; half < 2; ++half) {
          double* to = out + (r + a) * dim + d + 8 * half;
          store(to, load(to) + sum[a][half]);
        }
    }
    for (; d < dim; ++d)
      for (std::int64_t a = 0; a < 4; ++a)
        for (std::int64_t j = first; j < last; ++j)
          out[(r + a) * dim + d] += weight[(r + a) * stride + j] * v[j * dim + d];
  }
}

}  // namespace assay::num
