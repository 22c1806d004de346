// Simulated attention kernels: what a device would compute, in binary32 and below, for each rounding
// contract, with at most one fault. They share no code with the oracle but the decoding of stored bits:
// masks, addresses and softmax are written anew.
#pragma once

#include <memory>
#include <vector>

#include "cases/attention_case.h"
#include "cases/family.h"
#include "judge/attention_contract.h"

namespace assay::num {

enum class AttentionBug : std::uint8_t {
  kNone,
  kWindowShort,
  kWindowLong,
  kWindowIgnored,
  kCausalCorner,
  kCausalIgnored,
  kLastKeyDropped,
  kFirstKeyDropped,
  kPastEnd,
  kWrongPage,
  kPage16Bit,
  kOffset32Bit,
  kBlockStride,
  kHeadMod,
  kHeadDropped,
  kHeadCountLocal,
  kSinkDropped,
  kSinkPerSplit,
  kSinkHead,
  kMergeBase,
  kLseBase,
  kLseLayout,
  kLseMissing,
  kScaleHigh,
  kScaleLow,
  kSoftcapOmitted,
  kSoftcapBeforeScale,
  kAlibiSign,
  kAlibiHead,
  kValueDimPadded,
  kKScaleDropped,
  kVScaleDropped,
  kNeighbourScale,
  kHeadScale,
  kQScaleTwice,
  kFnuzAsFn,
  kNibbleSwapped,
  kBlockScaleNeighbour,
  kTailNan,
  kFiniteSentinel,
  kEmptyNan,
  kEmptyLseZero,
  kPaddedRowsWritten,
  kUniformBatch,
  kCapturedLength,
  kHoleEnds,
  kHoleIsPage0,
  kHoleOnlyMinusOne,
  kDuplicateOnce,
  kIndexGlobal,
};

struct AttentionBugRow {
  AttentionBug bug;
  Mutant mutant;
  bool dense, paged, mla, sparse;  // families that can have it
};
const std::vector<AttentionBugRow>& attention_bugs();

// The contracts that the simulated kernels keep, for operands of the given type.
std::vector<AttentionContract> attention_contracts(DType operand);

std::vector<Actual> simulate_attention(const AttentionCase& c, const AttentionContract& contract,
                                       AttentionBug bug);

}  // namespace assay::num
