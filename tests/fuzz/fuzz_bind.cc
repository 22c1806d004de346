// Made-up signatures and calls, in orders that no parser gives.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "python/bind.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  static const char kNames[] = "abcdefgh";
  Signature signature;
  CallShape call, bound;
  for (size_t i = 0; i + 1 < size && i < 64; i += 2) {
    std::string_view name(kNames + (data[i] & 7), 1);
    switch (data[i] >> 6) {
      case 0:
      case 1: {
        Parameter p;
        p.name = name;
        p.kind = static_cast<ParameterKind>(data[i + 1] % 5);
        p.has_default = data[i + 1] & 0x80;
        signature.parameters.push_back(p);
        break;
      }
      case 2:
        call.keywords.push_back(name);
        break;
      default:
        bound.keywords.push_back(name);
    }
  }
  if (size > 0) {
    call.positional = data[0] % 9;
    call.positional_before_star = data[0] % 9;
    call.star_args = data[size - 1] & 1;
    call.star_kwargs = data[size - 1] & 2;
    bound.positional = bound.positional_before_star = data[size - 1] % 5;
  }
  for (const CallShape& shape :
       {call, with_leading(call), partial_call(bound, call), without_leading(call, 2)}) {
    BindResult r = bind(signature, shape);
    ASSAY_CHECK(r.arguments.size() == signature.parameters.size(), "an argument for each parameter");
    ASSAY_CHECK(describe(r).empty() == !r.certainly_fails(), "a message for each failure");
    to_string(signature);
  }
  return 0;
}
