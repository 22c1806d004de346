#include "git/git_tree.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/text.h"
#include "git/repository.h"
#include "tree/directory_tree.h"

namespace assay {
namespace {

constexpr int kMaxDepth = 128;  // as for a folder on disk
constexpr size_t kMaxEntries = 1'000'000;
constexpr size_t kMaxFolders = 200'000;

class GitTree : public Tree {
 public:
  GitTree(GitRepository repository, std::string spec, std::string kind)
      : identity_{std::move(spec), std::move(kind), "", ""}, repository_(std::move(repository)) {}

  const TreeIdentity& identity() const override { return identity_; }
  const std::vector<TreeEntry>& entries() const override { return entries_; }
  const std::vector<Skipped>& skipped() const override { return skipped_; }
  Expected<Blob> read(const TreeEntry& entry) const override;

  Expected<void> list_revision(const std::string& folder, const std::string& revision);
  Expected<void> list_index(const std::string& folder);

 private:
  // A symbolic link; the blob holds what it points to.
  struct Link {
    std::string path;
    git_oid id;
  };

  void walk(const git_tree* tree, const std::string& path, int depth);
  void add(std::string path, uint32_t mode, const git_oid& id);
  void skip(std::string_view path, std::string reason) {
    skipped_.push_back({printable(path), std::move(reason)});
  }
  Expected<void> finish();
  void follow_links();
  std::string target_of(const Link& link) const;

  // libgit2 allows one thread at a time per handle, so each reader borrows one of its own.
  struct Lease {
    const GitTree& tree;
    GitOdb odb;
    explicit Lease(const GitTree& t);
    ~Lease();
  };

