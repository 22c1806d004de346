#include "oracle/dense_kernels.h"

#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ASSAY_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY_CLONES
#endif

namespace assay::num {
namespace {

constexpr std::int64_t kDimBlock = 32;

}  // namespace

std::vector<double> tile_keys(const double* k, std::int64_t n, std::int64_t dim) {
  std::vector<double> tiled(padded_keys(n) * dim, 0.0);
  for (std::int64_t j = 0; j < n; ++j) {
    double* block = tiled.data() + j / kKeyBlock * kKeyBlock * dim + j % kKeyBlock;
    for (std::int64_t d = 0; d < dim; ++d) block[d * kKeyBlock] = k[j * dim + d];
  }
  return tiled;
}

ASSAY_CLONES void dots_and_spreads(const double* q, const double* tiled, std::int64_t dim, std::int64_t first,
                                   std::int64_t last, std::int64_t stride, double scale, double* raw,
                                   double* spread) {
  for (std::int64_t j = first / kKeyBlock * kKeyBlock; j < last; j += kKeyBlock)
    for (std::int64_t r = 0; r < kRowBlock; r += 4) {
      double sum[4][kKeyBlock] = {}, size[4][kKeyBlock] = {};
      for (std::int64_t d = 0; d < dim; ++d) {
        const double* key = tiled + j * dim + d * kKeyBlock;
        for (std::int64_t a = 0; a < 4; ++a) {
          const double x = q[(r + a) * dim + d];
          for (std::int64_t c = 0; c < kKeyBlock; ++c) {
            sum[a][c] += x * key[c];
            size[a][c] += std::fabs(x * key[c]);
          }
        }
      }
      for (std::int64_t a = 0; a < 4; ++a)
        for (std::int64_t c = 0; c < kKeyBlock; ++c) {
          raw[(r + a) * stride + j + c] = scale * sum[a][c];
          spread[(r + a) * stride + j + c] = std::fabs(scale) * size[a][c];
        }
    }
}

double exponentials(const double* score, std::int64_t n, double top, double* weight) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += weight[j] = std::exp(score[j] - top);
  return sum;
}

ASSAY_CLONES void weighted_values(const double* weight, std::int64_t stride, const double* v, std::int64_t dim,
                                  std::int64_t first, std::int64_t last, double* out) {
  for (std::int64_t r = 0; r < kRowBlock; r += 4)
    for (std::int64_t d = 0; d < dim; d += kDimBlock) {
      const std::int64_t width = dim - d < kDimBlock ? dim - d : kDimBlock;
      if (width == kDimBlock) {
        double sum[4][kDimBlock] = {};
        for (std::int64_t j = first; j < last; ++j)
          for (std::int64_t a = 0; a < 4; ++a) {
            const double p = weight[(r + a) * stride + j];
            for (std::int64_t c = 0; c < kDimBlock; ++c) sum[a][c] += p * v[j * dim + d + c];
          }
        for (std::int64_t a = 0; a < 4; ++a)
          for (std::int64_t c = 0; c < kDimBlock; ++c) out[(r + a) * dim + d + c] += sum[a][c];
        continue;
      }
      for (std::int64_t a = 0; a < 4; ++a)
        for (std::int64_t j = first; j < last; ++j)
          for (std::int64_t c = 0; c < width; ++c)
            out[(r + a) * dim + d + c] += weight[(r + a) * stride + j] * v[j * dim + d + c];
    }
}

}  // namespace assay::num
