#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/commands.h"

namespace assay {

namespace {

// Nothing has to be undone: a file is written under another name and renamed while interrupts are held.
void on_interrupt(int) { ::_exit(kExitInterrupted); }

void say(const std::string& message) { fmt::print(stderr, "assay: {}\n", message); }

ExitCode run(int argc, char** argv) {
  CLI::App app{"Reviews an out-of-tree vLLM plugin against the vLLM that it must fit.", "assay"};
  app.require_subcommand(1);
  Options options;
  const Command* chosen = nullptr;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    add_options(*sub, command.options, options);
    sub->final_callback([&chosen, &command] { chosen = &command; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return kExitClean;
  } catch (const CLI::ParseError& error) {
    say(error.what());
    return kExitUsage;
  }
  Expected<ExitCode> result = chosen->run(options);
  if (result) return *result;
  say(result.error().message);
  return exit_code(result.error().kind);
}

}  // namespace

}  // namespace assay

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, assay::on_interrupt);
  ::signal(SIGTERM, assay::on_interrupt);
  try {
    return assay::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "assay: internal error: {}\n", error.what());
    return assay::kExitInternal;
  }
}
