#include "oracle/mla.h"

#include <gtest/gtest.h>

#include "oracle/testing.h"

namespace assay::num {
namespace {

// The absorbed attention over the cache, projected, is the plain attention over expanded keys and values.
TEST(Mla, AbsorbedEqualsPlain) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const MlaShape s{3, 8, 4, 16, 6};
    const std::int64_t n = 20;
    std::vector<std::byte> rows_b, uk_b, uv_b, qn_b, qr_b, qa_b, k_b, v_b, qp_b;
    const auto values = [](std::vector<std::byte>& b, Shape shape, std::uint64_t from) {
      const TensorView t = testing::fill(b, DType::kF64, shape, from);
      std::vector<double> all;
      for (std::int64_t i = 0; i < *element_count(shape); ++i) all.push_back(t.load(i));
      return all;
    };
    const auto rows = values(rows_b, {n, s.latent + s.rope}, seed),
               w_uk = values(uk_b, {s.heads, s.nope, s.latent}, seed + 1),
               w_uv = values(uv_b, {s.heads, s.latent, s.v_dim}, seed + 2),
               q_nope = values(qn_b, {s.heads, s.nope}, seed + 3),
               q_rope = values(qr_b, {s.heads, s.rope}, seed + 4);
    AttentionProblem absorbed;
    absorbed.q_lens = {1};
    absorbed.kv_lens = {n};
    absorbed.scale = 0.3;
    absorbed.q = testing::fill(qa_b, DType::kF64, {1, s.heads, s.latent + s.rope}, 0);
    const auto q = absorb_query(s, q_nope, q_rope, w_uk);
    for (std::int64_t h = 0; h < s.heads; ++h)
      for (std::int64_t d = 0; d < s.latent + s.rope; ++d)
        absorbed.q.set({0, h, d}, q[h * (s.latent + s.rope) + d]);
    const Shape strides = {s.latent + s.rope, s.latent + s.rope, s.latent + s.rope, 1};
    absorbed.kv.k = *TensorView::make(rows_b, DType::kF64, {n, 1, 1, s.latent + s.rope}, strides);
    absorbed.kv.v = *TensorView::make(rows_b, DType::kF64, {n, 1, 1, s.latent}, strides);
    const auto a = attend(absorbed);
    ASSERT_TRUE(a);

    AttentionProblem plain;
    plain.q_lens = {1};
    plain.kv_lens = {n};
    plain.scale = 0.3;
    plain.q = testing::fill(qp_b, DType::kF64, {1, s.heads, s.nope + s.rope}, 0);
    plain.kv.k = testing::fill(k_b, DType::kF64, {n, 1, s.heads, s.nope + s.rope}, 0);
    plain.kv.v = testing::fill(v_b, DType::kF64, {n, 1, s.heads, s.v_dim}, 0);
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t d = 0; d < s.nope; ++d) plain.q.set({0, h, d}, q_nope[h * s.nope + d]);
      for (std::int64_t d = 0; d < s.rope; ++d) plain.q.set({0, h, s.nope + d}, q_rope[h * s.rope + d]);
    }
    std::vector<double> keys(s.heads * (s.nope + s.rope)), vals(s.heads * s.v_dim);
    for (std::int64_t j = 0; j < n; ++j) {
      expand_row(s, {&rows[j * (s.latent + s.rope)], static_cast<std::size_t>(s.latent + s.rope)}, w_uk, w_uv,
                 keys.data(), vals.data());
      for (std::int64_t h = 0; h < s.heads; ++h) {
        for (std::int64_t d = 0; d < s.nope + s.rope; ++d)
          plain.kv.k.set({j, 0, h, d}, keys[h * (s.nope + s.rope) + d]);
        for (std::int64_t d = 0; d < s.v_dim; ++d) plain.kv.v.set({j, 0, h, d}, vals[h * s.v_dim + d]);
      }
    }
    const auto b = attend(plain);
    ASSERT_TRUE(b);
    const auto projected = project_values(s, a->out, w_uv);
    for (std::size_t i = 0; i < projected.size(); ++i) EXPECT_NEAR(projected[i], b->out[i], 1e-10);
    for (std::size_t h = 0; h < a->lse.size(); ++h) EXPECT_NEAR(a->lse[h], b->lse[h], 1e-11);
  }
}

}  // namespace
}  // namespace assay::num
