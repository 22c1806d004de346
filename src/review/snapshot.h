// A plugin's source exported as an interpreter would find it installed, and the proof that what ran was that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/startup.h"
#include "runtime/worker_process.h"
#include "tree/tree.h"
#include "vllm/entry_points.h"

namespace assay {

struct Snapshot {
  std::shared_ptr<const std::vector<OverlayFile>> files;
  std::vector<std::string> generated;  // compiled or generated modules that the source lacks, taken from what is installed
};

// The packages' files where they lie below sys.path; metadata with the entry points, made up where the tree has none; and links to
// what a build makes, taken from `installed` (may be null).
Expected<Snapshot> export_snapshot(const Tree& tree, const std::vector<std::string>& packages, const std::vector<EntryPoint>& entries,
                                   const Distribution& distribution, const Tree* installed, const std::string& installed_at);

// Sets each module's proof: its file lies in `overlay` and has the content that the source has there.
void prove(const std::vector<OverlayFile>& files, const std::string& overlay, std::vector<LoadedModule>& modules);

// The same for an installed package beside a source tree: by content alone.
void compare_loaded(const Tree& source, const std::vector<std::string>& packages, std::vector<LoadedModule>& modules);

// Files of the packages that the working tree has and the index does not.
std::vector<std::string> unstaged_files(const Tree& index, const Tree& working, const std::vector<std::string>& packages);

}  // namespace assay
