// One process of the user's interpreter, from its start to its end: nothing of it is left behind, however it ends and
// however assay ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/channel.h"
#include "tree/tree.h"

namespace assay {

// A file that the process is to find before all others.
struct OverlayFile {
  std::string path;       // below the overlay's folder
  Blob bytes;
  std::string link = "";  // not empty: a symbolic link to this instead
};

struct WorkerOptions {
  std::string python = "python3";  // a program name or path
  std::string folder = "";         // its current folder; empty: ours
  std::vector<std::pair<std::string, std::string>> environment = {};  // set on top of our own
  std::vector<std::string> path_first = {};                           // put before everything else on sys.path
  // Written to a folder of the process's own, which stands even before path_first and is removed with it.
  std::shared_ptr<const std::vector<OverlayFile>> overlay = nullptr;
  std::chrono::milliseconds start_limit{60'000};
  std::chrono::milliseconds call_limit{60'000};
  size_t memory_limit = 0;          // bytes of private memory; 0: none
  size_t kept_output = 64 * 1024;   // bytes of what a call prints; the rest is counted and dropped
};

// What a process writes, read so that it never blocks. Only the first bytes are kept.
class OutputPipe {
 public:
  explicit OutputPipe(size_t kept) : kept_(kept) {}
  ~OutputPipe();
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  // The end that the process writes to, or -1.
  int open();
  int descriptor() const { return fd_; }
  void drain();
  // What came since the last take, and how much of it was dropped.
  std::string take(size_t& dropped);

 private:
  size_t kept_;
  int fd_ = -1;
  std::string text_;
  size_t dropped_ = 0;
};

// A folder of the process's own below the system's temporary folder, and a guard outside our process group that removes it
// and ends the process with its children as soon as assay is gone, even if it was killed.
class WorkerProcess {
 public:
  static Expected<std::unique_ptr<WorkerProcess>> start(const WorkerOptions& options);
  ~WorkerProcess();  // ends the process, its children and its folder
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Channel& channel() { return *channel_; }
  OutputPipe& out() { return out_; }
  OutputPipe& trace() { return trace_; }  // where Python stood when it died
  pid_t pid() const { return pid_; }
  const std::string& scratch() const { return scratch_; }
  static std::string overlay_folder(const std::string& scratch) { return scratch + "/overlay"; }

  bool ended();               // without waiting
  int status() const { return status_; }  // as waitpid gives it, once it has ended
  void kill();                // it and its children
  void ask_where();           // has it write its stacks to trace()
  size_t private_bytes() const;  // resident memory that it does not share; 0: not known

 private:
  explicit WorkerProcess(const WorkerOptions& options) : out_(options.kept_output), trace_(64 * 1024) {}
  Expected<void> make_scratch();
  Expected<void> write_overlay(const std::vector<OverlayFile>& files);
  Expected<void> spawn(const WorkerOptions& options);
  Expected<void> spawn_guard();
  void end_guard();

  std::unique_ptr<Channel> channel_;
  OutputPipe out_, trace_;
  std::string scratch_;
  pid_t pid_ = -1, guard_ = -1;
  int lifeline_ = -1;  // the guard waits for its end
  bool ended_ = false;
  int status_ = 0;
};

// What a worker's environment sets beside the user's own: caches and temporary files go to `scratch`, nothing is written
// beside the packages, nothing is sent home. Recorded with every result.
std::vector<std::pair<std::string, std::string>> worker_environment(const std::string& scratch);

}  // namespace assay
