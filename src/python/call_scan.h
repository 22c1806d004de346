// Finds calls of given names in Python text without parsing it: for questions over a whole target, of which
// few files are worth a syntax tree. What can't be read with certainty is marked `ambiguous`: then parse that
// file.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/bind.h"

namespace assay {

// `name(…)` or `receiver.name(…)`. All views are into the scanned text.
struct ScannedCall {
  uint32_t name = 0;             // index into the names asked for
  uint32_t offset = 0, end = 0;  // bytes: the name's first character, and behind the closing bracket; after
                                 // any BOM, as in SyntaxTree
  uint32_t line = 0;             // 1-based, of the name
  bool has_receiver = false;     // there is a dot before the name
  std::string_view receiver;     // `self.attn_backend`, `super()`; empty where it is no plain chain of names,
                                 // calls and indices
  uint32_t positional = 0, positional_before_star = 0;
  std::vector<std::string_view> keywords;
  bool star_args = false, star_kwargs = false;
  bool ambiguous = false;  // the arguments could not be read, or this is perhaps no call (a class pattern)
};

class CallScanner {
 public:
  // Names are identifiers; a name given twice is found under its first index.
  explicit CallScanner(const std::vector<std::string>& names);
  CallScanner(const CallScanner&) = delete;
  CallScanner& operator=(const CallScanner&) = delete;

  // In source order. Not among them: definitions, strings, comments. Found too: calls in placeholders of
  // f-strings and in decorators. Linear in the text; without a hit, over 500 MB/s however many names there
  // are.
  std::vector<ScannedCall> scan(std::string_view text) const;

 private:
  struct Candidate {
    size_t begin, bracket;
    uint32_t name;
  };
  std::vector<Candidate> candidates(std::string_view text) const;
  bool is_name_before(std::string_view text, size_t end, Candidate& out) const;

  std::vector<std::string> names_;
  std::unordered_map<std::string_view, uint32_t> index_;
  std::bitset<65536> endings_;  // the last two bytes of every name
};

// For bind(); argument values are null Nodes.
CallShape shape_of(const ScannedCall& call);

}  // namespace assay
