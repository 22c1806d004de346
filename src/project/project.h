// The modules of all trees of a run, by dotted name, loaded and parsed on demand. Thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "project/module.h"

namespace assay {

struct ProjectOptions {
  uint64_t max_file_bytes = 4u << 20;  // larger sources are skipped and listed (generated code)
  uint32_t max_file_lines = 200'000;
  // Dotted names (exact, or ending in ".*") of modules that builds generate, with the reason.
  std::vector<std::pair<std::string, std::string>> generated_modules;
};

class Project {
 public:
  explicit Project(ProjectOptions options = {});

  // The order is the order of precedence: the first tree that holds a module wins.
  const SourceTree& add_tree(SourceTree tree);
  const std::vector<const SourceTree*>& trees() const { return trees_; }
  const SourceTree* tree(std::string_view role) const;

  // nullptr when no tree has it. `load` parses it (syntax() and scopes() are empty before).
  const Module* find(std::string_view dotted) const;
  const Module& load(const Module& module) const;
  // The bytes of a source module, read once and kept; empty for what is skipped or no source.
  std::string_view text(const Module& module) const;
  // The same, or what a skipped module holds, however large: read anew each time.
  Blob bytes(const Module& module) const;
  const Module* find_loaded(std::string_view dotted) const;

  // True if the top-level package of this name belongs to one of the trees: a module below it that cannot be found is
  // missing. False: it is external, nothing is known of it.
  bool owns(std::string_view dotted) const;
  // Who imports `dotted` gets the module `to` instead, from now on; empty: something that is not known. Call it before
  // threads look things up, and make a new Semantics afterwards.
  void redirect(std::string_view dotted, std::string_view to);
  // What stands in for a module, beside it where the module exists as well; nullptr: nothing does.
  const Module* stand_in(const Module& module) const;
  // The module is what some redirect leads to.
  bool stands_in_for_another(const Module& module) const;

  // The reason if a build generates this module (or one of its parents).
  const std::string* generated(std::string_view dotted) const;

  // All modules of a tree in order of their file's path; loads none.
  const std::vector<const Module*>& modules_of(const SourceTree& tree) const;
  // The module that a file of the tree is, or nullptr.
  const Module* module_of_file(const SourceTree& tree, std::string_view path) const;
  // Names of the modules directly below a package.
  std::vector<std::string_view> submodules(std::string_view package) const;

  // Parses these modules and, `depth` times, the modules they import from our trees, on `threads` threads.
  void preload(const std::vector<const Module*>& modules, int depth, int threads) const;

  uint64_t files_parsed() const { return files_parsed_; }
  uint64_t bytes_parsed() const { return bytes_parsed_; }
  // Modules that could not be read, in the order of their files.
  std::vector<const Module*> skipped() const;

  // Text that lives as long as the project.
  std::string_view intern(std::string_view text) const;

 private:
  void index_tree(const SourceTree& tree);
  const Module* made_up(std::string_view dotted) const;
  const Module* redirected(std::string_view dotted) const;
  void add_module(const SourceTree& tree, const TreeEntry& entry, std::string dotted, ModuleKind kind, bool package);
  void read(Module& module) const;
  void parse(Module& module) const;

  ProjectOptions options_;
  std::deque<SourceTree> storage_;
  std::vector<const SourceTree*> trees_;
  mutable std::deque<Module> modules_;
  std::unordered_map<std::string_view, Module*> by_name_;
  std::map<std::pair<const SourceTree*, std::string_view>, Module*> by_file_;
  std::map<const SourceTree*, std::vector<const Module*>> by_tree_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> children_;
  std::map<std::string, std::string, std::less<>> redirects_;
  mutable std::atomic<uint64_t> files_parsed_ = 0, bytes_parsed_ = 0;
  mutable std::mutex intern_mutex_;
  mutable std::deque<std::string> interned_;
  mutable std::unordered_map<std::string_view, std::string_view> intern_index_;
  mutable std::shared_mutex generated_mutex_;
  mutable std::unordered_map<std::string, Module*> generated_cache_;
};

}  // namespace assay
