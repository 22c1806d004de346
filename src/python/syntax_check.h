// The errors that CPython's compiler raises and the parser accepts: `return` outside a function, a repeated
// keyword argument, a parameter without default behind one that has it, wrong indentation, and so on.
#pragma once

#include <vector>

#include "python/scope.h"
#include "python/syntax.h"

namespace assay {

// In source order. Only what every CPython from 3.10 to 3.14 rejects. Empty when the parser itself found
// errors: what follows those can't be trusted. Linear in the source.
std::vector<SyntaxError> check_syntax(const SyntaxTree& tree, const ModuleScopes& scopes);

}  // namespace assay
