#include "tree/tar_tree.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "base/hash.h"
#include "base/text.h"
#include "tree/archive_path.h"

namespace assay {
namespace {

constexpr uint64_t kMaxKeptFile = 64 << 20;   // of one file
constexpr uint64_t kMaxKept = 256 << 20;      // of all files together
constexpr uint64_t kBombSize = 256ULL << 20;  // an archive that unpacks to more than this …
constexpr uint64_t kBombRatio = 200;          // … and by more than this factor is not source code

struct ArchiveDeleter {
  void operator()(archive* a) const { ::archive_read_free(a); }
};
using Archive = std::unique_ptr<archive, ArchiveDeleter>;

// What libarchive reads from, hashing on the way.
struct Input {
  int fd = -1;
  std::array<char, 1 << 16> buffer;
  Hasher hasher;
  uint64_t bytes = 0;
  ~Input() {
    if (fd >= 0) ::close(fd);
  }
};

la_ssize_t read_input(archive* a, void* data, const void** buffer) {
  Input& input = *static_cast<Input*>(data);
  ssize_t got;
  do {
    got = ::read(input.fd, input.buffer.data(), input.buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    ::archive_set_error(a, errno, "%s", std::strerror(errno));
    return -1;
  }
  input.hasher.add({input.buffer.data(), static_cast<size_t>(got)});
  input.bytes += static_cast<uint64_t>(got);
  *buffer = input.buffer.data();
  return got;
}

bool is_kept(std::string_view path) {
  static constexpr std::string_view kEndings[] = {".py",  ".pyi", ".toml", ".cfg",  ".ini", ".txt",  ".json",
                                                  ".in",  ".md",  ".rst",  ".yaml", ".yml", ".c",    ".cc",
                                                  ".cpp", ".cu",  ".cuh",  ".h",    ".hpp", ".cmake"};
  static constexpr std::string_view kNames[] = {"PKG-INFO", "METADATA", "RECORD", "WHEEL"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](auto e) { return name.ends_with(e); }) ||
         std::any_of(std::begin(kNames), std::end(kNames), [&](auto n) { return name == n; });
}

class TarTree : public Tree {
 public:
  explicit TarTree(std::string spec) : identity_{std::move(spec), "sdist", "", ""} {}
  const TreeIdentity& identity() const override { return identity_; }
  const std::vector<TreeEntry>& entries() const override { return entries_; }
  const std::vector<Skipped>& skipped() const override { return skipped_; }
  Expected<Blob> read(const TreeEntry& entry) const override {
    const TreeEntry* listed = find(entry.path);
    if (!listed) return fail(entry.path + ": no such file in this archive");
    const auto& blob = blobs_[static_cast<size_t>(listed - entries_.data())];
    if (!blob) return fail(entry.path + ": not kept from the archive: no source text, or too large");
    return *blob;
  }

  Expected<void> load(const std::string& path);

 private:
  struct File {
    uint64_t size = 0;
    std::optional<Blob> blob;
  };
  Expected<void> add(archive* a, archive_entry* entry, uint64_t archive_size);
  tl::unexpected<Error> bad(const std::string& what) const {
    return fail(printable(identity_.spec) + ": " + what);
  }
  tl::unexpected<Error> unreadable(archive* a) const;

