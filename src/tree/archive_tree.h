// A Tree of an archive file, whatever its format.
#pragma once

#include <memory>
#include <string>

#include "tree/tree.h"

namespace assay {

// By the name: .whl .zip .tar .tgz .tar.gz .tar.xz .tar.bz2
bool is_archive_name(std::string_view path);

// By its first bytes, not its name. A source distribution's top folder "name-version/" is stripped. Members
// that can't be offered (paths that climb out, links, encrypted …) become skipped(); an archive that is not
// what it claims to be is an error. `spec` is what the user typed, `path` when empty.
Expected<std::unique_ptr<Tree>> open_archive(const std::string& path, const std::string& spec = "");

}  // namespace assay
