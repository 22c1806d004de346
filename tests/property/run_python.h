// Runs a script with the python3 of this machine over a file of cases.
#pragma once

#include <string>
#include <vector>

namespace assay {

// The script finds the path of a file with the cases, one a line, in sys.argv[1], and prints one line a case.
// Fails the running test, and returns nothing, when Python is missing or does not end well.
std::vector<std::string> run_python(const std::string& script, const std::vector<std::string>& cases);

}  // namespace assay