  TreeIdentity identity_;
  std::map<std::string, File> files_;  // only while loading
  uint64_t kept_ = 0;
  std::vector<TreeEntry> entries_;
  std::vector<std::optional<Blob>> blobs_;  // of the entry at the same index
  std::vector<Skipped> skipped_;
};

tl::unexpected<Error> TarTree::unreadable(archive* a) const {
  const char* text = ::archive_error_string(a);
  const std::string cause = printable(text ? text : "unknown cause");
  // libarchive's words for an early end differ by the compression.
  for (const char* sign : {"runcated", "premature", "end of file", "No progress", "(no error)"}) {
    if (cause.find(sign) != std::string::npos) return bad("truncated archive");
  }
  return bad("damaged, or not a tar archive: " + cause);
}

Expected<void> TarTree::add(archive* a, archive_entry* entry, uint64_t archive_size) {
  // The first is empty where the locale can't express a name that has come as UTF-8.
  const char* name = ::archive_entry_pathname_utf8(entry);
  if (!name) name = ::archive_entry_pathname(entry);
  std::string path = name ? name : "";
  if (path.starts_with("./")) path.erase(0, 2);
  auto skip = [&](std::string reason) -> Expected<void> {
    if (skipped_.size() >= kMaxArchiveEntries) return bad("more than 1,000,000 files");
    skipped_.push_back({printable(path), std::move(reason)});
    return {};
  };
  if (::archive_entry_filetype(entry) == AE_IFDIR) return {};
  if (std::string fault = archive_path_fault(path); !fault.empty()) return skip(std::move(fault));
  if (::archive_entry_hardlink(entry)) return skip("hard link in an archive");
  if (::archive_entry_filetype(entry) == AE_IFLNK) return skip("symbolic link in an archive");
  if (::archive_entry_filetype(entry) != AE_IFREG) return skip("not a regular file");
  if (::archive_entry_sparse_count(entry) > 0) return skip("sparse file in an archive");

  const uint64_t size = static_cast<uint64_t>(std::max<la_int64_t>(::archive_entry_size(entry), 0));
  const uint64_t unpacked = static_cast<uint64_t>(std::max<la_int64_t>(::archive_filter_bytes(a, 0), 0));
  if (size > kBombSize || unpacked + size > kBombSize) {
    if ((unpacked + size) / kBombRatio > archive_size || size > UINT64_MAX / 2) {
      return bad("would unpack from " + byte_size_text(archive_size) + " to more than " +
                 byte_size_text(unpacked + size) + ": refused as a decompression bomb");
    }
  }
  File file{size, std::nullopt};
  if (is_kept(path) && size <= kMaxKeptFile && kept_ + size <= kMaxKept) {
    std::string bytes(size, '\0');
    size_t have = 0;
    while (have < size) {
      const la_ssize_t got = ::archive_read_data(a, bytes.data() + have, size - have);
      if (got < 0) return unreadable(a);
      if (got == 0) return bad("truncated archive");
      have += static_cast<size_t>(got);
    }
    kept_ += size;
    file.blob = Blob(std::move(bytes));
  }
  if (files_.size() >= kMaxArchiveEntries) return bad("more than 1,000,000 files");
  if (files_.contains(path))
    skipped_.push_back({path, "listed more than once in the archive; the last one counts"});
  files_[path] = std::move(file);
  return {};
}

Expected<void> TarTree::load(const std::string& path) {
  Input input;
  input.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info {};
  if (input.fd < 0 || ::fstat(input.fd, &info) != 0) return bad(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return bad("not a regular file");

  Archive a(::archive_read_new());
  ::archive_read_support_filter_gzip(a.get());
  ::archive_read_support_filter_bzip2(a.get());
  ::archive_read_support_filter_xz(a.get());
  ::archive_read_support_format_tar(a.get());
  if (::archive_read_open(a.get(), &input, nullptr, read_input, nullptr) != ARCHIVE_OK)
    return unreadable(a.get());
  for (;;) {
    archive_entry* entry = nullptr;
    const int result = ::archive_read_next_header(a.get(), &entry);
    if (result == ARCHIVE_EOF) break;
    if (result == ARCHIVE_RETRY) continue;
    // A warning is about a name that the locale can't express, or an attribute that nobody here reads.
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return unreadable(a.get());
    if (auto added = add(a.get(), entry, static_cast<uint64_t>(info.st_size)); !added) return added;
  }
  if (files_.empty() && skipped_.empty()) return bad("holds no files");
  // What may follow the archive's end belongs to the file all the same.
  const void* rest = nullptr;
  while (read_input(a.get(), &input, &rest) > 0) {
  }
  identity_.digest = input.hasher.hex();

  for (auto& [name, file] : files_) {
    entries_.push_back({name, file.size, ""});
    blobs_.push_back(std::move(file.blob));
  }
  files_.clear();
  const std::string top = project_top_folder(entries_);
  for (TreeEntry& entry : entries_) entry.path.erase(0, top.size());
  std::stable_sort(skipped_.begin(), skipped_.end(),
                   [](const Skipped& x, const Skipped& y) { return x.path < y.path; });
  return {};
}

}  // namespace

Expected<std::unique_ptr<Tree>> open_tar(const std::string& path, const std::string& spec) {
  auto tree = std::make_unique<TarTree>(spec);
  if (auto loaded = tree->load(path); !loaded) return tl::unexpected<Error>(loaded.error());
  return tree;
}

}  // namespace assay
