#include "oracle/weights.h"

#include <fmt/format.h>

#include "oracle/arguments.h"

namespace assay::num {
namespace {

// Where element (row, column) of a packed tensor lies: a word and a shift.
struct Place {
  std::int64_t word;
  int shift;
};

bool compressed(const PackedWeight& w) { return w.format == WeightFormat::kCompressedTensors; }

Place code_place(const PackedWeight& w, std::int64_t k, std::int64_t n) {
  const std::int64_t pack = 32 / w.bits;
  if (compressed(w)) return {n * (w.k / pack) + k / pack, static_cast<int>(k % pack * w.bits)};
  if (w.format == WeightFormat::kAwq) {
    const std::int64_t slot = w.bits == 4 ? kAwqSlot[n % 8] : n % pack;
    return {k * (w.n / pack) + n / pack, static_cast<int>(slot * w.bits)};
  }
  return {k / pack * w.n + n, static_cast<int>(k % pack * w.bits)};
}

Place zero_place(const PackedWeight& w, std::int64_t groups, std::int64_t g, std::int64_t n) {
  const std::int64_t pack = 32 / w.bits;
  if (compressed(w)) return {n / pack * groups + g, static_cast<int>(n % pack * w.bits)};
  const std::int64_t slot = w.format == WeightFormat::kAwq && w.bits == 4 ? kAwqSlot[n % 8] : n % pack;
  return {g * (w.n / pack) + n / pack, static_cast<int>(slot * w.bits)};
}

std::int64_t group_count(const PackedWeight& w) { return w.group > 0 ? (w.k + w.group - 1) / w.group : 1; }

Expected<void> check(const PackedWeight& w) {
  if (w.bits != 4 && w.bits != 8) return fail(fmt::format("bits: {}", w.bits));
  const std::int64_t pack = 32 / w.bits, groups = group_count(w);
  const std::int64_t packed_dim = w.format == WeightFormat::kAwq ? w.n : w.k;
  if (packed_dim % pack != 0)
    return fail(fmt::format("{}: {} is no multiple of {}", packed_dim == w.n ? "n" : "k", packed_dim, pack));
  if (auto ok = expect_count("qweight", w.qweight.size(), w.k * w.n / pack); !ok) return ok;
  if (auto ok = expect_count("scales", w.scales.size(), groups * w.n); !ok) return ok;
  if (auto ok = expect_finite("scales", w.scales); !ok) return ok;
  if (!w.symmetric && w.n % pack != 0) return fail(fmt::format("n: {} is no multiple of {}", w.n, pack));
  if (!w.symmetric)
    if (auto ok = expect_count("qzeros", w.qzeros.size(), groups * w.n / pack); !ok) return ok;
  if (w.g_idx.empty()) return {};
  if (auto ok = expect_count("g_idx", w.g_idx.size(), w.k); !ok) return ok;
  for (std::size_t i = 0; i < w.g_idx.size(); ++i)
    if (w.g_idx[i] < 0 || w.g_idx[i] >= groups)
      return fail(fmt::format("g_idx[{}]: group {} of {}", i, w.g_idx[i], groups));
  return {};
}

}  // namespace

Expected<UnpackedWeight> unpack(const PackedWeight& w) {
  if (auto ok = check(w); !ok) return tl::unexpected(ok.error());
  const std::int64_t groups = group_count(w);
  const std::uint32_t mask = (1u << w.bits) - 1;
  UnpackedWeight u;
  for (std::int64_t k = 0; k < w.k; ++k) {
    u.row_group.push_back(w.g_idx.empty() ? static_cast<std::int32_t>(w.group > 0 ? k / w.group : 0)
                                          : w.g_idx[k]);
    for (std::int64_t n = 0; n < w.n; ++n) {
      const Place p = code_place(w, k, n);
      u.code.push_back(static_cast<std::int32_t>(w.qweight[p.word] >> p.shift & mask));
    }
  }
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t n = 0; n < w.n; ++n) {
      std::int32_t zero = 1 << (w.bits - 1);
      if (!w.symmetric) {
        const Place p = zero_place(w, groups, g, n);
        zero = static_cast<std::int32_t>(w.qzeros[p.word] >> p.shift & mask);
        // A stored 15 is -1: the zero point was 0. As vLLM and exllama do, 16 isn't wrapped back.
        if (w.format == WeightFormat::kGptqV1) zero += 1;
      }
      u.zero.push_back(zero);
      u.scale.push_back(compressed(w) ? w.scales[n * groups + g] : w.scales[g * w.n + n]);
    }
  return u;
}

std::vector<double> dequantize(const UnpackedWeight& u, std::int64_t k, std::int64_t n) {
  std::vector<double> w;
  w.reserve(k * n);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = u.row_group[i] * n + j;
      w.push_back((u.code[i * n + j] - u.zero[at]) * u.scale[at]);
    }
  return w;
}

void pack(const UnpackedWeight& u, PackedWeight* w) {
  const std::int64_t groups = group_count(*w), per_word = 32 / w->bits;
  const std::uint32_t mask = (1u << w->bits) - 1;
  w->qweight.assign(w->k * w->n / per_word, 0);
  w->qzeros.assign(w->symmetric ? 0 : groups * w->n / per_word, 0);
  w->scales.assign(groups * w->n, 0);
  for (std::int64_t k = 0; k < w->k; ++k)
    for (std::int64_t n = 0; n < w->n; ++n) {
      const Place p = code_place(*w, k, n);
      w->qweight[p.word] |= (static_cast<std::uint32_t>(u.code[k * w->n + n]) & mask) << p.shift;
    }
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t n = 0; n < w->n; ++n) {
      w->scales[compressed(*w) ? n * groups + g : g * w->n + n] = u.scale[g * w->n + n];
      if (w->symmetric) continue;
      const Place p = zero_place(*w, groups, g, n);
      const std::int32_t stored = u.zero[g * w->n + n] - (w->format == WeightFormat::kGptqV1 ? 1 : 0);
      w->qzeros[p.word] |= (static_cast<std::uint32_t>(stored) & mask) << p.shift;
    }
}

std::vector<std::uint8_t> repack_zeros(std::span<const std::uint32_t> words, std::int64_t experts,
                                       std::int64_t groups, std::int64_t n) {
  std::vector<std::uint8_t> to(experts * n / 2 * groups);
  for (std::int64_t e = 0; e < experts; ++e)
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t b = 0; b < n / 2; ++b) {
        const std::uint32_t word = words[(e * groups + g) * (n / 8) + b / 4];
        to[(e * (n / 2) + b) * groups + g] = static_cast<std::uint8_t>(word >> (8 * (b % 4)));
      }
  return to;
}

}  // namespace assay::num
