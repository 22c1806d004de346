// The user's interpreter, asked one question after the other: what it answers, raises or dies of is data.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/shared_block.h"
#include "runtime/worker_process.h"

namespace assay {

// A Python exception, with what led to it (`raise … from …`, or raised while another was handled), the last first.
struct Raised {
  std::string type;     // "ModuleNotFoundError"
  std::string message;
  std::string where;    // "FILE:LINE in FUNCTION", innermost frame
  std::vector<std::string> frames;  // outermost first
  std::vector<Raised> causes;
  bool device_lost = false;  // the accelerator's context is broken: the worker was started anew
};

// How the process came to its end in the middle of a call.
struct Death {
  enum class Cause { kExit, kSignal, kTimeLimit, kMemoryLimit, kChannel };
  Cause cause = Cause::kExit;
  int number = 0;      // exit status, or signal
  std::string where;   // "FILE:LINE in FUNCTION", innermost Python frame; empty: not known
  std::string stacks;  // of all threads, as faulthandler writes them
};

struct Answer {
  nlohmann::json value;          // what the question asks for; null unless answered()
  std::optional<Raised> raised;  // the call raised
  std::optional<Death> death;    // the call ended the process
  std::string output;            // what was printed, both streams
  size_t output_dropped = 0;     // bytes beyond the limit
  std::vector<std::string> side_effects;  // "changed the current folder to …": undone
  double seconds = 0;

  bool answered() const { return !raised && !death; }
  // One sentence: "ended by signal SIGSEGV in FILE:LINE", "ModuleNotFoundError: …"; empty when answered.
  std::string fault() const;
};

std::string to_text(const Raised& raised);  // "TYPE: MESSAGE"
std::string to_text(const Death& death);

// Blocks that a call may use, under the names that its arguments give them.
using Blocks = std::map<std::string, std::shared_ptr<const SharedBlock>>;

// Not thread-safe. A call that ends the process costs that call alone: the next one starts a fresh process.
class Worker {
 public:
  // Errors: the interpreter is not there, is no Python, or does not come up within the limit.
  static Expected<std::unique_ptr<Worker>> start(WorkerOptions options);

  // `question` is the dotted name of a function of assay_worker: "server.ping". An Error only when no process can be
  // started any more.
  Expected<Answer> call(std::string_view question, const nlohmann::json& arguments = nlohmann::json::object(),
                        const Blocks& blocks = {}, std::chrono::milliseconds limit = {});

  // The next call gets a fresh process.
  void restart() { process_.reset(); }

  unsigned starts() const { return starts_; }
  // What the interpreter says of itself: {executable, version, …}.
  const nlohmann::json& about() const { return about_; }
  const WorkerOptions& options() const { return options_; }
  // Where the overlay lies in the present process; empty: there is none.
  std::string overlay() const { return process_ && options_.overlay ? WorkerProcess::overlay_folder(process_->scratch()) : ""; }
  // What is different in this process from one that the user starts: ["TRITON_CACHE_DIR redirected", …].
  std::vector<std::string> changes() const;

 private:
  explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
  Expected<void> up();
  Answer wait(std::chrono::milliseconds limit);
  Death death(Death::Cause cause);
  std::vector<int> announce(const Blocks& blocks, nlohmann::json& message);

  WorkerOptions options_;
  std::unique_ptr<WorkerProcess> process_;
  nlohmann::json about_;
  unsigned starts_ = 0;
  // Blocks that the present process has mapped, by the number it knows them under.
  std::map<unsigned, std::weak_ptr<const SharedBlock>> mapped_;
  unsigned last_block_ = 0;
};

}  // namespace assay
