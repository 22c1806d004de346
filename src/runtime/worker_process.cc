#include "runtime/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "runtime/worker_sources.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// What the interpreter runs first: it takes the worker's modules from the socket, so that no file of ours lies on its path.
constexpr const char* kBoot = R"py(
import sys
if sys.path and sys.path[0] == '':
    del sys.path[0]
sys.dont_write_bytecode = True
import json, socket, types, linecache
def receive(sock, size):
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            sys.exit(3)
        data += part
    return bytes(data)
sock = socket.socket(fileno=int(sys.argv[1]))
hello = json.loads(receive(sock, int.from_bytes(receive(sock, 4), 'little')))
package = types.ModuleType('assay_worker')
package.__path__ = []
package.SOURCES = hello['sources']
sys.modules['assay_worker'] = package
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, module = name.partition('.')
        if package != 'assay_worker' or module not in hello['sources']:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, Finder, origin='assay_worker/' + module + '.py')
    @staticmethod
    def create_module(spec):
        return None
    @staticmethod
    def exec_module(module):
        source = hello['sources'][module.__spec__.name.partition('.')[2]]
        origin = module.__spec__.origin
        linecache.cache[origin] = (len(source), None, source.splitlines(True), origin)
        exec(compile(source, origin, 'exec'), module.__dict__)
sys.meta_path.insert(0, Finder)
from assay_worker import server
sys.argv = ['']
server.serve(sock, int(hello['trace']), hello)
)py";

// In a shell, because that is the smallest program that outlives us. The first line is the worker's group, once there is
// one; a second means that all is ended in good order, the end of the input without one that assay is gone. No `--` for
// kill: dash takes it for a number.
constexpr const char* kGuard =
    R"sh(trap '' INT TERM HUP; read -r group; read -r line || { [ -z "$group" ] || kill -KILL "-$group" 2>/dev/null; }; rm -rf -- "$1")sh";

struct Spawn {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  Spawn() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

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

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

tl::unexpected<Error> cannot_start(const std::string& what, int error) {
  if (error == ENOENT) return fail(printable(what) + ": program not found");
  return fail(error == EACCES || error == ENOEXEC ? ErrorKind::kInput : ErrorKind::kIncomplete,
              printable(what) + ": cannot be started: " + std::strerror(error));
}

// The first message: the worker's own modules, and how it is to be.
std::string hello(const WorkerOptions& options, const std::string& scratch, int trace) {
  std::vector<std::string> first = options.path_first;
  if (options.overlay) first.insert(first.begin(), WorkerProcess::overlay_folder(scratch));
  nlohmann::json message = {{"trace", trace}, {"path_first", first}, {"sources", nlohmann::json::object()}};
  for (const WorkerSource& source : worker_sources()) message["sources"][std::string(source.name)] = source.text;
  return message.dump();
}

}  // namespace

OutputPipe::~OutputPipe() {
  if (fd_ >= 0) ::close(fd_);
}

int OutputPipe::open() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fd_ = ends[0];
  return ends[1];
}

void OutputPipe::drain() {
  // Bounded, so that who writes for ever does not hold us here.
  char buffer[1 << 16];
  for (int round = 0; round < 64 && fd_ >= 0; ++round) {
    const ssize_t got = ::read(fd_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      ::close(fd_);
      fd_ = -1;
      return;
    }
    const size_t room = std::min(static_cast<size_t>(got), kept_ - std::min(kept_, text_.size()));
    text_.append(buffer, room);
    dropped_ += static_cast<size_t>(got) - room;
  }
}

std::string OutputPipe::take(size_t& dropped) {
  dropped = std::exchange(dropped_, 0);
  return std::exchange(text_, {});
}

std::vector<std::pair<std::string, std::string>> worker_environment(const std::string& scratch) {
  std::vector<std::pair<std::string, std::string>> out = {
      {"PYTHONDONTWRITEBYTECODE", "1"}, {"DO_NOT_TRACK", "1"}, {"VLLM_NO_USAGE_STATS", "1"}, {"VLLM_DO_NOT_TRACK", "1"}};
  constexpr std::pair<const char*, const char*> kFolders[] = {
      {"TMPDIR", "tmp"},
      {"XDG_CACHE_HOME", "cache"},
      {"XDG_CONFIG_HOME", "config"},
      {"VLLM_CACHE_ROOT", "cache/vllm"},
      {"VLLM_CONFIG_ROOT", "config/vllm"},
      {"TRITON_CACHE_DIR", "cache/triton"},
      {"TORCHINDUCTOR_CACHE_DIR", "cache/inductor"},
      {"TORCH_EXTENSIONS_DIR", "cache/torch_extensions"},
      {"CUDA_CACHE_PATH", "cache/cuda"},
      {"MACA_CACHE_PATH", "cache/maca"},
      {"FLASHINFER_WORKSPACE_BASE", "cache/flashinfer"},
      {"DG_JIT_CACHE_DIR", "cache/deep_gemm"},
      {"TVM_FFI_CACHE_DIR", "cache/tvm_ffi"},
      {"TILELANG_CACHE_DIR", "cache/tilelang"},
      {"NUMBA_CACHE_DIR", "cache/numba"},
      {"MPLCONFIGDIR", "config/matplotlib"},
  };
  for (const auto& [name, folder] : kFolders) out.emplace_back(name, scratch + '/' + folder);
  return out;
}

Expected<void> WorkerProcess::make_scratch() {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) return fail(ErrorKind::kIncomplete, "no temporary folder: " + error.message());
  std::string pattern = (base / "assay-worker-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorKind::kIncomplete, fmt::format("cannot make a folder in {}: {}", base.string(), std::strerror(errno)));
  }
  scratch_ = pattern;
  fs::create_directories(scratch_ + "/tmp", error);
  return {};
}

