// Quantised weights as checkpoints store them, unpacked and dequantised. Sources: AutoGPTQ and GPTQModel (v1
// stores z - 1, v2 stores z), AutoAWQ (nibbles in the order 0 2 4 6 1 3 5 7), compressed-tensors
// pack_to_int32; vLLM's awq and gptq loaders.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace assay::num {

enum class WeightFormat : std::uint8_t { kGptqV1, kGptqV2, kAwq, kCompressedTensors };

struct PackedWeight {
  WeightFormat format = WeightFormat::kGptqV2;
  std::int64_t bits = 4;               // 4 or 8
  std::int64_t k = 0, n = 0;           // in features, out features
  std::int64_t group = 0;              // rows that share a scale
  bool symmetric = false;              // no zero points: 2^(bits-1)
  std::vector<std::uint32_t> qweight;  // GPTQ [K/pack][N], AWQ [K][N/pack], compressed-tensors [N][K/pack]
  std::vector<std::uint32_t>
      qzeros;                  // GPTQ, AWQ [G][N/pack]; compressed-tensors [N/pack][G]; ignored if symmetric
  std::vector<double> scales;  // GPTQ, AWQ [G][N]; compressed-tensors [N][G]
  std::vector<std::int32_t> g_idx;  // [K] group of each row, or empty: row / group
};

// Slot of the word in which AWQ keeps column j of eight.
constexpr std::array<int, 8> kAwqSlot = {0, 4, 1, 5, 2, 6, 3, 7};

// Unpacked integers. Error: names the field whose size is wrong.
struct UnpackedWeight {
  std::vector<std::int32_t> code;       // [K][N], unsigned
  std::vector<std::int32_t> zero;       // [G][N]
  std::vector<double> scale;            // [G][N]
  std::vector<std::int32_t> row_group;  // [K]
};
Expected<UnpackedWeight> unpack(const PackedWeight& weight);

// [K][N]: (code - zero)·scale, exact in binary64.
std::vector<double> dequantize(const UnpackedWeight& weight, std::int64_t k, std::int64_t n);

// The inverse of unpack() for codes and zeros; what case generators use.
void pack(const UnpackedWeight& weight, PackedWeight* to);

// int32 [E][G][N/8] zero points -> uint8 [E][N/2][G]: bytes first, then the transpose. The low nibble is the
// even column.
std::vector<std::uint8_t> repack_zeros(std::span<const std::uint32_t> words, std::int64_t experts,
                                       std::int64_t groups, std::int64_t n);

}  // namespace assay::num
