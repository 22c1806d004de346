// A Tree of a wheel or zip file, read in place.
#pragma once

#include <memory>
#include <string>

#include "tree/tree.h"

namespace assay {

// Opening reads only the directory at the file's end; a member is inflated, within bounds and checked against
// its CRC-32, when it is read. So a wheel of 300 MB opens in milliseconds, and only the sources that are
// asked for cost anything. identity().digest is the hash of that directory, which holds the size and checksum
// of every member.
Expected<std::unique_ptr<Tree>> open_zip(const std::string& path, const std::string& spec);

}  // namespace assay