Expected<void> WorkerProcess::write_overlay(const std::vector<OverlayFile>& files) {
  const std::string folder = overlay_folder(scratch_);
  for (const OverlayFile& file : files) {
    const fs::path path = fs::path(folder) / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (!file.link.empty()) {
      if (!error) fs::create_symlink(file.link, path, error);
    } else if (!error) {
      std::ofstream out(path, std::ios::binary);
      out.write(file.bytes.view().data(), static_cast<std::streamsize>(file.bytes.view().size()));
      out.close();
      if (!out) error = std::make_error_code(std::errc::io_error);
    }
    if (error) return fail(ErrorKind::kIncomplete, fmt::format("cannot export {}: {}", printable(file.path), error.message()));
  }
  return {};
}

Expected<void> WorkerProcess::spawn(const WorkerOptions& options) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return cannot_start(options.python, errno);
  channel_ = std::make_unique<Channel>(pair[0]);
  const int output = out_.open(), trace = trace_.open();
  Spawn spawn;
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&spawn.attributes, 0);
  posix_spawn_file_actions_addopen(&spawn.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawn.actions, output, 1);
  posix_spawn_file_actions_adddup2(&spawn.actions, output, 2);
  // Onto themselves: inherited, by this process alone.
  for (int fd : {pair[1], trace}) posix_spawn_file_actions_adddup2(&spawn.actions, fd, fd);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&spawn.actions, options.folder.c_str());
  std::vector<std::string> arguments = {options.python, "-c", kBoot, std::to_string(pair[1])};
  auto additions = worker_environment(scratch_);
  for (const auto& [name, value] : options.environment) {
    std::erase_if(additions, [&n = name](const auto& a) { return a.first == n; });
    additions.emplace_back(name, value);
  }
  std::vector<std::string> variables = environment_with(additions);
  const int failed = ::posix_spawnp(&pid_, options.python.c_str(), &spawn.actions, &spawn.attributes, pointers(arguments).data(),
                                    pointers(variables).data());
  for (int fd : {pair[1], output, trace}) ::close(fd);
  if (failed != 0) {
    pid_ = -1;
    if (failed == ENOENT && !options.folder.empty() && !fs::is_directory(options.folder))
      return fail(printable(options.folder) + ": no such folder");
    return cannot_start(options.python, failed);
  }
  const std::string group = std::to_string(pid_) + '\n';
  (void)!::write(lifeline_, group.data(), group.size());
  rlimit none{0, 0};
  ::prlimit(pid_, RLIMIT_CORE, &none, nullptr);  // a crash leaves no file
  if (options.memory_limit != 0) {
    rlimit bytes{options.memory_limit, options.memory_limit};
    ::prlimit(pid_, RLIMIT_DATA, &bytes, nullptr);
  }
  channel_->send(hello(options, scratch_, trace), {}, options.start_limit);  // if nobody takes it, that shows at the first answer
  return {};
}

Expected<void> WorkerProcess::spawn_guard() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot_start("sh", errno);
  lifeline_ = ends[1];
  Spawn spawn;
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_adddup2(&spawn.actions, ends[0], 0);
  posix_spawn_file_actions_addopen(&spawn.actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&spawn.actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> arguments = {"sh", "-c", kGuard, "sh", scratch_};
  const int failed = ::posix_spawnp(&guard_, "sh", &spawn.actions, &spawn.attributes, pointers(arguments).data(), environ);
  ::close(ends[0]);
  if (failed == 0) return {};
  guard_ = -1;
  return cannot_start("sh", failed);
}

Expected<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const WorkerOptions& options) {
  std::unique_ptr<WorkerProcess> process(new WorkerProcess(options));
  if (auto made = process->make_scratch(); !made) return tl::make_unexpected(made.error());
  // Before anything lasting is done, as an interrupt may come at any time.
  if (auto guarded = process->spawn_guard(); !guarded) return tl::make_unexpected(guarded.error());
  if (options.overlay) {
    if (auto written = process->write_overlay(*options.overlay); !written) return tl::make_unexpected(written.error());
  }
  if (auto spawned = process->spawn(options); !spawned) return tl::make_unexpected(spawned.error());
  return process;
}

WorkerProcess::~WorkerProcess() {
  kill();
  end_guard();
  if (pid_ > 0 && !ended_) wait_for(pid_);
}

// Before the process is waited for, as until then nobody else can get its number.
void WorkerProcess::end_guard() {
  if (guard_ > 0) {
    (void)!::write(lifeline_, "\n", 1);
    ::close(lifeline_);
    wait_for(guard_);
    guard_ = -1;
    scratch_.clear();
  } else if (!scratch_.empty()) {
    std::error_code ignored;
    fs::remove_all(scratch_, ignored);
  }
}

bool WorkerProcess::ended() {
  if (ended_ || pid_ <= 0) return true;
  // Its children first: once it is waited for, the group's number may be somebody else's.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return false;
  kill();
  end_guard();
  status_ = wait_for(pid_);
  ended_ = true;
  return true;
}

void WorkerProcess::kill() {
  if (pid_ > 0 && !ended_) ::kill(-pid_, SIGKILL);
}

void WorkerProcess::ask_where() {
  if (pid_ > 0 && !ended_) ::kill(pid_, SIGRTMAX - 3);
}

size_t WorkerProcess::private_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/status", pid_));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssAnon:")) return std::strtoull(line.c_str() + 8, nullptr, 10) * 1024;
  }
  return 0;
}

}  // namespace assay
