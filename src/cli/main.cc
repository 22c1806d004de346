#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "base/process.h"
#include "cli/commands.h"
#include "cli/version.h"

namespace assay {

namespace {

// Nothing has to be undone: a file is written under another name and renamed while interrupts wait
// (cli/output.cc).
void on_interrupt(int) {
  kill_running_programs();
  ::_exit(kExitInterrupted);
}

// A closed stream's number must not go to a file or a socket of ours: what is printed would end there. What stands in fails
// as the closed one did.
void fill_closed_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) (void)!::open("/dev/null", O_RDONLY);
}

// A message that nobody can take is no failure of its own, so nothing here throws.
void complain(const std::string& message) { std::fputs(message.c_str(), stderr); }

const char* const kExitCodes =
    "Exit codes: 0 nothing found; 1 findings at or above the fail level; 2 the command line, the "
    "configuration or an "
    "input is wrong; 3 not finished; 101 internal error; 130 interrupted.";

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// What CLI11 says of words that nobody takes, with what was probably meant.
tl::unexpected<Error> unexpected_words(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    std::vector<std::string> left = command->remaining();
    if (left.empty()) continue;
    std::string name = left.front().substr(0, left.front().find('='));
    if (name.starts_with("-")) return unknown_name("option", name, long_names(*command));
    return fail(ErrorKind::kUsage,
                fmt::format("'{}' is one argument too many for {}", name, command->get_name()));
  }
  std::vector<std::string> known;
  for (const CommandRow& command : all_commands()) known.emplace_back(command.name);
  std::vector<std::string> left = app.remaining();
  if (left.empty()) return fail(ErrorKind::kUsage, "no command given; assay --help lists them");
  return unknown_name(left.front().starts_with("-") ? "option" : "command", left.front(), known);
}

Expected<ExitCode> run(int argc, char** argv) {
  CLI::App app{"Reviews an out-of-tree vLLM plugin against the vLLM that it must fit.", "assay"};
  app.set_version_flag("--version", fmt::format("assay {}", kVersion));
  app.footer(kExitCodes);
  Options options;
  const CommandRow* chosen = nullptr;
  for (const CommandRow& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    add_options(*sub, command.options, options);
    sub->final_callback([&chosen, &command] { chosen = &command; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
    return kExitClean;
  } catch (const CLI::ExtrasError&) {
    return unexpected_words(app);
  } catch (const CLI::ParseError& error) {
    return fail(ErrorKind::kUsage, error.what());
  }
  if (chosen == nullptr) return unexpected_words(app);
  return chosen->run(options);
}

}  // namespace

}  // namespace assay

int main(int argc, char** argv) {
  assay::fill_closed_streams();
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as EPIPE where it is written to
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (::signal(signal, assay::on_interrupt) == SIG_IGN) ::signal(signal, SIG_IGN);  // as nohup wants it
  try {
    auto result = assay::run(argc, argv);
    if (result) return *result;
    assay::complain(fmt::format("assay: {}\n", result.error().message));
    return assay::exit_code(result.error().kind);
  } catch (const std::exception& error) {
    assay::complain(fmt::format("assay: internal error: {}\n", error.what()));
    return assay::kExitInternal;
  }
}
