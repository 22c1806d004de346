#include "cases/sim_attention.h"

namespace assay::num {

const std::vector<AttentionBugRow>& attention_bugs() {
  using B = AttentionBug;
  // name, how a guessed cause is worded, exact class | dense, paged, mla, sparse
  static const std::vector<AttentionBugRow> rows = {
      {B::kWindowShort, {"window-short", "window one short"}, 1, 1, 0, 0},
      {B::kWindowLong, {"window-long", "window one long"}, 1, 1, 0, 0},
      {B::kWindowIgnored, {"window-ignored", "window ignored"}, 1, 1, 0, 0},
      {B::kCausalCorner, {"causal-corner", "causal mask aligned to the wrong corner"}, 1, 1, 1, 0},
      {B::kCausalIgnored, {"causal-ignored", "causal mask ignored"}, 1, 1, 1, 0},
      {B::kLastKeyDropped, {"last-key-dropped", "last key dropped"}, 1, 1, 1, 1},
      {B::kFirstKeyDropped, {"first-key-dropped", "first key dropped"}, 1, 1, 1, 1},
      {B::kPastEnd, {"past-end", "keys past the end read as zeros"}, 1, 1, 1, 0},
      {B::kWrongPage, {"wrong-page", "one page read from the wrong block"}, 0, 1, 1, 0},
      {B::kPage16Bit, {"page-16-bit", "block ids truncated to 16 bits"}, 0, 1, 1, 0},
      {B::kOffset32Bit, {"offset-32-bit", "element offsets wrap at 2^31"}, 0, 1, 0, 0},
      {B::kBlockStride, {"block-stride", "block stride taken from the shape"}, 0, 1, 0, 0},
      {B::kHeadMod, {"head-mod", "key head taken as head mod key heads"}, 1, 1, 0, 0},
      {B::kHeadDropped, {"head-dropped", "last head not written"}, 1, 1, 1, 1},
      {B::kHeadCountLocal,
       {"head-count-local", "head count taken from half of the gathered heads"},
       0,
       0,
       1,
       1},
      {B::kSinkDropped, {"sink-dropped", "sink dropped"}, 1, 1, 0, 0},
      {B::kSinkPerSplit, {"sink-per-split", "sink counted once per split"}, 1, 1, 0, 0},
      {B::kSinkHead, {"sink-head", "sink of the neighbouring head"}, 1, 1, 0, 0},
      {B::kMergeBase, {"merge-base", "splits merged in base 2 with natural LSE"}, 1, 1, 1, 0},
      {B::kLseBase, {"lse-base", "LSE in the other base"}, 1, 1, 1, 1},
      {B::kLseLayout, {"lse-layout", "LSE transposed"}, 1, 1, 1, 1},
      {B::kLseMissing, {"lse-missing", "LSE left at zero"}, 1, 1, 1, 1},
      {B::kScaleHigh, {"scale-high", "scale 1 % high"}, 1, 1, 1, 1},
      {B::kScaleLow, {"scale-low", "scale 1 % low"}, 1, 1, 1, 1},
      {B::kSoftcapOmitted, {"softcap-omitted", "softcap omitted"}, 1, 1, 0, 0},
      {B::kSoftcapBeforeScale, {"softcap-order", "softcap applied before the scale"}, 1, 1, 0, 0},
      {B::kAlibiSign, {"alibi-sign", "ALiBi with the wrong sign"}, 1, 1, 0, 0},
      {B::kAlibiHead, {"alibi-head", "ALiBi slope of the neighbouring head"}, 1, 1, 0, 0},
      {B::kValueDimPadded, {"value-dim-padded", "value rows read with the key dim"}, 1, 1, 0, 0},
      {B::kKScaleDropped, {"k-scale-dropped", "key scale dropped"}, 0, 1, 1, 0},
      {B::kVScaleDropped, {"v-scale-dropped", "value scale dropped"}, 0, 1, 1, 0},
      {B::kNeighbourScale, {"neighbour-scale", "scale of the neighbouring token"}, 0, 1, 0, 0},
      {B::kHeadScale, {"head-scale", "scale of the neighbouring head"}, 0, 1, 0, 0},
      {B::kQScaleTwice, {"q-scale-twice", "scale applied twice"}, 1, 1, 1, 1},
      {B::kFnuzAsFn, {"fnuz-as-fn", "keys in e4m3fnuz read as e4m3fn"}, 0, 1, 0, 0},
      {B::kNibbleSwapped, {"nibble-swapped", "fp4 nibbles of the keys swapped"}, 0, 1, 0, 0},
      {B::kBlockScaleNeighbour,
       {"block-scale-neighbour", "fp4 scale of the keys' neighbouring block"},
       0,
       1,
       0,
       0},
      {B::kTailNan, {"tail-nan", "bytes past the end multiplied by zero", true}, 0, 1, 0, 0},
      {B::kFiniteSentinel, {"finite-sentinel", "running maximum starts at a finite value"}, 1, 1, 1, 1},
      {B::kEmptyNan, {"empty-nan", "NaN for a row without keys", true}, 1, 1, 1, 1},
      {B::kEmptyLseZero, {"empty-lse-zero", "LSE 0 for a row without keys", true}, 1, 1, 1, 1},
      {B::kPaddedRowsWritten, {"padded-rows-written", "rows past the last one written", true}, 1, 1, 1, 1},
      {B::kUniformBatch, {"uniform-batch", "ragged batch reshaped as a uniform one"}, 1, 1, 0, 0},
      {B::kCapturedLength, {"captured-length", "lengths of the captured call replayed"}, 0, 1, 1, 0},
      {B::kHoleEnds, {"hole-ends", "a hole taken for the end of the list"}, 0, 0, 0, 1},
      {B::kHoleIsPage0, {"hole-is-page-0", "a hole read as position 0"}, 0, 0, 0, 1},
      {B::kHoleOnlyMinusOne,
       {"hole-only-minus-one", "only -1 treated as a hole, ids past the end clamped"},
       0,
       0,
       0,
       1},
      {B::kDuplicateOnce, {"duplicate-once", "a repeated index counted once"}, 0, 0, 0, 1},
      {B::kIndexGlobal,
       {"index-global", "request-relative index used as a row of the whole cache"},
       0,
       0,
       0,
       1},
  };
  return rows;
}

std::vector<AttentionContract> attention_contracts(DType operand) {
  AttentionContract base;
  base.out = base.operand = operand;
  std::vector<AttentionContract> all;
  const auto add = [&](const char* name, auto change) {
    AttentionContract c = base;
    c.name = name;
    change(c);
    all.push_back(c);
  };
  add("tiled", [&](auto& c) {  // tiles of 64 keys, P in the operand type, order of sums unknown
    c.tile = 64;
    c.p = operand;
  });
  add("sequential-f32", [](auto& c) {
    c.tile = 1;
    c.out = DType::kF32;
    c.scores = c.values = kChain;
  });
  add("split-f32", [&](auto& c) {
    c.splits = 4;
    c.tile = 32;
    c.p = operand;
    c.scores = c.values = kAmpere;
  });
  add("split-low", [&](auto& c) {
    c.splits = 3;
    c.partial = operand;
    c.p = operand;
    c.tile = 64;
  });
  add("truncated-p", [&](auto& c) {
    c.p = operand;
    c.p_truncated = true;
    c.sum_from_rounded_p = true;
    c.tile = 64;
    c.values = kHopper;
  });
  add("p-e4m3", [](auto& c) {
    c.p = DType::kE4m3fn;
    c.p_offset = 8;
    c.tile = 64;
    c.sum_from_rounded_p = true;
  });
  add("fp8-sums", [&](auto& c) {
    c.scores = kHopperFp8;
    c.p = operand;
    c.tile = 64;
    c.fresh_register = true;
  });
  add("rounded-scores", [&](auto& c) {
    c.q_scaled_rounded = true;
    c.k_rounded = true;
    c.v_type = operand;
    c.score_roundings = 1;
    c.p = operand;
  });
  add("fresh-registers", [&](auto& c) {
    c.tile = 128;
    c.fresh_register = true;
    c.p = operand;
    c.scores = kHopper;
  });
  add("base-2", [&](auto& c) {  // FlashInfer-like: LSE in base 2, empty rows +inf, tanh.approx
    c.tile = 64;
    c.p = operand;
    c.lse_base2 = true;
    c.empty_lse = std::numeric_limits<double>::infinity();
    c.tanh = Tanh::kApprox;
  });
  return all;
}

}  // namespace assay::num
