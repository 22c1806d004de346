#include "tree/directory_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>

#include "base/text.h"

namespace assay {
namespace {

constexpr int kMaxDepth = 128;           // folders within folders; each level holds a file descriptor
constexpr size_t kMaxPath = 3000;        // leaves room for the root below PATH_MAX
constexpr size_t kMaxEntries = 1000000;  // a tree of more files is not a project

std::string reason_of(int error) {
  if (error == ENOENT) return "no such file or directory";
  if (error == EACCES || error == EPERM) return "cannot be read: permission denied";
  if (error == ENOTDIR) return "not a directory";
  if (error == ELOOP) return "symbolic link loop";
  return std::string("cannot be read: ") + std::strerror(error);
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

struct FreeDeleter {
  void operator()(char* p) const { std::free(p); }
};
struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

Expected<Blob> read_at(int folder, const std::string& path, const TreeEntry& entry) {
  // O_NONBLOCK: should a pipe have taken the file's place, opening it must not wait.
  Fd fd(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    if (errno == ENOENT) return fail(entry.path + ": vanished after it was listed");
    return fail(entry.path + ": " + reason_of(errno));
  }
  struct stat before {
  }, after{};
  if (::fstat(fd.get(), &before) != 0) return fail(entry.path + ": " + reason_of(errno));
  if (!S_ISREG(before.st_mode)) return fail(entry.path + ": not a regular file");
  const auto size = static_cast<uint64_t>(before.st_size);
  if (size != entry.size) {
    return fail(entry.path + ": changed while being read (" + std::to_string(entry.size) +
                " bytes when listed, " + std::to_string(size) + " now)");
  }
  // One byte more than expected: a file that grows meanwhile gives it away.
  std::shared_ptr<char[]> bytes = std::make_shared_for_overwrite<char[]>(size + 1);
  size_t have = 0;
  while (have < size + 1) {
    const ssize_t got = ::read(fd.get(), bytes.get() + have, size + 1 - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(entry.path + ": " + reason_of(errno));
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  const bool stable = ::fstat(fd.get(), &after) == 0 && after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
                      after.st_mtim.tv_nsec == before.st_mtim.tv_nsec;
  if (have != size || !stable) return fail(entry.path + ": changed while being read");
  std::string_view view(bytes.get(), size);
  return Blob(std::move(bytes), view);
}

class DirectoryTree : public Tree {
 public:
  DirectoryTree(int root, std::string real_root, std::string spec)
      : identity_{std::move(spec), "directory", "", ""}, root_(root), real_root_(std::move(real_root)) {}

  const TreeIdentity& identity() const override { return identity_; }
  const std::vector<TreeEntry>& entries() const override { return entries_; }
  const std::vector<Skipped>& skipped() const override { return skipped_; }
  Expected<Blob> read(const TreeEntry& entry) const override {
    return read_at(root_.get(), entry.path, entry);
  }

  Expected<void> list();

 private:
  // A folder's own files and links go to the lists; its folders are walked. `fd` becomes ours.
  void walk(int fd, const std::string& path, int depth);
  void follow(const std::string& link);
  void skip(std::string_view path, std::string reason) {
    skipped_.push_back({printable(path), std::move(reason)});
  }

  TreeIdentity identity_;
  Fd root_;
  std::string real_root_;
  std::vector<TreeEntry> entries_;
  std::vector<Skipped> skipped_;
  std::deque<std::string> links_;   // symbolic links not yet followed
  std::set<std::string> followed_;  // real paths of folders shown through a link
};

void DirectoryTree::walk(int fd, const std::string& path, int depth) {
  std::unique_ptr<DIR, CloseDir> dir(::fdopendir(fd));
  if (!dir) {
    skip(path, reason_of(errno));
    ::close(fd);
    return;
  }
  const size_t first_entry = entries_.size();
  const size_t first_link = links_.size();
  std::vector<std::string> folders;
  errno = 0;
  while (const dirent* item = ::readdir(dir.get())) {
    const std::string_view name = item->d_name;
    if (name == "." || name == "..") continue;
    std::string child = path.empty() ? std::string(name) : path + '/' + std::string(name);
    unsigned char type = item->d_type;
    struct stat info {};
    if (type == DT_REG || type == DT_UNKNOWN) {
      if (::fstatat(fd, item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        skip(child, reason_of(errno));
        continue;
      }
      type = IFTODT(info.st_mode);
    }
    if (name == ".git") continue;  // a file in a worktree
    if (type == DT_DIR && is_left_out(name)) continue;
    if (type == DT_DIR && path.empty() && name == "build" &&
        ::faccessat(fd, "build/__init__.py", F_OK, 0) != 0) {
      // Copies of the sources that setuptools makes; deeper down, or as a package, "build" is an honest name.
      skip(child, "output of a build");
      continue;
    }
    if (!valid_utf8(name)) {
      skip(child, "name is not valid UTF-8");
    } else if (child.size() > kMaxPath) {
      skip(child.substr(0, 100) + "…", "path is too long");
    } else if (type == DT_DIR) {
      folders.emplace_back(std::move(child));
    } else if (type == DT_LNK) {
      links_.emplace_back(std::move(child));
    } else if (type != DT_REG) {
      skip(child, "not a regular file");
    } else {
      entries_.push_back({std::move(child), static_cast<uint64_t>(info.st_size), ""});
    }
    errno = 0;
  }
  if (errno != 0) skip(path, reason_of(errno));
  // A virtual environment by any name. What was collected of it is dropped again.
  if (!path.empty()) {
    for (size_t i = first_entry; i < entries_.size(); ++i) {
      if (entries_[i].path.ends_with("/pyvenv.cfg")) {
        entries_.resize(first_entry);
        links_.resize(first_link);
        return;
      }
    }
  }
  for (const std::string& folder : folders) {
    if (depth + 1 > kMaxDepth) {
      skip(folder, "nested more than 128 folders deep");
      continue;
    }
    if (entries_.size() > kMaxEntries) return;
    const char* name = folder.c_str() + (path.empty() ? 0 : path.size() + 1);
    const int child = ::openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child < 0) {
      skip(folder, reason_of(errno));
    } else {
      walk(child, folder, depth + 1);
    }
  }
}

// A link to a file inside the tree is an entry of its own. A link to a folder inside the tree shows that
// folder's files under the link's path; each folder once, so that links among folders cannot multiply.
void DirectoryTree::follow(const std::string& link) {
  const std::string full = real_root_ + '/' + link;
  std::unique_ptr<char, FreeDeleter> resolved(::realpath(full.c_str(), nullptr));
  if (!resolved) {
    skip(link, errno == ENOENT ? "symbolic link to nothing" : reason_of(errno));
    return;
  }
  const std::string target = resolved.get();
  const std::string root = real_root_ == "/" ? "/" : real_root_ + '/';
  if (target != real_root_ && !target.starts_with(root)) {
    skip(link, "symbolic link out of the tree");
    return;
  }
  Fd fd(::open(target.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_PATH));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) {
    skip(link, reason_of(errno));
    return;
  }
  if (S_ISREG(info.st_mode)) {
    entries_.push_back({link, static_cast<uint64_t>(info.st_size), ""});
    return;
  }
  if (!S_ISDIR(info.st_mode)) {
    skip(link, "not a regular file");
    return;
  }
  const size_t slash = full.rfind('/');
  std::unique_ptr<char, FreeDeleter> parent(::realpath(full.substr(0, slash).c_str(), nullptr));
  if (target == real_root_ || !parent || (std::string(parent.get()) + '/').starts_with(target + '/')) {
    skip(link, "symbolic link loop");
    return;
  }
  for (std::string_view part : split(std::string_view(target).substr(root.size()), '/')) {
    if (is_left_out(part)) return;
  }
  if (!followed_.insert(target).second) {
    skip(link, "symbolic link to a folder that another link shows");
    return;
  }
  const int folder = ::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    skip(link, reason_of(errno));
    return;
  }
  walk(folder, link, static_cast<int>(std::count(link.begin(), link.end(), '/')) + 1);
}

Expected<void> DirectoryTree::list() {
  const int fd = ::openat(root_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail(identity_.spec + ": " + reason_of(errno));
  walk(fd, "", 0);
  // In the order of their names, not of the disk: which of two links shows a folder must not depend on luck.
  std::sort(links_.begin(), links_.end());
  while (!links_.empty()) {
    const std::string link = std::move(links_.front());
    links_.pop_front();
    follow(link);
  }
  if (entries_.size() > kMaxEntries) return fail(identity_.spec + ": more than 1,000,000 files");
  std::sort(entries_.begin(), entries_.end(),
            [](const TreeEntry& a, const TreeEntry& b) { return a.path < b.path; });
  std::sort(skipped_.begin(), skipped_.end(),
            [](const Skipped& a, const Skipped& b) { return a.path < b.path; });
  return {};
}

}  // namespace

bool is_left_out(std::string_view folder_name) {
  static constexpr std::string_view kNames[] = {
      ".git", ".hg",  ".svn",  ".venv",       "venv",   "__pycache__",   "node_modules", ".ipynb_checkpoints",
      ".tox", ".nox", ".eggs", ".mypy_cache", ".cache", ".pytest_cache", ".ruff_cache",  ".hypothesis"};
  return std::find(std::begin(kNames), std::end(kNames), folder_name) != std::end(kNames);
}

Expected<Blob> read_file(const std::string& path, const TreeEntry& entry) {
  return read_at(AT_FDCWD, path, entry);
}

Expected<std::unique_ptr<Tree>> open_directory(const std::string& path, const std::string& spec) {
  const std::string& named = spec.empty() ? path : spec;
  std::unique_ptr<char, FreeDeleter> real(::realpath(path.c_str(), nullptr));
  if (!real) return fail(printable(named) + ": " + reason_of(errno));
  const int fd = ::open(real.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail(printable(named) + ": " + reason_of(errno));
  auto tree = std::make_unique<DirectoryTree>(fd, real.get(), named);
  if (auto listed = tree->list(); !listed) return tl::unexpected<Error>(listed.error());
  return tree;
}

}  // namespace assay
