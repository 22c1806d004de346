// Multi-head latent attention: the absorbed form that kernels run, and what makes it equal to the plain one.
// Source: DeepSeek-V2 (arXiv:2405.04434) §2.1; vLLM's MLACommonImpl.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::num {

struct MlaShape {
  std::int64_t heads = 0, nope = 0, rope = 0, latent = 0, v_dim = 0;
};

// q_nope[heads][nope], q_rope[heads][rope] and w_uk[heads][nope][latent] -> [heads][latent + rope]: the query
// against [latent | rope] rows of the cache.
std::vector<double> absorb_query(const MlaShape& shape, std::span<const double> q_nope,
                                 std::span<const double> q_rope, std::span<const double> w_uk);

// out[heads][latent] of the absorbed attention and w_uv[heads][latent][v_dim] -> [heads][v_dim].
std::vector<double> project_values(const MlaShape& shape, std::span<const double> out,
                                   std::span<const double> w_uv);

// One cached row [latent | rope] -> the plain keys [heads][nope + rope] and values [heads][v_dim].
void expand_row(const MlaShape& shape, std::span<const double> row, std::span<const double> w_uk,
                std::span<const double> w_uv, double* keys, double* values);

}  // namespace assay::num
