// The inner loops of the oracle: small dense kernels in binary64, written so that a compiler vectorises them.
// Functions with several instruction sets choose at load time; the results differ by rounding of binary64
// only.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::num {

constexpr std::int64_t kRowBlock = 8;   // query rows worked on together
constexpr std::int64_t kKeyBlock = 16;  // keys that lie side by side in the tiled form

inline std::int64_t padded_keys(std::int64_t n) { return (n + kKeyBlock - 1) / kKeyBlock * kKeyBlock; }

// Puts key j into its block of the tiled form: blocks of kKeyBlock keys, each [dim][kKeyBlock].
void tile_key(const double* key, std::int64_t j, std::int64_t dim, double* tiled);

// v[dim] rounded to binary32, and its magnitudes taken into `largest`.
void narrow_row(const double* v, std::int64_t dim, float* narrow, double* largest);

// raw[r][j] = scale·q[r]·k[j] and spread[r][j] = |scale|·Σ|q[r]·k[j]| for `rows` rows (worked on in fours)
// and keys [first, last), rounded outwards to whole key blocks. Rows of raw and spread are `stride` apart.
void dots_and_spreads(const double* q, const double* tiled, std::int64_t dim, std::int64_t first,
                      std::int64_t last, std::int64_t rows, std::int64_t stride, double scale, double* raw,
                      double* spread);

// weight[j] = exp(score[j] - top); returns their sum.
double exponentials(const double* score, std::int64_t n, double top, double* weight);

// out[r][d] += Σ_j weight[r][j]·v[j][d] for `rows` rows (in fours) and keys [first, last).
void weighted_values(const double* weight, std::int64_t stride, const double* v, std::int64_t dim,
                     std::int64_t first, std::int64_t last, std::int64_t rows, double* out);

}  // namespace assay::num
