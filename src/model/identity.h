// What a callable of the user's environment is: two that share a name need not be one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/preflight.h"

namespace assay {

struct Identity {
  std::string name;          // as asked for: "flash_attn.flash_attn_varlen_func", "_C::rms_norm"
  std::string kind;          // function, builtin_function_or_method, type, OpOverloadPacket, JITFunction, …
  std::string distribution;  // "name version"; empty: no distribution's record names the file
  std::string metadata;
  std::string file, file_hash;
  uint32_t first_line = 0, last_line = 0;  // of its source; 0: there is none
  std::string source_hash;                 // of those lines
  std::string signature;
  std::vector<std::string> layers;   // decorators, the outermost first: "KIND NAME at FILE:LINE"
  std::vector<std::string> schemas;  // of a torch operator
  std::vector<std::pair<std::string, std::string>> kernels;  // dispatch key, where it was registered
  std::vector<LibraryRow> libraries;                         // native code behind it
  Properties builds;                                         // torch, devices, driver
  std::string fault;                                         // why it could not be identified
  std::string why;                                           // what is known about the cause
  std::string fingerprint;                                   // of all that the answer rests on
};

// Schema assay.identity/1, documented in docs/records.md.
std::string identity_to_json(const Identity& identity);

}  // namespace assay
