#include "oracle/weights.h"

#include <gtest/gtest.h>

#include "formats/random.h"

namespace assay::num {
namespace {

PackedWeight shape(WeightFormat format, std::int64_t bits, std::int64_t k, std::int64_t n,
                   std::int64_t group) {
  PackedWeight w;
  w.format = format;
  w.bits = bits;
  w.k = k;
  w.n = n;
  w.group = group;
  return w;
}

TEST(Weights, UnpackingUndoesPackingInEveryFormat) {
  for (auto format :
       {WeightFormat::kGptqV1, WeightFormat::kGptqV2, WeightFormat::kAwq, WeightFormat::kCompressedTensors})
    for (std::int64_t bits : {4, 8})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Draw draw(seed);
        PackedWeight w = shape(format, bits, 24, 16, 8);
        UnpackedWeight u;
        const std::int64_t top = (1 << bits) - 1;
        for (int i = 0; i < 24 * 16; ++i) u.code.push_back(static_cast<std::int32_t>(draw.between(0, top)));
        for (int i = 0; i < 3 * 16; ++i)
          u.zero.push_back(static_cast<std::int32_t>(draw.between(format == WeightFormat::kGptqV1, top)));
        for (int i = 0; i < 3 * 16; ++i) u.scale.push_back(draw.normal());
        pack(u, &w);
        const auto back = unpack(w);
        ASSERT_TRUE(back);
        EXPECT_EQ(back->code, u.code);
        EXPECT_EQ(back->zero, u.zero);
        EXPECT_EQ(back->scale, u.scale);
      }
}

TEST(Weights, KnownWords) {
  // Columns 0..7 hold their own number: AWQ keeps them as 0x75316420.
  PackedWeight awq = shape(WeightFormat::kAwq, 4, 1, 8, 1);
  awq.qweight = {0x75316420};
  awq.qzeros = {0x75316420};
  awq.scales.assign(8, 1);
  const auto u = unpack(awq);
  ASSERT_TRUE(u);
  for (int j = 0; j < 8; ++j) {
    EXPECT_EQ(u->code[j], j);
    EXPECT_EQ(u->zero[j], j);
  }
  // GPTQ packs along K; v1 stores z - 1, a stored 15 means 16.
  PackedWeight gptq = shape(WeightFormat::kGptqV1, 4, 8, 8, 8);
  gptq.qweight.assign(8, 0x76543210);
  gptq.qzeros = {0xf0000000};
  gptq.scales.assign(8, 0.5);
  const auto g = unpack(gptq);
  EXPECT_EQ(g->code[3 * 8], 3);
  EXPECT_EQ(g->zero[0], 1);
  EXPECT_EQ(g->zero[7], 16);
  EXPECT_EQ(dequantize(*g, 8, 8)[3 * 8], 1.0);
  // A negative int32 is still eight unsigned nibbles.
  EXPECT_EQ(unpack([&] {
              auto w = gptq;
              w.qweight.assign(8, 0xffffffff);
              return w;
            }())
                ->code[7],
            15);
}

TEST(Weights, GroupIndexChoosesTheScale) {
  PackedWeight w = shape(WeightFormat::kGptqV2, 4, 8, 8, 2);
  w.symmetric = true;
  w.qweight.assign(8, 0x99999999);  // code 9: one above the middle
  for (int g = 0; g < 4; ++g) w.scales.insert(w.scales.end(), 8, 1 << g);
  w.g_idx = {0, 3, 1, 2, 0, 3, 1, 2};
  const auto u = unpack(w);
  const auto d = dequantize(*u, 8, 8);
  for (int k = 0; k < 8; ++k) EXPECT_EQ(d[k * 8], 1 << w.g_idx[k]);
  // The two halves of K, each with the global groups, add up to the whole.
  w.g_idx[5] = 4;
  EXPECT_EQ(unpack(w).error().message, "g_idx[5]: group 4 of 4");
}

TEST(Weights, BadSizesAreNamed) {
  EXPECT_EQ(unpack(shape(WeightFormat::kGptqV2, 3, 8, 8, 8)).error().message, "bits: 3");
  EXPECT_EQ(unpack(shape(WeightFormat::kGptqV2, 4, 9, 8, 8)).error().message, "k: 9 is no multiple of 8");
  EXPECT_EQ(unpack(shape(WeightFormat::kAwq, 4, 8, 9, 8)).error().message, "n: 9 is no multiple of 8");
  EXPECT_EQ(unpack(shape(WeightFormat::kGptqV2, 4, 8, 8, 8)).error().message,
            "qweight: 0 elements where 8 are needed");
}

TEST(Weights, RepackKeepsEveryNibble) {
  const std::int64_t experts = 2, groups = 3, n = 16;
  std::vector<std::uint32_t> words;
  for (std::uint64_t i = 0; i < 12; ++i) words.push_back(static_cast<std::uint32_t>(Random(1).bits(i)));
  const auto bytes = repack_zeros(words, experts, groups, n);
  for (std::int64_t e = 0; e < experts; ++e)
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t j = 0; j < n; ++j) {
        const std::uint32_t want = words[(e * groups + g) * 2 + j / 8] >> (4 * (j % 8)) & 0xf;
        const std::uint32_t got = bytes[(e * n / 2 + j / 2) * groups + g] >> (4 * (j % 2)) & 0xf;
        ASSERT_EQ(got, want);
      }
}

}  // namespace
}  // namespace assay::num
