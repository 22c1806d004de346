#include "runtime/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

// How long a process that is to be ended gets to say where it stands.
constexpr std::chrono::milliseconds kLastWords{300};

std::string text_in(const json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::vector<std::string> texts_in(const json& object, const char* key) {
  std::vector<std::string> out;
  if (auto it = object.find(key); it != object.end() && it->is_array()) {
    for (const json& text : *it)
      if (text.is_string()) out.push_back(text.get<std::string>());
  }
  return out;
}

Raised raised_from(const json& error) {
  Raised out{text_in(error, "type"), text_in(error, "message"), text_in(error, "where"), texts_in(error, "frames"), {},
             error.value("device_lost", false)};
  if (auto it = error.find("causes"); it != error.end() && it->is_array()) {
    for (const json& cause : *it) out.causes.push_back(raised_from(cause));
  }
  return out;
}

// faulthandler's `  File "PATH", line N in NAME`, the first that is neither the worker's own nor the import system's.
std::string innermost(std::string_view stacks) {
  for (std::string_view line : split(stacks, '\n')) {
    line = trim(line);
    if (!line.starts_with("File \"") || line.find("\"assay_worker/") != std::string_view::npos ||
        line.find("\"<frozen importlib") != std::string_view::npos || line.find("/importlib/__init__.py\"") != std::string_view::npos)
      continue;
    const size_t quote = line.find("\", line ");
    if (quote == std::string_view::npos) continue;
    std::string_view rest = line.substr(quote + 8);
    const size_t in = rest.find(" in ");
    return fmt::format("{}:{} in {}", line.substr(6, quote - 6), rest.substr(0, in), in == rest.npos ? "?" : rest.substr(in + 4));
  }
  return "";
}

// Of the current thread when it is marked, else of all.
std::string place_in(std::string_view stacks) {
  const size_t current = stacks.find("Current thread");
  return innermost(current == std::string_view::npos ? stacks : stacks.substr(current));
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? std::string("SIG") + name : fmt::format("signal {}", number);
}

}  // namespace

std::string to_text(const Raised& raised) {
  return raised.message.empty() ? raised.type : raised.type + ": " + raised.message;
}

std::string to_text(const Death& death) {
  std::string out;
  switch (death.cause) {
    case Death::Cause::kExit: out = fmt::format("ended its process with exit status {}", death.number); break;
    case Death::Cause::kSignal: out = fmt::format("ended by {}", signal_name(death.number)); break;
    case Death::Cause::kTimeLimit: out = "did not come back within the time limit"; break;
    case Death::Cause::kMemoryLimit: out = "took more memory than the limit"; break;
    case Death::Cause::kChannel: out = "closed the connection to assay"; break;
  }
  return death.where.empty() ? out : out + ", at " + death.where;
}

std::string Answer::fault() const {
  if (death) return to_text(*death);
  return raised ? to_text(*raised) : std::string();
}

Expected<std::unique_ptr<Worker>> Worker::start(WorkerOptions options) {
  std::unique_ptr<Worker> worker(new Worker(std::move(options)));
  if (auto up = worker->up(); !up) return tl::make_unexpected(up.error());
  return worker;
}

Expected<void> Worker::up() {
  if (process_ && !process_->ended()) return {};
  mapped_.clear();
  process_.reset();
  auto process = WorkerProcess::start(options_);
  if (!process) return tl::make_unexpected(process.error());
  process_ = std::move(*process);
  Answer answer = wait(options_.start_limit);
  if (answer.answered() && !text_in(answer.value, "version").empty()) {
    ++starts_;
    about_ = std::move(answer.value);
    return {};
  }
  process_.reset();
  std::string_view printed = trim(answer.output);
  printed = printed.substr(printed.rfind('\n') + 1);
  std::string why = answer.death && answer.death->cause == Death::Cause::kTimeLimit ? answer.fault() : std::string(printed);
  if (why.empty()) why = answer.answered() ? "it does not say what it is" : answer.fault();
  return fail(fmt::format("{}: does not start as a Python interpreter: {}", printable(options_.python), printable(why)));
}

// Those that the process does not have yet are sent along; those that are gone here are given up there.
std::vector<int> Worker::announce(const Blocks& blocks, json& message) {
  std::vector<int> descriptors;
  json named = json::object(), fresh = json::array(), gone = json::array();
  for (auto it = mapped_.begin(); it != mapped_.end();) {
    if (it->second.expired()) {
      gone.push_back(it->first);
      it = mapped_.erase(it);
    } else {
      ++it;
    }
  }
  for (const auto& [name, block] : blocks) {
    auto known = std::find_if(mapped_.begin(), mapped_.end(), [&b = block](const auto& m) { return m.second.lock() == b; });
    if (known == mapped_.end()) {
      known = mapped_.emplace(++last_block_, block).first;
      fresh.push_back({{"id", known->first}, {"file_size", block->file_size()}, {"offset", block->offset()}, {"size", block->size()}});
      descriptors.push_back(block->descriptor());
    }
    named[name] = known->first;
  }
  if (!named.empty()) message["blocks"] = std::move(named);
  if (!fresh.empty()) message["map"] = std::move(fresh);
  if (!gone.empty()) message["unmap"] = std::move(gone);
  return descriptors;
}

