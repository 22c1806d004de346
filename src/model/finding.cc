#include "model/finding.h"

namespace assay {

namespace {

// The enumerator up to `last` that to_string gives as `text`.
template <class E>
std::optional<E> parse(std::string_view text, E last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (text == to_string(static_cast<E>(i))) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace

const char* to_string(Level level) {
  switch (level) {
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  return "error";
}

const char* to_string(EvidenceLevel level) {
  switch (level) {
    case EvidenceLevel::kUntested:
      return "untested";
    case EvidenceLevel::kSourceInspected:
      return "source-inspected";
    case EvidenceLevel::kSignatureChecked:
      return "signature-checked";
    case EvidenceLevel::kRuntimeReproduced:
      return "runtime-reproduced";
    case EvidenceLevel::kNumericallyValidated:
      return "numerically-validated";
  }
  return "untested";
}

const char* to_string(FindingState state) {
  switch (state) {
    case FindingState::kIntroduced:
      return "introduced";
    case FindingState::kUnchanged:
      return "unchanged";
    case FindingState::kFixed:
      return "fixed";
    case FindingState::kPartly:
      return "partly";
    case FindingState::kMasked:
      return "masked";
    case FindingState::kSuppressed:
      return "suppressed";
  }
  return "introduced";
}

std::optional<Level> parse_level(std::string_view text) { return parse(text, Level::kError); }

std::optional<EvidenceLevel> parse_evidence_level(std::string_view text) {
  return parse(text, EvidenceLevel::kNumericallyValidated);
}

std::optional<FindingState> parse_finding_state(std::string_view text) {
  return parse(text, FindingState::kSuppressed);
}

}  // namespace assay
