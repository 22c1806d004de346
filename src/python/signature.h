// What a Python function takes: its parameters in order, read from the syntax tree or made up by the caller
// (constructors of dataclasses, C++ operator schemas).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "python/syntax.h"

namespace assay {

// In the order in which CPython lets them stand.
enum class ParameterKind : uint8_t {
  kPositionalOnly,
  kPositionalOrKeyword,
  kVarPositional,
  kKeywordOnly,
  kVarKeyword
};

// `name` is a view into the source (or into whatever a made-up signature was made from), without stars.
struct Parameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::kPositionalOrKeyword;
  bool has_default = false;
  Node annotation;     // the `type` node, or null
  Node default_value;  // null without a default, and for made-up parameters
  Node node;           // the whole parameter, or null for made-up ones

  bool is_positional() const { return kind <= ParameterKind::kPositionalOrKeyword; }
  bool is_variadic() const {
    return kind == ParameterKind::kVarPositional || kind == ParameterKind::kVarKeyword;
  }
  bool is_required() const { return !has_default && !is_variadic(); }
  bool takes_keyword() const {
    return kind == ParameterKind::kPositionalOrKeyword || kind == ParameterKind::kKeywordOnly;
  }
};

struct Signature {
  std::vector<Parameter> parameters;
  bool is_async = false;
  bool is_lambda = false;
  bool incomplete = false;  // a syntax error stands among the parameters: nothing can be said of calls
  Node return_annotation;   // the `type` node, or null

  bool accepts_var_positional() const;
  bool accepts_var_keyword() const;
  // By name, variadic ones included; nullptr when there is none.
  const Parameter* find(std::string_view name) const;
  // A call may pass `name=`: a parameter takes it, or **kwargs does.
  bool accepts_keyword(std::string_view name) const;
  uint32_t positional_count() const;           // *args not counted
  uint32_t required_positional_count() const;  // of these, the ones without a default
  uint32_t required_count() const;             // keyword-only ones included

  // As shown for a bound method: without the first positional parameter (`(*args)` and signatures without any
  // positional stay as they are). To bind a call through an instance, give the whole signature and
  // with_leading(call) instead: that also knows that `x.f(self=1)` fails, and that a method without
  // parameters can't be called.
  Signature without_first() const;
};

// Of a function_definition, a decorated_definition around one, or a lambda. Anything else gives an incomplete
// signature.
Signature signature_of(Node function_or_lambda);

// `(self, x, /, y=1, *, out=None, **kwargs)`: no annotations; a default that is long or unknown is shown as
// `...`.
std::string to_string(const Signature& signature);

}  // namespace assay
