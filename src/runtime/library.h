// Shared libraries (ELF) read without loading them: what they need, what they define, which symbols nobody gives them.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"

namespace assay {

struct SharedLibrary {
  std::string soname;
  std::string machine;  // "x86-64", "aarch64", or its number
  std::vector<std::string> needed;
  std::vector<std::string> search;     // RPATH and RUNPATH, $ORIGIN replaced
  std::vector<std::string> undefined;  // strong symbols that something else must define, mangled, sorted
  std::unordered_set<std::string> defined;
};

// 64-bit little-endian ELF files with dynamic symbols. Errors: "PATH: cannot be read: …", "PATH: not a shared library …".
Expected<SharedLibrary> read_library(const std::string& path);

struct LibraryCheck {
  std::vector<std::string> needed;     // by the library itself
  std::vector<std::string> not_found;  // of its needs, and theirs
  std::vector<std::string> missing;    // mangled
  std::vector<std::string> searched;   // the files whose definitions were looked at
};

// Looks for each undefined symbol of `path` in what it needs (transitively: beside the library, in its search path, among
// `present`, in the system's folders) and in all of `present`: libraries that the process has loaded before, such as
// torch's, and the interpreter's executable.
Expected<LibraryCheck> check_library(const std::string& path, const std::vector<std::string>& present);

std::string demangled(const std::string& symbol);

}  // namespace assay
