// A Tree is a read-only set of files under '/'-separated relative paths: a directory, a git revision, the git
// index, an archive, an installed package, or one made in memory by a test. Nothing behind this interface is
// ever written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

// The bytes of one file. Cheap to copy; the view stays valid while any copy lives.
class Blob {
 public:
  Blob() = default;
  explicit Blob(std::string bytes)
      : owner_(std::make_shared<const std::string>(std::move(bytes))),
        view_(*std::static_pointer_cast<const std::string>(owner_)) {}
  Blob(std::shared_ptr<const void> owner, std::string_view view) : owner_(std::move(owner)), view_(view) {}
  std::string_view view() const { return view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

struct TreeEntry {
  std::string path;        // relative, '/'-separated, normalised, valid UTF-8
  uint64_t size = 0;       // bytes, as known without reading the file
  std::string content_id;  // git blob id where the source knows it without reading, else empty
};

// A file or folder that the source holds but that is not offered as an entry.
struct Skipped {
  std::string path;
  std::string reason;  // "symbolic link out of the tree", "path climbs out of the archive", …
};

// What was read, for the report: never a URL with credentials.
struct TreeIdentity {
  std::string spec;      // as the user named it
  std::string kind;      // directory | revision | index | wheel | sdist | zip | installed | memory
  std::string revision;  // commit id where there is one
  std::string digest;    // content hash of an archive file, where there is one
};

class Tree {
 public:
  virtual ~Tree() = default;
  virtual const TreeIdentity& identity() const = 0;
  // All regular files, sorted by path, without duplicates. Version-control, cache and virtual-environment
  // folders of a working tree (.git, __pycache__, .venv, node_modules, build output of setuptools …) are left
  // out.
  virtual const std::vector<TreeEntry>& entries() const = 0;
  virtual const std::vector<Skipped>& skipped() const = 0;
  // Thread-safe. An error if the file vanished, changed its size while being read, or is not readable.
  virtual Expected<Blob> read(const TreeEntry& entry) const = 0;

  // nullptr when there is no such file. Paths as in TreeEntry::path.
  const TreeEntry* find(std::string_view path) const;
};

}  // namespace assay