Expected<Answer> Worker::call(std::string_view question, const json& arguments, const Blocks& blocks, std::chrono::milliseconds limit) {
  if (auto started = up(); !started) return tl::make_unexpected(started.error());
  json message = {{"do", question}, {"with", arguments}};
  const std::vector<int> descriptors = announce(blocks, message);
  const auto start = Clock::now();
  if (limit.count() <= 0) limit = options_.call_limit;
  // What is not taken in time gets no answer either, and that is what ends the process.
  process_->channel().send(message.dump(-1, ' ', false, json::error_handler_t::replace), descriptors, limit);
  Answer answer = wait(limit - std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start));
  answer.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (answer.death || (answer.raised && answer.raised->device_lost)) process_.reset();
  return answer;
}

Death Worker::death(Death::Cause cause) {
  WorkerProcess& process = *process_;
  const bool ours = cause == Death::Cause::kTimeLimit || cause == Death::Cause::kMemoryLimit;
  // What ends by itself says how it ended; what does not is asked where it stands.
  if (ours) process.ask_where();
  const auto until = Clock::now() + kLastWords;
  while (!process.ended() && Clock::now() < until) {
    pollfd fd{process.trace().descriptor(), POLLIN, 0};
    ::poll(&fd, 1, 10);
    process.out().drain();
    process.trace().drain();
  }
  Death out;
  out.cause = cause;
  if (process.ended() && !ours) {
    const int status = process.status();
    out.cause = WIFSIGNALED(status) ? Death::Cause::kSignal : Death::Cause::kExit;
    out.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  process.kill();
  process.out().drain();
  process.trace().drain();
  size_t dropped = 0;
  out.stacks = process.trace().take(dropped);
  out.where = place_in(out.stacks);
  return out;
}

Answer Worker::wait(std::chrono::milliseconds limit) {
  WorkerProcess& process = *process_;
  const auto deadline = Clock::now() + limit;
  Answer answer;
  std::string message;
  for (auto tick = Clock::now();;) {
    pollfd fds[3] = {{process.channel().descriptor(), POLLIN, 0},
                     {process.out().descriptor(), POLLIN, 0},
                     {process.trace().descriptor(), POLLIN, 0}};
    // Now and then its end, its memory and the clock are looked at: a child of its own may keep all of these open.
    ::poll(fds, 3, 20);
    if (fds[1].revents != 0) process.out().drain();
    if (fds[2].revents != 0) process.trace().drain();
    const Channel::Got got = process.channel().receive(message);
    if (got == Channel::Got::kMessage) break;
    if (got != Channel::Got::kNothing) {
      answer.death = death(Death::Cause::kChannel);
      break;
    }
    const auto now = Clock::now();
    if (now >= deadline) {
      answer.death = death(Death::Cause::kTimeLimit);
      break;
    }
    if (now - tick < std::chrono::milliseconds(20)) continue;
    tick = now;
    if (process.ended()) {
      answer.death = death(Death::Cause::kExit);
      break;
    }
    if (options_.memory_limit != 0 && process.private_bytes() > options_.memory_limit) {
      answer.death = death(Death::Cause::kMemoryLimit);
      break;
    }
  }
  process.out().drain();
  answer.output = process.out().take(answer.output_dropped);
  if (answer.death) return answer;
  json reply = json::parse(message, nullptr, false);
  // What the asked code writes on the connection itself is no answer.
  const bool whole = reply.is_object() && (reply.contains("error") ? reply["error"].is_object() : reply.contains("value"));
  if (!whole) {
    answer.death = death(Death::Cause::kChannel);
    return answer;
  }
  answer.side_effects = texts_in(reply, "side_effects");
  if (auto it = reply.find("error"); it != reply.end()) {
    answer.raised = raised_from(*it);
  } else if (auto value = reply.find("value"); value != reply.end()) {
    answer.value = std::move(*value);
  }
  return answer;
}

std::vector<std::string> Worker::changes() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : worker_environment("")) {
    out.push_back(value.starts_with('/') ? name + " points to a folder that is removed afterwards" : name + " is set");
  }
  for (const auto& [name, value] : options_.environment) out.push_back(name + " is set");
  if (options_.overlay) out.push_back(fmt::format("first on sys.path: {} exported files", options_.overlay->size()));
  for (const std::string& path : options_.path_first) out.push_back("first on sys.path: " + path);
  if (options_.memory_limit != 0) out.push_back(fmt::format("at most {} bytes of private memory", options_.memory_limit));
  out.push_back("the current folder is not on sys.path");
  return out;
}

}  // namespace assay
