// From what the user typed to a Tree.
#pragma once

#include <memory>
#include <string>

#include "tree/tree.h"

namespace assay {

struct SourceOptions {
  std::string package = "";        // the distribution or module that "installed:" is about
  std::string python = "python3";  // whose pip fetches "pypi:"
  std::string cache_dir = "";      // when empty: $XDG_CACHE_HOME/assay, else ~/.cache/assay
};

// SPEC is one of
//   PATH                  a folder: its working tree
//   FILE                  .whl .zip .tar.gz .tgz .tar.xz .tar.bz2, read in place
//   PATH@REV              a git revision, without checkout
//   PATH@:index           what is staged
//   installed:PYTHON      what that interpreter would import as options.package
//   pypi:NAME==VERSION    fetched once with pip, wheel preferred, and kept in the cache folder
// A path that exists wins over every other reading. Errors are "SPEC: cause", of kind kInput unless pip could
// not finish.
Expected<std::shared_ptr<Tree>> open_source(const std::string& spec, const SourceOptions& options = {});

}  // namespace assay
