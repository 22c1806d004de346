#include "rules/signature_compare.h"

namespace assay {
namespace {

// The place among the positional parameters; the count of them for one that has none.
uint32_t position_of(const Signature& signature, const Parameter& parameter) {
  uint32_t i = 0;
  for (const Parameter& p : signature.parameters) {
    if (&p == &parameter) return i;
    if (p.is_positional()) ++i;
  }
  return i;
}

}  // namespace

std::vector<std::string_view> lacking_parameters(const Signature& old_one, const Signature& new_one, bool required_only) {
  std::vector<std::string_view> out;
  for (const Parameter& p : old_one.parameters) {
    if (p.is_variadic() || (required_only && !p.is_required())) continue;
    if (!new_one.find(p.name) && !new_one.accepts_var_keyword()) out.push_back(p.name);
  }
  return out;
}

std::vector<std::string_view> dropped_parameters(const Signature& old_one, const Signature& new_one) {
  std::vector<std::string_view> out = lacking_parameters(old_one, new_one, false);
  std::erase_if(out, [&](std::string_view name) {
    const Parameter& p = *old_one.find(name);
    return p.is_positional() && (new_one.accepts_var_positional() || position_of(old_one, p) < new_one.positional_count());
  });
  return out;
}

std::string never_fits(const Signature& old_one, const Signature& new_one) {
  if (old_one.incomplete || new_one.incomplete) return {};
  // A required parameter that no call written for the old one can pass.
  bool open = old_one.accepts_var_keyword() || old_one.accepts_var_positional();
  for (const Parameter& p : new_one.parameters) {
    if (open || !p.is_required() || old_one.accepts_keyword(p.name)) continue;
    if (p.is_positional() && position_of(new_one, p) < old_one.positional_count()) continue;
    return "it requires '" + std::string(p.name) + "', which no caller passes";
  }
  // A required parameter of the old one that the new one can't take in any way.
  if (new_one.accepts_var_keyword() || new_one.accepts_var_positional()) return {};
  for (const Parameter& p : old_one.parameters) {
    if (!p.is_required() || new_one.find(p.name)) continue;
    if (p.is_positional() && position_of(old_one, p) < new_one.positional_count()) continue;
    return "it lacks '" + std::string(p.name) + "', which every caller passes";
  }
  return {};
}

std::string difference(const Signature& old_one, const Signature& new_one, std::string_view old_name, std::string_view new_name) {
  std::string out;
  std::vector<std::string_view> lacks = lacking_parameters(old_one, new_one, false);
  if (!lacks.empty()) out += "; " + std::string(old_name) + " takes " + quoted(lacks);
  std::vector<std::string_view> more;
  for (const Parameter& p : new_one.parameters) {
    if (p.is_required() && !old_one.find(p.name)) more.push_back(p.name);
  }
  if (!more.empty()) out += "; " + std::string(new_name) + " requires " + quoted(more);
  return out;
}

std::string quoted(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::string_view n : names) out += (out.empty() ? "'" : ", '") + std::string(n) + "'";
  return out;
}

}  // namespace assay
