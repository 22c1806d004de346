// What an expression stands for, with the loops around it unrolled: registrations are often written as a loop
// over a table.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "project/semantics.h"

namespace assay {

// An expression in its module.
struct Term {
  const Module* module = nullptr;
  Node node;
  explicit operator bool() const { return module && node; }
};

// Loop variables bound to one round's items.
using Round = std::map<std::string, Term, std::less<>>;

// The rounds of the literal loops around `place`, outermost first; one empty round where there is none.
// Bounded.
std::vector<Round> rounds_of(Semantics& semantics, const Module& module, Node place);

// The expression that `node` stands for in this round.
Term resolve_term(const Round& round, const Module& module, Node node);
// The text it stands for (constants, sums, f-strings over loop variables); false if that can't be told.
bool term_text(Semantics& semantics, const Round& round, Term term, std::string& out);
// One text, or every text of a literal list.
std::vector<std::string> term_texts(Semantics& semantics, const Round& round, Term term);

}  // namespace assay
