// A Tree of a package as an interpreter would import it.
#pragma once

#include <memory>
#include <string>

#include "tree/tree.h"

namespace assay {

// Asks `python` (a program name or path), with the standard library alone and without importing the package,
// where `name` (a distribution or a top-level module) would come from: site-packages, user site, PYTHONPATH,
// .pth files and editable installs included, the current folder not. The tree holds the distribution's
// top-level modules ("vllm/…") and its metadata folder ("vllm-0.26.0.dist-info/…"). Further installations of
// the same name are named in skipped(). Error: "SPEC: 'NAME' is not installed for VERSION at EXECUTABLE".
Expected<std::unique_ptr<Tree>> open_installed(const std::string& python, const std::string& name,
                                               const std::string& spec);

}  // namespace assay
