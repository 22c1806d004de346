#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

// The groups that run. A handler of signals reads them, so there is no lock; who finds no place is not killed.
std::array<std::atomic<pid_t>, 64> running_groups;

class RunningGroup {
 public:
  explicit RunningGroup(pid_t group) {
    for (auto& place : running_groups) {
      pid_t none = 0;
      if (place.compare_exchange_strong(none, group)) {
        place_ = &place;
        return;
      }
    }
  }
  ~RunningGroup() { forget(); }
  RunningGroup(const RunningGroup&) = delete;
  RunningGroup& operator=(const RunningGroup&) = delete;
  // Before the program is waited for: afterwards the number may be somebody else's.
  void forget() {
    if (place_) *place_ = 0;
    place_ = nullptr;
  }

 private:
  std::atomic<pid_t>* place_ = nullptr;
};

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(int i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
};

struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> all;
  for (char** item = environ; *item; ++item) {
    const std::string_view old = *item;
    const bool replaced = std::any_of(additions.begin(), additions.end(), [&](const auto& added) {
      return old.starts_with(added.first) && old.substr(added.first.size()).starts_with('=');
    });
    if (!replaced) all.emplace_back(old);
  }
  for (const auto& [name, value] : additions) all.push_back(name + '=' + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// Reads what is there; closes the pipe at its end.
void drain(Pipe& pipe, std::string& into, const Command& command, bool& cut) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(pipe.ends[0], buffer, sizeof buffer);
    if (got > 0) {
      const size_t room = command.max_output - into.size();
      cut |= static_cast<size_t>(got) > room;
      into.append(buffer, std::min(static_cast<size_t>(got), room));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      if (got == 0 || errno != EAGAIN) pipe.close_end(0);
      return;
    }
  }
}

}  // namespace

Expected<ProcessResult> run_process(const Command& command) {
  ASSAY_CHECK(!command.argv.empty(), "run_process without a program");
  const std::string name = printable(command.argv[0]);
  Pipe out, err;
  if (out.ends[0] < 0 || err.ends[0] < 0) {
    return fail(ErrorKind::kIncomplete, name + ": cannot be started: " + std::strerror(errno));
  }
  for (Pipe* pipe : {&out, &err}) ::fcntl(pipe->ends[0], F_SETFL, O_NONBLOCK);

  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&settings.actions, err.ends[1], 2);
  // Whatever we ignore or block must not be inherited.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &defaults);
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&settings.attributes, 0);

  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> variables = environment_with(command.environment);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, command.argv[0].c_str(), &settings.actions, &settings.attributes,
                                    pointers(arguments).data(), pointers(variables).data());
  if (failed == ENOENT) return fail(name + ": program not found");
  if (failed != 0) return fail(name + ": cannot be started: " + std::strerror(failed));
  RunningGroup group(pid);
  out.close_end(1);
  err.close_end(1);

  ProcessResult result;
  const Clock::time_point deadline = Clock::now() + command.timeout;
  int status = 0;
  for (bool running = true; running;) {
    // The program's end is looked for now and then, not only the end of its output: a child of its own may
    // keep the pipes open for ever.
    const int wait = out.ends[0] >= 0 || err.ends[0] >= 0 ? 20 : 1;
    pollfd fds[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
    ::poll(fds, 2, wait);
    siginfo_t info{};
    const int asked = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
    running = asked == 0 ? info.si_pid == 0 : errno == EINTR;
    if (out.ends[0] >= 0) drain(out, result.out, command, result.output_cut);
    if (err.ends[0] >= 0) drain(err, result.err, command, result.output_cut);
    if (running && Clock::now() >= deadline) {
      result.timed_out = true;
      ::kill(-pid, SIGKILL);
      running = false;
    }
  }
  group.forget();
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

void kill_running_programs() {
  for (auto& place : running_groups)
    if (const pid_t group = place; group != 0) ::kill(-group, SIGKILL);
}

}  // namespace assay