  TreeIdentity identity_;
  GitRepository repository_;
  std::vector<TreeEntry> entries_;
  std::vector<Skipped> skipped_;
  std::vector<Link> links_;
  size_t folders_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<GitOdb> free_handles_;  // under mutex_
};

GitTree::Lease::Lease(const GitTree& t) : tree(t) {
  {
    std::lock_guard lock(tree.mutex_);
    if (!tree.free_handles_.empty()) {
      odb = std::move(tree.free_handles_.back());
      tree.free_handles_.pop_back();
      return;
    }
  }
  const std::string objects = std::string(git_repository_commondir(tree.repository_.get())) + "objects";
  git_odb* opened = nullptr;
  if (git_odb_open(&opened, objects.c_str()) == 0) odb.reset(opened);
}

GitTree::Lease::~Lease() {
  if (!odb) return;
  std::lock_guard lock(tree.mutex_);
  tree.free_handles_.push_back(std::move(odb));
}

Expected<Blob> GitTree::read(const TreeEntry& entry) const {
  git_oid id;
  if (git_oid_fromstr(&id, entry.content_id.c_str()) != 0)
    return fail(entry.path + ": no such file in this tree");
  const Lease lease(*this);
  git_odb_object* object = nullptr;
  if (!lease.odb || git_odb_read(&object, lease.odb.get(), &id) != 0) {
    return fail(entry.path + ": cannot be read from the git repository: " + git_message());
  }
  auto owner = std::shared_ptr<git_odb_object>(object, git_odb_object_free);
  const std::string_view bytes(static_cast<const char*>(git_odb_object_data(object)),
                               git_odb_object_size(object));
  return Blob(std::move(owner), bytes);
}

void GitTree::add(std::string path, uint32_t mode, const git_oid& id) {
  if (!valid_utf8(path)) {
    skip(path, "name is not valid UTF-8");
  } else if (mode == GIT_FILEMODE_COMMIT) {
    skip(path, "submodule");
  } else if (mode == GIT_FILEMODE_LINK) {
    links_.push_back({std::move(path), id});
  } else {
    entries_.push_back({std::move(path), 0, hex_of(id)});
  }
}

void GitTree::walk(const git_tree* tree, const std::string& path, int depth) {
  const size_t count = git_tree_entrycount(tree);
  for (size_t i = 0; i < count && entries_.size() <= kMaxEntries; ++i) {
    const git_tree_entry* entry = git_tree_entry_byindex(tree, i);
    const char* name = git_tree_entry_name(entry);
    std::string child = path.empty() ? std::string(name) : path + '/' + name;
    // The object database takes whatever a hand-made tree object says.
    if (std::string_view(name) == ".." || std::string_view(name) == "." ||
        child.find("//") != std::string::npos) {
      skip(child, "path is not normalised");
      continue;
    }
    if (git_tree_entry_filemode(entry) != GIT_FILEMODE_TREE) {
      add(std::move(child), git_tree_entry_filemode(entry), *git_tree_entry_id(entry));
      continue;
    }
    if (is_left_out(name)) continue;
    // Trees that hold one another many times over unfold without end.
    if (++folders_ > kMaxFolders) return;
    if (depth + 1 > kMaxDepth) {
      skip(child, "nested more than 128 folders deep");
      continue;
    }
    git_tree* folder = nullptr;
    if (git_tree_lookup(&folder, repository_.get(), git_tree_entry_id(entry)) != 0) {
      skip(child, "cannot be read from the git repository: " + git_message());
      continue;
    }
    const GitTreeObject owner(folder);
    walk(folder, child, depth + 1);
  }
}

Expected<void> GitTree::list_revision(const std::string& folder, const std::string& revision) {
  auto object = resolve_revision(repository_.get(), revision, identity_.spec);
  if (!object) return tl::unexpected<Error>(object.error());
  git_object* peeled = nullptr;
  if (git_object_peel(&peeled, object->get(), GIT_OBJECT_COMMIT) == 0) {
    const GitObject commit(peeled);
    identity_.revision = hex_of(*git_object_id(peeled));
  }
  if (git_object_peel(&peeled, object->get(), GIT_OBJECT_TREE) != 0) {
    return fail(printable(identity_.spec) + ": '" + printable(revision) + "' is not a commit");
  }
  GitTreeObject tree(reinterpret_cast<git_tree*>(peeled));
  if (!folder.empty()) {
    git_tree_entry* found = nullptr;
    const int result = git_tree_entry_bypath(&found, tree.get(), folder.c_str());
    const GitTreeEntry entry(found);
    git_tree* below = nullptr;
    if (result != 0 || git_tree_entry_type(found) != GIT_OBJECT_TREE ||
        git_tree_lookup(&below, repository_.get(), git_tree_entry_id(found)) != 0) {
      return fail(printable(identity_.spec) + ": this revision has no folder '" + printable(folder) + "'");
    }
    tree.reset(below);
  }
  walk(tree.get(), "", 0);
  return finish();
}

Expected<void> GitTree::list_index(const std::string& folder) {
  git_index* opened = nullptr;
  if (git_repository_index(&opened, repository_.get()) != 0) {
    return fail(printable(identity_.spec) + ": the git index cannot be read: " + git_message());
  }
  const GitIndex index(opened);
  const std::string prefix = folder.empty() ? "" : folder + '/';
  const size_t count = git_index_entrycount(index.get());
  for (size_t i = 0; i < count && entries_.size() <= kMaxEntries; ++i) {
    const git_index_entry* entry = git_index_get_byindex(index.get(), i);
    std::string path = entry->path;
    if (!path.starts_with(prefix)) continue;
    path.erase(0, prefix.size());
    std::vector<std::string_view> folders = split(path, '/');
    folders.pop_back();
    if (std::any_of(folders.begin(), folders.end(), is_left_out)) continue;
    if (git_index_entry_is_conflict(entry)) {
      // Up to three stages of one path stand together.
      if (skipped_.empty() || skipped_.back().path != printable(path))
        skip(path, "in conflict in the git index");
    } else if (entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) {
      skip(path, "not staged, only meant to be added");
    } else {
      add(std::move(path), entry->mode, entry->id);
    }
  }
  return finish();
}

// The path that a link names, relative to the root of this tree, "." for the root; empty when it lies
// outside.
std::string GitTree::target_of(const Link& link) const {
  const Lease lease(*this);
  git_odb_object* object = nullptr;
  if (!lease.odb || git_odb_read(&object, lease.odb.get(), &link.id) != 0) return {};
  const GitOdbObject owner(object);
  const std::string_view target(static_cast<const char*>(git_odb_object_data(object)),
                                git_odb_object_size(object));
  if (target.starts_with('/') || target.size() > 4096) return {};
  std::vector<std::string_view> parts = split(link.path, '/');
  parts.pop_back();
  for (std::string_view part : split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return {};
    } else {
      parts.pop_back();
    }
  }
  std::string path;
  for (std::string_view part : parts) {
    if (!path.empty()) path += '/';
    path += part;
  }
  return path.empty() ? "." : path;
}

// As for a folder on disk: a link to a file is an entry of its own; a link to a folder shows that folder's
// files, each folder once.
void GitTree::follow_links() {
  std::map<std::string, std::string> targets;
  for (const Link& link : links_) targets[link.path] = target_of(link);
  std::set<std::string> followed;
  std::vector<TreeEntry> shown;
  for (const auto& [link, first_target] : targets) {
    std::string target = first_target;
    for (int hops = 0; hops < 8 && targets.contains(target); ++hops) target = targets[target];
    if (target.empty()) {
      skip(link, "symbolic link out of the tree");
      continue;
    }
    if (target == "." || targets.contains(target) || link.starts_with(target + '/')) {
      skip(link, "symbolic link loop");
      continue;
    }
    if (const TreeEntry* file = find(target)) {
      shown.push_back({link, file->size, file->content_id});
      continue;
    }
    const std::string folder = target + '/';
    auto entry = std::lower_bound(entries_.begin(), entries_.end(), folder,
                                  [](const TreeEntry& e, const std::string& p) { return e.path < p; });
    if (entry == entries_.end() || !entry->path.starts_with(folder)) {
      skip(link, "symbolic link to nothing");
    } else if (!followed.insert(target).second) {
      skip(link, "symbolic link to a folder that another link shows");
    } else {
      for (; entry != entries_.end() && entry->path.starts_with(folder) && shown.size() <= kMaxEntries;
           ++entry) {
        shown.push_back({link + '/' + entry->path.substr(folder.size()), entry->size, entry->content_id});
      }
    }
  }
  entries_.insert(entries_.end(), std::make_move_iterator(shown.begin()),
                  std::make_move_iterator(shown.end()));
}

Expected<void> GitTree::finish() {
  auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(entries_.begin(), entries_.end(), by_path);
  // Sizes stand in the object headers.
  {
    const Lease lease(*this);
    for (TreeEntry& entry : entries_) {
      git_oid id;
      size_t size = 0;
      git_object_t type;
      git_oid_fromstr(&id, entry.content_id.c_str());
      if (lease.odb && git_odb_read_header(&size, &type, lease.odb.get(), &id) == 0) entry.size = size;
    }
  }
  follow_links();
  std::sort(entries_.begin(), entries_.end(), by_path);
  // Only a hand-made tree object holds a name twice.
  auto same_path = [](const auto& a, const auto& b) { return a.path == b.path; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same_path), entries_.end());
  if (entries_.size() > kMaxEntries || folders_ > kMaxFolders)
    return fail(printable(identity_.spec) + ": more than 1,000,000 files or 200,000 folders");
  std::sort(skipped_.begin(), skipped_.end(), by_path);
  return {};
}

