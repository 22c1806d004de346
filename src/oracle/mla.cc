#include "oracle/mla.h"

namespace assay::num {

std::vector<double> absorb_query(const MlaShape& s, std::span<const double> q_nope,
                                 std::span<const double> q_rope, std::span<const double> w_uk) {
  std::vector<double> q;
  for (std::int64_t h = 0; h < s.heads; ++h) {
    for (std::int64_t c = 0; c < s.latent; ++c) {
      double sum = 0;
      for (std::int64_t d = 0; d < s.nope; ++d)
        sum += q_nope[h * s.nope + d] * w_uk[(h * s.nope + d) * s.latent + c];
      q.push_back(sum);
    }
    for (std::int64_t d = 0; d < s.rope; ++d) q.push_back(q_rope[h * s.rope + d]);
  }
  return q;
}

std::vector<double> project_values(const MlaShape& s, std::span<const double> out,
                                   std::span<const double> w_uv) {
  std::vector<double> v(s.heads * s.v_dim, 0.0);
  for (std::int64_t h = 0; h < s.heads; ++h)
    for (std::int64_t c = 0; c < s.latent; ++c)
      for (std::int64_t d = 0; d < s.v_dim; ++d)
        v[h * s.v_dim + d] += out[h * s.latent + c] * w_uv[(h * s.latent + c) * s.v_dim + d];
  return v;
}

void expand_row(const MlaShape& s, std::span<const double> row, std::span<const double> w_uk,
                std::span<const double> w_uv, double* keys, double* values) {
  for (std::int64_t h = 0; h < s.heads; ++h) {
    for (std::int64_t d = 0; d < s.nope; ++d) {
      double sum = 0;
      for (std::int64_t c = 0; c < s.latent; ++c) sum += row[c] * w_uk[(h * s.nope + d) * s.latent + c];
      *keys++ = sum;
    }
    for (std::int64_t d = 0; d < s.rope; ++d) *keys++ = row[s.latent + d];
    for (std::int64_t d = 0; d < s.v_dim; ++d) {
      double sum = 0;
      for (std::int64_t c = 0; c < s.latent; ++c) sum += row[c] * w_uv[(h * s.latent + c) * s.v_dim + d];
      *values++ = sum;
    }
  }
}

}  // namespace assay::num
