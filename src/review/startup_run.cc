#include "review/startup_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/parallel.h"
#include "base/text.h"
#include "git/source.h"
#include "review/correspondence.h"
#include "review/lookups.h"
#include "review/packages.h"
#include "review/snapshot.h"
#include "runtime/startup.h"
#include "tree/installed_tree.h"
#include "vllm/catalog.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Run {
 public:
  Run(const RunOptions& options, const StartupOptions& how)
      : options_(options), how_(how), python_(options.python.empty() ? "python3" : options.python),
        threads_(options.jobs ? static_cast<int>(options.jobs) : default_threads()) {}

  Expected<StartupRecord> run() {
    for (auto step : {&Run::open, &Run::take_inventory, &Run::choose_files}) {
      if (auto done = (this->*step)(); !done) return tl::make_unexpected(done.error());
    }
    question_.worker.python = python_;
    question_.packages = packages_;
    question_.limit = how_.limit;
    question_.quick = how_.quick;
    if (options_.progress) options_.progress("starting vLLM with the plugin");
    auto record = observe_startup(question_);
    if (!record) return record;
    record->python = python_;
    record->plugin = without_credentials(tree_->identity().spec);
    record->plugin_kind = snapshot_.files ? tree_->identity().kind + ", exported" : "installed, with the content of the " + tree_->identity().kind;
    // Where the snapshot lay shows in the files of its modules.
    if (snapshot_.files) {
      const std::string overlay = overlay_of(record->modules);
      prove(*snapshot_.files, overlay, record->modules);
      name_snapshot(overlay, *record);
    } else {
      compare_loaded(*tree_, packages_, record->modules);
    }
    for (const std::string& file : snapshot_.generated)
      record->gaps.emplace_back(file, "the source lacks it: taken from the installed package, as a build would make it");
    record->unstaged = unstaged_;
    declare(*record);
    return record;
  }

 private:
  Expected<void> open() {
    SourceOptions source;
    source.python = python_;
    source.cache_dir = options_.cache_dir;
    auto tree = open_source(options_.plugin, source);
    if (!tree) return tl::make_unexpected(tree.error());
    tree_ = *tree;
    entries_ = entry_points(*tree_);
    packages_ = packages_of(*tree_, entries_);
    distribution_ = distribution_of(*tree_);
    if (packages_.empty()) return fail(printable(without_credentials(options_.plugin)) + ": holds no Python package");
    auto catalog = load_catalog(options_.catalogs);
    if (!catalog) return tl::make_unexpected(catalog.error());
    for (const EntryPointGroup& group : catalog->entry_point_groups) question_.groups.push_back(group.name);
    if (tree_->identity().kind != "index") return {};
    const std::string folder = options_.plugin.substr(0, options_.plugin.rfind('@'));
    auto working = open_source(folder, source);
    if (!working) return tl::make_unexpected(working.error());
    unstaged_ = unstaged_files(*tree_, **working, packages_);
    return {};
  }

  Expected<void> take_inventory() {
    RunOptions inventory = options_;
    if (inventory.target.empty()) inventory.target = "installed:" + python_;
    auto report = run_inventory(inventory);
    if (!report) return tl::make_unexpected(report.error());
    inventory_ = std::move(report->inventory);
    auto table = lookups();
    if (!table) return tl::make_unexpected(table.error());
    question_.lookups = lookup_questions(inventory_, *table);
    return {};
  }

  // What is installed runs as it is when it is the very source.
  Expected<void> choose_files() {
    auto installed = open_installed(python_, distribution_.name.empty() ? packages_.front() : distribution_.name, "installed:" + python_);
    std::string installed_at;
    if (installed) {
      auto nothing_generated = [](const std::string& path) { return path.ends_with(".so") || path.ends_with("/_version.py"); };
      const Correspondence same = correspondence_of(*tree_, **installed, packages_, nothing_generated, threads_);
      if (same.changed.empty() && same.local_only.empty() && same.installed_only.empty() && same.identical > 0) return {};
      auto record = collect_place();
      if (!record) return tl::make_unexpected(record.error());
      installed_at = *record;
    }
    auto snapshot = export_snapshot(*tree_, packages_, entries_, distribution_, installed ? installed->get() : nullptr, installed_at);
    if (!snapshot) return tl::make_unexpected(snapshot.error());
    snapshot_ = std::move(*snapshot);
    question_.worker.overlay = snapshot_.files;
    return {};
  }

  // The folder above the installed package.
  Expected<std::string> collect_place() {
    WorkerOptions options;
    options.python = python_;
    auto worker = Worker::start(options);
    if (!worker) return tl::make_unexpected(worker.error());
    auto found = (*worker)->call("environment.find", {{"module", packages_.front()}});
    if (!found) return tl::make_unexpected(found.error());
    const auto places = found->value.value("places", std::vector<std::string>{});
    return places.empty() ? std::string() : fs::path(places.front()).parent_path().string();
  }

  std::string overlay_of(const std::vector<LoadedModule>& modules) const {
    for (const LoadedModule& module : modules) {
      if (size_t at = module.file.find("/overlay/"); at != std::string::npos) return module.file.substr(0, at + 8);
    }
    return "<no module of the snapshot was loaded>";
  }

  // Its folder is gone by the time that somebody reads the record.
  static void name_snapshot(const std::string& overlay, StartupRecord& record) {
    auto name = [&](std::string& text) {
      for (size_t at; (at = text.find(overlay)) != std::string::npos;) text.replace(at, overlay.size(), "<snapshot>");
    };
    for (Swallowed& s : record.swallowed) {
      for (std::string* text : {&s.message, &s.raised, &s.caught}) name(*text);
      for (std::string& frame : s.frames) name(frame);
      for (std::string& cause : s.causes) name(cause);
    }
    for (StartRow& row : record.rows) name(row.place);
    for (TableChange& change : record.changes) name(change.place);
  }

  // Which changes the inventory has foreseen: a patch of that path, a registration of what now stands there, or one of that key.
  void declare(StartupRecord& record) const {
    auto patches = [](const TableChange& change, const InventoryRow& row) {
      return (row.kind == "patch" || row.kind == "table-mutation") && (change.path == row.key || change.path.starts_with(row.key + '['));
    };
    auto registers = [](const TableChange& change, const InventoryRow& row) {
      std::string effective = row.effective;
      std::replace(effective.begin(), effective.end(), ':', '.');
      return effective.find('.') != std::string::npos && change.after.find(effective) != std::string::npos;
    };
    auto keyed = [](const TableChange& change, const InventoryRow& row) {
      return row.kind != "patch" && change.path.ends_with('[' + row.key + ']');
    };
    for (TableChange& change : record.changes) {
      for (const auto& foreseen : {std::function<bool(const TableChange&, const InventoryRow&)>(patches), {registers}, {keyed}}) {
        auto row = std::find_if(inventory_.begin(), inventory_.end(), [&](const InventoryRow& r) { return foreseen(change, r); });
        if (row == inventory_.end()) continue;
        change.declared = row->kind + ' ' + row->key;
        break;
      }
    }
  }

  const RunOptions& options_;
  const StartupOptions& how_;
  const std::string python_;
  const int threads_;
  std::shared_ptr<Tree> tree_;
  std::vector<EntryPoint> entries_;
  std::vector<std::string> packages_, unstaged_;
  Distribution distribution_;
  std::vector<InventoryRow> inventory_;
  Snapshot snapshot_;
  StartupQuestion question_;
};

}  // namespace

Expected<StartupRecord> run_startup(const RunOptions& options, const StartupOptions& how) { return Run(options, how).run(); }

}  // namespace assay
