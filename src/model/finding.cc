#include "model/finding.h"

namespace assay {

const char* to_string(Level level) {
  switch (level) {
    case Level::kNote: return "note";
    case Level::kWarning: return "warning";
    case Level::kError: return "error";
  }
  return "error";
}

const char* to_string(EvidenceLevel level) {
  switch (level) {
    case EvidenceLevel::kUntested: return "untested";
    case EvidenceLevel::kSourceInspected: return "source-inspected";
    case EvidenceLevel::kSignatureChecked: return "signature-checked";
    case EvidenceLevel::kRuntimeReproduced: return "runtime-reproduced";
    case EvidenceLevel::kNumericallyValidated: return "numerically-validated";
  }
  return "untested";
}

const char* to_string(FindingState state) {
  switch (state) {
    case FindingState::kIntroduced: return "introduced";
    case FindingState::kUnchanged: return "unchanged";
    case FindingState::kFixed: return "fixed";
    case FindingState::kPartly: return "partly";
    case FindingState::kMasked: return "masked";
    case FindingState::kSuppressed: return "suppressed";
  }
  return "introduced";
}

}  // namespace assay
