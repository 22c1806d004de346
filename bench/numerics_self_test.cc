// numerics_self_test [--honest N] [--guess N] [--longest N] [--seed N] [--json] [FAMILY…]: the self test
// without the rest of assay, for nightly runs with many more cases.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cases/self_test.h"

int main(int argc, char** argv) {
  assay::num::SelfTestOptions options;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atoll(argv[++i]) : 0; };
    if (arg == "--honest")
      options.honest_cases = number();
    else if (arg == "--guess")
      options.guess_cases = number();
    else if (arg == "--longest")
      options.longest = number();
    else if (arg == "--seed")
      options.seed = static_cast<std::uint64_t>(number());
    else if (arg == "--no-plain")
      options.plain = false;
    else if (arg == "--json")
      json = true;
    else
      options.families.push_back(arg);
  }
  const auto result = assay::num::self_test(options);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return 2;
  }
  std::fputs((json ? self_test_json(*result) : self_test_text(*result)).c_str(), stdout);
  return result->survivors.empty() && result->alarms.empty() && result->errors.empty() ? 0 : 1;
}
