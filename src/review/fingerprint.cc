#include "review/fingerprint.h"

#include <fmt/format.h>

#include <map>

#include "base/hash.h"
#include "base/text.h"

namespace assay {

namespace {

constexpr size_t kDigits = 16;

std::string bare_fingerprint(const Finding& finding, const Location& location) {
  // A finding about a whole file has no line of its own.
  std::string text = location.text.empty() ? location.file : normalised_text(location.text);
  Hasher hasher;
  for (std::string_view part :
       {std::string_view(finding.rule), std::string_view(finding.symbol), std::string_view(text)}) {
    hasher.add(part);
    hasher.add(std::string_view("\0", 1));
  }
  return hasher.hex().substr(0, kDigits);
}

}  // namespace

std::string normalised_text(std::string_view line) {
  std::string out;
  for (char c : trim(line)) {
    bool space = c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
    if (!space)
      out += c;
    else if (out.back() != ' ')
      out += ' ';
  }
  return out;
}

void set_fingerprints(Report& report) {
  std::map<std::string, size_t> seen;
  auto set = [&](const Finding& finding, const Location& location, std::string& fingerprint) {
    if (!fingerprint.empty()) return;
    fingerprint = bare_fingerprint(finding, location);
    size_t number = ++seen[fingerprint];
    if (number > 1) fingerprint += fmt::format("-{}", number);
  };
  for (Finding& finding : report.findings) {
    set(finding, finding.location, finding.fingerprint);
    for (Site& site : finding.sites) set(finding, site.location, site.fingerprint);
  }
}

}  // namespace assay
