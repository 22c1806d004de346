// Two signatures of one role: the one that callers were written for, and the one that stands in its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "python/signature.h"

namespace assay {

// Parameters of `old_one` that `new_one` takes neither by that name nor through **kwargs.
std::vector<std::string_view> lacking_parameters(const Signature& old_one, const Signature& new_one, bool required_only);

// Of those, the ones whose place among the positional parameters `new_one` does not fill under another name.
std::vector<std::string_view> dropped_parameters(const Signature& old_one, const Signature& new_one);

// Why no call that fits `old_one` can fit `new_one`; empty when some call may fit both.
std::string never_fits(const Signature& old_one, const Signature& new_one);

// What the two differ in, for a message: "; the base takes 'x'; the override requires 'y'"; empty if in nothing.
std::string difference(const Signature& old_one, const Signature& new_one, std::string_view old_name, std::string_view new_name);

// 'a', 'b'
std::string quoted(const std::vector<std::string_view>& names);

}  // namespace assay
