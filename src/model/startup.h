// What a real start of vLLM with the plugin did, beside what was read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct StartStep {
  std::string name;     // "import vllm", "general plugins", …
  double seconds = 0;   // in the spawned child, where nothing is traced; of the traced process when there is no child
  std::string result;   // the platform's class
  std::string fault;    // the exception that came out of the step
};

// An exception that somebody caught, and went on.
struct Swallowed {
  std::string type, message;
  std::string raised;               // FILE:LINE in FUNCTION
  std::string caught;               // the statement below which it was caught
  std::vector<std::string> frames;  // outermost first
  std::vector<std::string> causes;  // "TYPE: MESSAGE at FILE:LINE"
  uint64_t count = 1;
  std::string whose;                // plugin: it passed through the plugin; vllm: it did not
  std::string lost;                 // the entry point that was lost by it; empty: none
};

struct LoadedModule {
  std::string name, file;
  std::string hash;   // of the file, taken while the process ran
  std::string proof;  // same | differs | not in the source | generated; empty: nothing to compare with
};

// Something in vLLM's modules that stands differently because of the plugin.
struct TableChange {
  std::string path;            // "vllm.m.TABLE[key]", "vllm.m.Class.method"
  std::string before, after;   // what stands there; empty: nothing
  std::string place;           // FILE:LINE of the new one
  bool owned = false;          // what stands there now is the plugin's
  std::string declared;        // the inventory row that says so; empty: found only by running
  std::vector<std::string> also;   // further paths where the same stands instead of the same: importers of a changed object
  std::vector<std::string> stale;  // who still holds the old one, bound before the change
};

// A row of the inventory, asked in the started process.
struct StartRow {
  std::string kind, key;
  std::string expected;   // what the source says is registered
  std::string effective;  // what the lookup gives
  std::string place;      // FILE:LINE
  std::string verdict;    // agrees | differs | absent | not asked
  std::string reason;
  std::string in_child;   // what the spawned child gives, where that differs
};

struct StartupRecord {
  std::string tool_version;
  std::string python, plugin, plugin_kind, platform;
  std::vector<StartStep> steps;
  std::vector<Swallowed> swallowed;
  std::vector<LoadedModule> modules;  // of the plugin
  std::vector<TableChange> changes;
  std::vector<StartRow> rows;
  std::string child_fault;
  std::vector<std::string> unstaged;  // files that only the working tree has
  std::vector<std::string> environment;  // what is different in the asked process
  std::vector<std::pair<std::string, std::string>> gaps;

  // Something failed, was lost, or is not as the source says.
  bool sound() const;
};

// Schema assay.startup/1, documented in docs/records.md.
std::string startup_to_json(const StartupRecord& record);

}  // namespace assay
