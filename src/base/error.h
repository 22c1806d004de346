// Recoverable errors. A function that can fail returns Expected<T>; the one catch is in cli/main.cc.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace assay {

// What kind of failure this is decides the exit code (cli/exit_codes.h).
enum class ErrorKind {
  kUsage,        // the command line or a configuration file is wrong
  kInput,        // an input is not there, or not readable as what it claims to be
  kIncomplete,   // the work could not be finished: disk full, time limit, lost process
  kInterrupted,  // the user asked to stop
};

struct Error {
  ErrorKind kind = ErrorKind::kInput;
  std::string message;  // one sentence that names the thing and the cause, without a final full stop
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
inline tl::unexpected<Error> fail(std::string message) { return fail(ErrorKind::kInput, std::move(message)); }

// A bug of assay itself: prints the message with its place and ends with exit code 101.
[[noreturn]] void bug(const char* file, int line, const std::string& message);

}  // namespace assay

#define ASSAY_CHECK(condition, message)                                   \
  do {                                                                    \
    if (!(condition)) ::assay::bug(__FILE__, __LINE__, message);          \
  } while (false)
