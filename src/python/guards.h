// The conditions under which a place in a file is executed, as far as syntax tells: enclosing if, while, try, conditional
// expressions and and/or, and the early exits (`if c: return`) before it in the same blocks.
#pragma once

#include <vector>

#include "python/syntax.h"

namespace assay {

enum class GuardKind : uint8_t {
  kCondition,     // runs only if `node` is true (or false, when negated)
  kTry,           // stands in the body of the try statement `node`
  kHandler,       // stands in the except clause `node`
  kFunctionBody,  // stands in the function `node`: runs when that is called
  kLoop,          // stands in the body of the loop `node`: may run never
};

struct Guard {
  GuardKind kind;
  bool negated = false;
  Node node;
};

// From the inside out. Guards outside the innermost function follow behind its kFunctionBody entry.
std::vector<Guard> guards_of(Node node);

// True if control never reaches what follows the statement: return, raise, continue, break, sys.exit() and friends, or an
// if/else whose branches all end so.
bool always_leaves(Node statement);

// The exception types that an except clause names, as dotted text; empty for a bare `except:`.
std::vector<std::string> handled_types(Node except_clause);

// A handler around the place catches the error: by its name or with a bare `except:`; or also as Exception or BaseException.
enum class Handlers : uint8_t { kNamed, kAny };
bool error_caught(Node place, std::string_view error, Handlers handlers);

// Whether a handler of this try statement catches ImportError (ModuleNotFoundError, Exception, bare …).
// Gives the except clause, or null.
Node import_error_handler(Node try_statement, bool module_not_found);

}  // namespace assay
