// Routed mixture of experts and the small operators around it, in binary64 from their definitions. Sources:
// vLLM's fused_experts (weights applied after w2, or to the input), SwiGLU as Shazeer 2020 and the clamped
// variant of gpt-oss, RMSNorm as Zhang & Sennrich 2019, rotary embeddings as Su et al. 2021 in both pairings,
// router top-k as Mixtral and DeepSeek-V3 use it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace assay::num {

enum class Activation : std::uint8_t { kSilu, kGeluTanh, kGeluErf, kSwigluOai };

// act(gate)·up; the gpt-oss variant clamps both at 7 and multiplies (up + 1) by gate·sigmoid(1.702·gate).
double gated(Activation activation, double gate, double up);

// Largest |∂gated/∂gate| and |∂gated/∂up| at a point, for the propagation of errors.
struct Slopes {
  double gate, up;
};
Slopes gated_slopes(Activation activation, double gate, double up);

struct MoeProblem {
  std::int64_t tokens = 0, topk = 0, experts = 0, hidden = 0, inter = 0;  // experts: local ones
  Activation activation = Activation::kSilu;
  bool weight_on_input = false;
  std::span<const double> x;           // [tokens][hidden]
  std::span<const double> w13;         // [experts][2·inter][hidden], gate rows first
  std::span<const double> w2;          // [experts][hidden][inter]
  std::span<const double> b13, b2;     // [experts][2·inter], [experts][hidden], or empty
  std::span<const double> route;       // [tokens][topk] weights
  std::span<const double> ids;         // [tokens][topk] global experts
  std::span<const double> expert_map;  // [global experts] local expert or -1, or empty
};

// One token's way through one expert.
struct ExpertPass {
  std::int64_t expert;  // local
  double route;
  std::vector<double> gate, up, act, out;  // [inter] ×3, [hidden] before the route weight
};

// out[tokens][hidden] = Σ route·expert(x); passes of experts that live elsewhere (-1) are left out. Error:
// names the field.
struct MoeResult {
  std::vector<double> out;
  std::vector<std::vector<ExpertPass>> passes;  // [token]
};
Expected<MoeResult> routed_experts(const MoeProblem& problem);

// x·w / sqrt(mean(x²) + epsilon), w + 1 if unit_offset (Gemma).
std::vector<double> rms_norm(std::span<const double> x, std::span<const double> w, double epsilon,
                             bool unit_offset);

// The first rot_dim elements of a head turned by the angles of cos and sin [rot_dim / 2]; halves: pairs (i, i
// + rot_dim / 2), else neighbours (2i, 2i + 1).
std::vector<double> rotary(std::span<const double> head, std::span<const double> cos,
                           std::span<const double> sin, bool halves);

struct Routed {
  std::vector<std::int64_t> ids;        // by falling choice score
  std::vector<double> weights, choice;  // choice: [experts] the scores that the choice is made by
};
// Softmax or sigmoid of the logits; the choice may add a bias that the weights don't carry; renormalised to a
// sum of one and scaled.
Routed route_topk(std::span<const double> logits, std::span<const double> bias, std::int64_t topk,
                  bool softmax, bool renormalise, double scale);

}  // namespace assay::num
