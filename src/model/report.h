// Everything one run has to say; every writer in report/ works on this alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/finding.h"

namespace assay {

// One registration, override, copy or patch in the plugin.
struct InventoryRow {
  std::string kind;       // attention-backend, quantization-config, custom-op, oot-op, patch, class-path, …
  std::string key;        // what the registry is keyed by; the dotted path that a patch replaces
  std::string state;      // active | conditional | inactive | dead
  std::string condition;  // the guards that decide, as written
  std::vector<std::string> activation;  // entry point → imports → this row, one "file:line what" per hop
  std::string effective;                // dotted name of the class or callable that is registered
  std::string upstream;                 // dotted name of its upstream counterpart, if there is one
  std::string difference;  // identical | changed | unrelated | empty where there's no counterpart
  std::string decision;    // retain | update | remove | fallback | reject; empty: not decided
  std::string validation;
  EvidenceLevel evidence = EvidenceLevel::kSourceInspected;
  Location location;
};

// Every file of the scope is accounted for.
struct FileRow {
  std::string file;
  std::string state;   // active | lazy | inactive | dead | skipped | not-python
  std::string reason;  // who reaches it, or why nobody does, or why it was skipped
  // For import files: what is lost when line N raises.
  struct Loss {
    uint32_t line = 0;
    std::string import;             // as written
    std::vector<std::string> rows;  // "kind key" of the registrations that are lost
  };
  std::vector<Loss> losses;
};

// What the run could not decide, or did not test.
struct Unknown {
  std::string what;
  std::string reason;
  Location location;
};

struct InputInfo {
  std::string role;  // plugin | target | base | plugin-base | component
  std::string name;  // distribution or package name
  std::string spec;
  std::string kind;
  std::string version;
  std::string revision;
  std::string digest;
};

// Findings of one rule that were tried in a process.
struct Verified {
  uint64_t confirmed = 0, withdrawn = 0;
  uint64_t undecided = 0;  // the process could not tell, for a reason that stands with the finding
  uint64_t not_tried = 0;  // nothing that a lookup or a binding decides
};

struct Stats {
  uint64_t files = 0;                               // parsed
  uint64_t bytes = 0;                               // of the parsed files
  uint64_t names_decided = 0, names_undecided = 0;  // names imported from the target
  uint64_t calls_bound = 0, calls_unbound = 0;      // calls of things that belong to the target
  uint64_t cache_hits = 0, cache_misses = 0;
  double wall_seconds = 0;                              // the whole command, by the clock on the wall
  std::vector<std::pair<std::string, double>> seconds;  // per phase, in the order they ran
  std::map<std::string, uint64_t> findings_per_rule;
  std::map<std::string, double> seconds_per_rule;
  std::map<std::string, Verified> verified;  // per rule; empty unless an interpreter was asked
};

struct Report {
  std::string command;  // check | inventory | compare | …
  std::string tool_version;
  std::vector<InputInfo> inputs;
  std::string platform;
  std::string incomplete;  // why the run ended early; empty: it did all it set out to do
  std::vector<Finding> findings;
  std::vector<InventoryRow> inventory;
  std::vector<FileRow> files;
  std::vector<Unknown> unknown;
  Stats stats;
};

}  // namespace assay
