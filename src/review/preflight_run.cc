#include "review/preflight_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "git/source.h"
#include "git/working_tree.h"
#include "python/import_scan.h"
#include "review/correspondence.h"
#include "review/mapping_store.h"
#include "review/packages.h"
#include "runtime/preflight.h"
#include "tree/installed_tree.h"
#include "vllm/catalog.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A tree that the user named, and what it is called.
struct Local {
  std::shared_ptr<Tree> tree;
  std::string role;
  Distribution distribution;
  std::vector<std::string> packages;
};

class Run {
 public:
  Run(const RunOptions& options, const PreflightOptions& how)
      : options_(options), how_(how), python_(options.python.empty() ? "python3" : options.python),
        threads_(options.jobs ? static_cast<int>(options.jobs) : default_threads()) {}

  Expected<PreflightRecord> run() {
    auto catalog = load_catalog(options_.catalogs);
    if (!catalog) return tl::make_unexpected(catalog.error());
    catalog_ = std::move(*catalog);
    for (const auto& [role, spec] : {std::pair("target", options_.target), {"plugin", options_.plugin}}) {
      if (spec.empty() || spec.starts_with("installed:")) continue;  // what is installed is recorded anyway
      if (auto opened = open(role, spec); !opened) return tl::make_unexpected(opened.error());
    }
    choose_subjects();
    if (options_.progress) options_.progress("asking " + python_);
    auto record = collect_preflight(question_);
    if (!record) return record;
    record_ = std::move(*record);
    for (const Local& local : locals_) describe(local);
    fingerprint();
    if (auto done = confirm(); !done) return tl::make_unexpected(done.error());
    return std::move(record_);
  }

 private:
  Expected<void> open(const std::string& role, const std::string& spec) {
    SourceOptions source;
    source.python = python_;
    source.cache_dir = options_.cache_dir;
    source.package = role == "target" ? "vllm" : "";
    auto tree = open_source(spec, source);
    if (!tree) return tl::make_unexpected(tree.error());
    Local local{*tree, role, distribution_of(**tree), {}};
    local.packages = role == "target" ? std::vector<std::string>{"vllm"} : packages_of(**tree, entry_points(**tree));
    if (local.packages.empty()) return fail(printable(without_credentials(spec)) + ": holds no Python package");
    locals_.push_back(std::move(local));
    return {};
  }

  void choose_subjects() {
    question_.worker.python = python_;
    question_.worker.call_limit = how_.limit;
    question_.import = how_.import;
    question_.import_limit = how_.limit;
    for (const EntryPointGroup& group : catalog_.entry_point_groups) question_.plugin_groups.push_back(group.name);
    auto add = [&](const std::string& module, const std::string& role, const std::string& distribution = "", bool examine = false,
                   bool import = true) {
      for (const Subject& subject : question_.subjects)
        if (subject.module == module) return;
      question_.subjects.push_back({module, role, distribution, examine, import});
    };
    add("torch", "torch");
    add("triton", "torch");
    add("vllm", "target", "");
    for (const Local& local : locals_) {
      if (local.role != "plugin") continue;
      for (const std::string& package : local.packages) add(package, "plugin", local.distribution.name);
    }
    for (const ComponentSpec& component : options_.components) add(component.name, "component", "", true);
    for (const Component& component : catalog_.components)
      for (const std::string& module : component.imports) add(module, "component");
    for (const std::string& module : imported_packages()) add(module, "dependency", "", false, false);
  }

  // What else the plugin imports that is neither Python's nor its own.
  std::set<std::string> imported_packages() const {
    std::set<std::string> out;
    for (const Local& local : locals_) {
      if (local.role != "plugin") continue;
      for (const TreeEntry& entry : local.tree->entries()) {
        if (!entry.path.ends_with(".py") || importable_path(entry.path, local.packages).empty()) continue;
        auto blob = local.tree->read(entry);
        if (!blob) continue;
        for (const ScannedImport& import : scan_imports(blob->view())) {
          std::string top(top_of(import.module));
          if (!top.empty() && import.place != ImportPlace::kTypesOnly) out.insert(top);
        }
      }
      for (const std::string& package : local.packages) out.erase(package);
    }
    std::erase_if(out, [&](const std::string& name) { return catalog_.standard_library.count(name) > 0 || name == "__future__"; });
    return out;
  }

