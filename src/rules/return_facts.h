// What a function gives back, as far as its return statements and its annotation tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rules/context.h"

namespace assay {

struct Returns {
  bool generator = false;
  bool coroutine = false;
  bool stub = false;            // an abstract method, `...`, `pass`, or nothing but raise NotImplementedError
  uint32_t values = 0;          // live `return x` with anything but None
  uint32_t nones = 0;           // live `return` and `return None`
  bool falls_through = false;   // control may reach the end of the body
  Node end;                     // where it does: the last statement
  bool every_arity_known = false;        // each of `values` is a tuple whose length is known
  std::optional<uint32_t> arity;         // the length, where it is the same for all
  std::optional<uint32_t> declared_arity;  // of an annotation tuple[A, B]
  Node first_value;             // of the first return with a value
};

Returns returns_of(RuleContext& ctx, const Module& module, Node function);

// The length of the tuple that the expression certainly is.
std::optional<uint32_t> tuple_arity(RuleContext& ctx, const Module& module, Node expression, int depth = 0);

// `tuple[A, B]` → 2; nothing for tuple[A, ...], unions and everything else.
std::optional<uint32_t> annotated_arity(Node type);

// Whether control may leave the block (or function body) by its end.
bool may_fall_through(Node block);

// How a call's result is used where the call stands.
struct Use {
  enum class Kind : uint8_t { kUnknown, kIgnored, kUnpacked, kAttribute, kSubscript, kIterated, kOther } kind = Kind::kUnknown;
  uint32_t count = 0;   // kUnpacked: the number of names
  bool starred = false; // kUnpacked: one of them takes the rest
  bool awaited = false;
};
Use use_of(Node call);

}  // namespace assay
