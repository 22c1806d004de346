// Small random problems for the tests of this room and those below it.
#pragma once

#include <memory>

#include "formats/random.h"
#include "oracle/attention.h"

namespace assay::num::testing {

// A problem together with the bytes that its views point into.
struct Held {
  std::vector<std::byte> q, k, v;
  AttentionProblem problem;
};

inline TensorView fill(std::vector<std::byte>& bytes, DType type, Shape shape, std::uint64_t seed,
                       double size = 1) {
  const std::int64_t count = *element_count(shape);
  bytes.resize(static_cast<std::size_t>(count * dtype_bits(type) / 8));
  auto view = TensorView::make(bytes, type, shape, contiguous_strides(shape));
  ASSAY_CHECK(view.has_value(), "test tensor");
  auto flat = TensorView::make(bytes, type, {count}, {1});
  for (std::int64_t i = 0; i < count; ++i) flat->set({i}, size * Random(seed).normal(i));
  return *view;
}

// Everything that the seed decides: lengths (0 included), heads, dims, pages in random order, mask, softcap,
// ALiBi, sinks.
inline std::unique_ptr<Held> random_problem(std::uint64_t seed) {
  auto held = std::make_unique<Held>();
  AttentionProblem& p = held->problem;
  Draw draw(seed);
  const std::int64_t requests = draw.between(1, 3), kv_heads = draw.between(1, 3), group = draw.between(1, 4);
  const std::int64_t qk = 8 * draw.between(1, 5), vd = draw.chance(0.5) ? qk : 8 * draw.between(1, 6);
  const std::int64_t size = draw.between(1, 7);
  std::int64_t tokens = 0, blocks = 0;
  for (std::int64_t r = 0; r < requests; ++r) {
    p.q_lens.push_back(draw.between(0, 20));
    p.kv_lens.push_back(draw.chance(0.2) ? 0 : draw.between(1, 90));
    tokens += p.q_lens.back();
    const std::int64_t pages = (p.kv_lens.back() + size - 1) / size;
    p.kv.table.emplace_back();
    for (std::int64_t i = 0; i < pages; ++i)
      p.kv.table.back().push_back(static_cast<std::int32_t>(blocks + pages - 1 - i));
    blocks += pages;
  }
  p.q = fill(held->q, DType::kBf16, {tokens, kv_heads * group, qk}, seed + 1);
  p.kv.k = fill(held->k, DType::kBf16, {blocks, size, kv_heads, qk}, seed + 2);
  p.kv.v = fill(held->v, DType::kBf16, {blocks, size, kv_heads, vd}, seed + 3);
  p.scale = draw.chance(0.5) ? 0.3 : 1.0;
  p.mask.causal = draw.chance(0.5);
  if (draw.chance(0.3)) p.mask.corner = Corner::kUpperLeft;
  if (draw.chance(0.4)) p.mask.window_left = draw.between(0, 30);
  if (draw.chance(0.3)) p.mask.window_right = draw.between(0, 10);
  if (draw.chance(0.3))
    for (std::int64_t r = 0; r < requests; ++r) p.causal.push_back(draw.chance(0.5));
  if (draw.chance(0.3)) p.softcap = 2;
  for (std::int64_t h = 0; h < kv_heads * group; ++h) {
    if (seed % 3 == 0) p.alibi.push_back(0.1 * static_cast<double>(h + 1));
    if (seed % 4 == 0) p.sink.push_back(draw.normal());
  }
  if (draw.chance(0.3)) p.kv.k_scale.tensor = 0.5;
  if (draw.chance(0.3))
    for (std::int64_t h = 0; h < kv_heads; ++h)
      p.kv.v_scale.head.push_back(1.0 + 0.5 * static_cast<double>(h));
  return held;
}

}  // namespace assay::num::testing