  bool generated(const std::string& path) const {
    if (path.ends_with(".so") || path.ends_with(".pyd")) return true;
    std::string dotted = path.substr(0, path.rfind('.'));
    std::replace(dotted.begin(), dotted.end(), '/', '.');
    return std::any_of(catalog_.generated_modules.begin(), catalog_.generated_modules.end(), [&](const auto& row) {
             return dotted == row.first || dotted.starts_with(row.first + '.');
           }) || path.ends_with("/_version.py");
  }

  void describe(const Local& local) {
    LocalTree row;
    const TreeIdentity& id = local.tree->identity();
    row.role = local.role;
    row.spec = without_credentials(id.spec);
    row.kind = id.kind;
    row.name = local.distribution.name;
    row.version = local.distribution.version;
    row.commit = id.revision;
    row.manifest = manifest_of(*local.tree, threads_);
    if (id.kind == "directory") {
      if (auto state = working_tree_state(id.spec)) {
        row.commit = state->commit;
        const bool clean = state->staged + state->changed + state->untracked + state->conflicts == 0;
        row.state = clean ? "clean"
                          : fmt::format("{} staged, {} changed, {} untracked, {} in conflict", state->staged, state->changed, state->untracked,
                                        state->conflicts);
      } else {
        row.state = "no git repository";
      }
    }
    record_.local.push_back(row);
    compare(local);
  }

  void compare(const Local& local) {
    const std::string name = local.role == "target" || local.distribution.name.empty() ? local.packages.front() : local.distribution.name;
    auto installed = open_installed(python_, name, "installed:" + python_);
    Correspondence out;
    if (installed) {
      out = correspondence_of(*local.tree, **installed, local.packages, [&](const std::string& path) { return generated(path); }, threads_);
      for (const Skipped& skipped : (*installed)->skipped()) record_.gaps.emplace_back(skipped.path, skipped.reason);
    } else {
      out.verdict = "not compared: " + without_credentials(installed.error().message);
    }
    out.role = local.role;
    out.local = without_credentials(local.tree->identity().spec);
    for (const OriginRow& origin : record_.origins)
      if (origin.module == local.packages.front()) out.installed = origin.found;
    record_.correspondence.push_back(std::move(out));
  }

  // What the mapping rests on: the interpreter, the target as installed, and which local tree stands for which distribution.
  // Edits of the plugin's working tree leave it as it is.
  void fingerprint() {
    Hasher mapping;
    auto add = [&](std::string_view text) { mapping.add(std::string(text) + '\n'); };
    for (const auto& [key, value] : record_.interpreter) {
      if (key == "executable" || key == "real_executable" || key == "version" || key == "prefix" || key == "base_prefix") add(key + '=' + value);
    }
    for (const OriginRow& origin : record_.origins) {
      if (origin.role != "target" && origin.role != "plugin") continue;
      add(origin.module + ' ' + origin.found);
      for (const DistributionRow& d : origin.distributions)
        add(d.name + ' ' + d.version + ' ' + d.metadata + ' ' + d.provenance + (d.editable ? " editable" : ""));
    }
    for (const LocalTree& local : record_.local) {
      add(local.role + ' ' + local.spec + ' ' + local.kind);
      if (local.role == "target") add(local.manifest);
    }
    record_.mapping = mapping.hex();
    record_.fingerprint = content_hash(identifying_text(record_));
  }

  Expected<void> confirm() {
    MappingStore store(how_.state_dir);
    std::string subject = python_;
    for (const LocalTree& local : record_.local) {
      std::error_code error;
      subject += '\n' + local.role + ' ' + fs::absolute(local.spec, error).string();
    }
    if (how_.confirm || how_.assume_confirmed) {
      auto done = store.confirm(subject, record_.mapping, how_.confirm ? "confirmed by the user" : "assumed");
      if (!done) return done;
    }
    record_.confirmed = store.state(subject, record_.mapping);
    return {};
  }

  const RunOptions& options_;
  const PreflightOptions& how_;
  const std::string python_;
  const int threads_;
  Catalog catalog_;
  std::vector<Local> locals_;
  PreflightQuestion question_;
  PreflightRecord record_;
};

}  // namespace

Expected<PreflightRecord> run_preflight(const RunOptions& options, const PreflightOptions& how) { return Run(options, how).run(); }

}  // namespace assay
