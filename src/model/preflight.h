// The record of an environment: what `assay preflight` collects. It states, it does not judge.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay {

using Properties = std::vector<std::pair<std::string, std::string>>;  // in the order of the record

// A distribution that could be the one meant; every candidate gets a row, the first is the one that Python finds first.
struct DistributionRow {
  std::string name, version;
  std::string metadata;    // folder of its metadata
  std::string installer;
  std::string provenance;  // where it was installed from, without credentials; empty: not recorded, which is no fault
  bool editable = false;
  std::vector<std::string> modules;   // top-level
  std::vector<std::string> requires_; // what it asks of torch, triton and vLLM
  std::string fault;
};

// A shared library of a component, read without loading it.
struct LibraryRow {
  std::string path;
  std::string hash;
  std::vector<std::string> needed;
  std::vector<std::string> not_found;  // of `needed`
  std::vector<std::string> missing;    // symbols that neither it, nor what it needs, nor torch define, demangled
  std::string fault;                   // why it could not be read
};

// What an import gives: first as the interpreter's finders say, then as the process that imports it found it.
struct OriginRow {
  std::string module;
  std::string role;    // target | plugin | component | torch | …
  std::string kind;    // source | extension | namespace | built-in | absent | broken
  std::string found;   // file or folder, from the finders
  std::string shadow;  // what `python -m` would take from the current folder instead
  std::string effective;  // file in the process; empty: not imported
  std::string version;
  std::string fault;       // exception, signal, time limit; empty: imported, or not there
  std::string why;         // what is known about the cause
  std::vector<std::string> causes;  // "TYPE: MESSAGE at FILE:LINE", the last first
  double seconds = 0;
  std::vector<DistributionRow> distributions;
  std::vector<std::string> loaded;    // shared objects that the import brought into the process
  std::vector<LibraryRow> libraries;  // examined: of an import that failed, or of a component named
};

// Local files beside the installed ones, by content.
struct Correspondence {
  std::string role;  // target | plugin
  std::string local, installed;
  uint64_t identical = 0;
  std::vector<std::string> changed, local_only, installed_only;
  std::vector<std::string> generated;  // version files, compiled modules: made by the build, on one side only or different
  std::string verdict;  // "same", "differs", "not compared: …"
};

struct LocalTree {
  std::string role;  // target | plugin
  std::string spec, kind, name, version;
  std::string commit;  // of the working tree or revision; empty: no git
  std::string state;   // "clean", "N files changed", …
  std::string manifest;  // hash over names and contents
};

struct PreflightRecord {
  std::string tool_version;
  Properties interpreter;  // executable, version, prefix, …
  std::vector<std::pair<std::string, std::string>> path;  // entry of sys.path, what it is
  std::vector<std::string> finders;                       // beside Python's own
  std::vector<std::pair<std::string, bool>> variables;    // name, whether it is set; never a value
  Properties builds;                                      // torch, triton, device, driver
  Properties platform;                                    // what vLLM chose
  std::vector<std::vector<std::string>> plugins;          // group, name, value, distribution
  std::vector<LocalTree> local;
  std::vector<OriginRow> origins;
  std::vector<Correspondence> correspondence;
  std::vector<std::string> changes;  // what is different in the asked process
  std::vector<std::pair<std::string, std::string>> gaps;  // what could not be collected, why
  std::string mapping;      // fingerprint of interpreter, target and what corresponds to what
  std::string confirmed;    // confirmed by the user | assumed | not confirmed | changed since
  std::string fingerprint;  // of the whole record
};

// Schema assay.preflight/1, documented in docs/records.md.
std::string preflight_to_json(const PreflightRecord& record);

// The content that identifies the record (everything but times, and the confirmation), for its fingerprint.
std::string identifying_text(const PreflightRecord& record);

}  // namespace assay