// Where `path` stands below the root of its repository; empty for the root, a bare repository, the .git
// folder.
std::string folder_in(git_repository* repository, const std::string& path) {
  namespace fs = std::filesystem;
  const char* workdir = git_repository_workdir(repository);
  std::error_code error;
  const fs::path full = fs::canonical(path, error);
  if (!workdir || error) return {};
  auto below = [&](const char* root) -> std::string {
    const fs::path real = fs::canonical(root, error);
    return error ? ".." : full.lexically_relative(real).string();
  };
  auto outside = [](const std::string& relative) { return relative == ".." || relative.starts_with("../"); };
  // A repository without its config file looks as if it had a working tree around it.
  if (!outside(below(git_repository_path(repository)))) return {};
  const std::string relative = below(workdir);
  return relative == "." || outside(relative) ? std::string() : relative;
}

}  // namespace

Expected<std::unique_ptr<Tree>> open_revision(const std::string& path, const std::string& revision,
                                              const std::string& spec) {
  auto repository = open_repository(path, spec);
  if (!repository) return tl::unexpected<Error>(repository.error());
  const std::string folder = folder_in(repository->get(), path);
  auto tree = std::make_unique<GitTree>(std::move(*repository), spec, "revision");
  if (auto listed = tree->list_revision(folder, revision); !listed)
    return tl::unexpected<Error>(listed.error());
  return tree;
}

Expected<std::unique_ptr<Tree>> open_index(const std::string& path, const std::string& spec) {
  auto repository = open_repository(path, spec);
  if (!repository) return tl::unexpected<Error>(repository.error());
  if (git_repository_is_bare(repository->get())) {
    return fail(printable(spec) + ": a bare git repository has no index");
  }
  const std::string folder = folder_in(repository->get(), path);
  auto tree = std::make_unique<GitTree>(std::move(*repository), spec, "index");
  if (auto listed = tree->list_index(folder); !listed) return tl::unexpected<Error>(listed.error());
  return tree;
}

}  // namespace assay
