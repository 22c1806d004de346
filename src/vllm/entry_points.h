// What a tree says of itself as a distribution: its entry points, its name and version.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tree/tree.h"

namespace assay {

struct EntryPoint {
  std::string group;  // "vllm.general_plugins"; "console_scripts" for scripts
  std::string name;
  std::string value;  // "package.module:object", extras taken away
  std::string file;   // where it is declared
  uint32_t line = 0;
};

// From pyproject.toml (also poetry's and flit's tables), setup.cfg and setup.py; where none of these declares
// any, from the metadata of a built distribution. In the order of the declarations, without repetitions.
std::vector<EntryPoint> entry_points(const Tree& tree);

// Why pyproject.toml declares nothing though it is there ("no TOML, line 3: …"); empty when it is in order.
std::string pyproject_fault(const Tree& tree);

struct Distribution {
  std::string name;     // empty: not known
  std::string version;  // empty: not known
};

// From *.dist-info/METADATA or PKG-INFO, pyproject.toml, setup.cfg, setup.py, and the version a package's
// _version.py or version.py spells out. Of several metadata folders, the one whose packages stand in the
// tree.
Distribution distribution_of(const Tree& tree);

}  // namespace assay
