// One statement that something is wrong, with both sides shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/location.h"

namespace assay {

enum class Level { kNote, kWarning, kError };

// How a statement is known. Ordered: a later one is stronger.
enum class EvidenceLevel {
  kUntested,
  kSourceInspected,
  kSignatureChecked,
  kRuntimeReproduced,
  kNumericallyValidated,
};

// Against what came before (a base target, an earlier report, a baseline).
enum class FindingState { kIntroduced, kUnchanged, kFixed, kPartly, kMasked, kSuppressed };

struct Related {
  Location location;
  std::string symbol;   // dotted name of what stands there
  std::string message;  // what it has to do with the finding
};

struct Site {
  Location location;
  FindingState state = FindingState::kIntroduced;
  std::string fingerprint = {};  // as the finding's own, so that one site can be told fixed
};

struct Repro {
  std::string command;
  std::string result;
  std::string artifact;
};

struct Attribution {
  std::string cls;    // regression | existing | component | environment; empty: not known
  std::string basis;  // what that rests on
};

struct Finding {
  std::string rule;
  Level level = Level::kError;
  std::string message;  // one sentence
  std::string symbol;   // dotted name of the broken object; never the enclosing function, never empty
  EvidenceLevel evidence = EvidenceLevel::kSourceInspected;
  std::string trigger;  // what makes the faulty path run
  std::string expected;
  std::string observed;
  Repro repro;
  std::vector<std::string> limits;  // what this statement does not cover
  Attribution attribution;
  std::string fingerprint;  // rule + symbol + normalised text; set by review/
  FindingState state = FindingState::kIntroduced;
  std::vector<std::string> blocked_by;  // fingerprints of findings that mask this one
  Location location;
  std::vector<Site> sites;       // further places of the same fault, without `location`
  std::vector<Related> related;  // the other side: target, component
  std::vector<std::string> supports;
  std::string group;  // one upstream change behind several findings
  std::string fix;    // what to do about it, one sentence
};

const char* to_string(Level level);
const char* to_string(EvidenceLevel level);
const char* to_string(FindingState state);

// The other way; nothing where the text names none.
std::optional<Level> parse_level(std::string_view text);
std::optional<EvidenceLevel> parse_evidence_level(std::string_view text);
std::optional<FindingState> parse_finding_state(std::string_view text);

}  // namespace assay
