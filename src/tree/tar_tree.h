// A Tree of a .tar.gz, .tar.xz, .tar.bz2 or plain .tar file.
#pragma once

#include <memory>
#include <string>

#include "tree/tree.h"

namespace assay {

// A compressed tar has no directory and can't be read from the middle, so it is unpacked once, into memory,
// when it is opened; kept are only text files that a review reads, within bounds. Everything else is listed
// with its size, and reading it is an error. identity().digest is the hash of the file.
Expected<std::unique_ptr<Tree>> open_tar(const std::string& path, const std::string& spec);

}  // namespace assay
