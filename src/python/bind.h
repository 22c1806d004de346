// Binding a call's arguments to a function's parameters, as CPython does it at run time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "python/signature.h"
#include "python/syntax.h"

namespace assay {

// What a call passes. The Node lists stand beside the counts and may be shorter, or hold null Nodes, when the
// values are not known (a call read by the byte scanner, a made-up argument).
struct CallShape {
  uint32_t positional = 0;                 // plain positional arguments, those behind a `*x` included
  uint32_t positional_before_star = 0;     // of these, the ones whose place is certain
  std::vector<std::string_view> keywords;  // in source order
  std::vector<Node> positional_values;
  std::vector<Node> keyword_values;  // beside `keywords`
  bool star_args = false;            // `*x` of unknown length
  bool star_kwargs = false;          // `**x` of unknown content
  bool unreadable = false;           // a syntax error stands among the arguments
  Node node;                         // the call
};

// Of a call, or of an argument_list (bases of a class). `*(a, b)` and `**{"k": v}` with literal content are
// taken apart.
CallShape call_shape(Node call);

// A made-up positional argument in front: the instance of a method called through its class.
CallShape with_leading(CallShape call, Node value = Node());
// Without the first n positional arguments: `submit(f, 1, k=2)` calls f as `(1, k=2)`. Fewer than n:
// unreadable.
CallShape without_leading(CallShape call, uint32_t n);
// `partial(f, <bound>)(<call>)`: positionals are joined, keywords of the call replace those bound before.
CallShape partial_call(const CallShape& bound, const CallShape& call);
// `Process(target=f, args=<args>, kwargs=<kwargs>)`: expressions, either may be null (then nothing is
// passed).
CallShape applied_call(Node args, Node kwargs);

enum class BindOutcome : uint8_t {
  kOk,
  kUnknown,  // nothing certainly wrong, but `*` or `**` (or an unreadable part) leaves it open
  kMissing,
  kUnexpectedKeyword,
  kTooManyPositional,
  kMultipleValues,
  kPositionalOnlyAsKeyword,
};

enum class Given : uint8_t {
  kNo,  // the default is used, or the argument is missing
  kPositional,
  kKeyword,
  kPerhaps,  // through `*x` or `**x`
};

struct BoundArgument {
  Given given = Given::kNo;
  Node value;  // null where not given, made up, collected by *args/**kwargs, or of no certain place
};

// `outcome` is what CPython would raise first; the lists hold every certain fault.
struct BindResult {
  BindOutcome outcome = BindOutcome::kOk;
  std::vector<std::string_view> missing;  // parameters, positional ones first
  std::vector<std::string_view> unexpected;
  std::vector<std::string_view> multiple;
  std::vector<std::string_view> positional_only;
  uint32_t given = 0, allowed = 0;       // positional arguments, when too many are given
  std::vector<BoundArgument> arguments;  // by parameter index

  bool certainly_fails() const { return outcome > BindOutcome::kUnknown; }
};

// `(a, b=1)` against `f(1, c=2)`. Linear in parameters plus arguments (times log for keywords).
BindResult bind(const Signature& signature, const CallShape& call);

// "missing 2 required arguments: 'x' and 'y'"; empty unless the call certainly fails.
std::string describe(const BindResult& result);

}  // namespace assay
