// Running another program and waiting for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace assay {

struct Command {
  std::vector<std::string> argv =
      {};  // argv[0] is looked up in PATH unless it has a '/'; no shell is involved
  std::vector<std::pair<std::string, std::string>> environment = {};  // set on top of our own
  std::chrono::milliseconds timeout{60'000};
  size_t max_output = 16 << 20;  // bytes, for each of out and err: what comes beyond is dropped
};

struct ProcessResult {
  int exit_status = 0;  // as a shell shows it: 128 + n when signal n ended the program
  bool timed_out = false;
  bool output_cut = false;  // more than max_output came
  std::string out;
  std::string err;
};

// Its standard input is empty. The program has a process group of its own: past the time limit it is killed with
// what it has started, and what it wrote until then is returned. Errors: "NAME: program not found",
// "NAME: cannot be started: …".
Expected<ProcessResult> run_process(const Command& command);

// For a handler of signals: kills what run_process is waiting for.
void kill_running_programs();

}  // namespace assay
