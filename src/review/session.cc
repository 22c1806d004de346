#include "review/session.h"

#include <algorithm>
#include <set>

#include "base/parallel.h"
#include "base/text.h"
#include "git/source.h"
#include "review/glob.h"
#include "review/packages.h"
#include "rules/context.h"
#include "vllm/built_modules.h"

namespace assay {
namespace {

bool starts_with(std::string_view s, std::string_view prefix) { return s.substr(0, prefix.size()) == prefix; }

InputInfo info_of(const std::string& role, const Tree& tree, const Distribution& distribution) {
  const TreeIdentity& id = tree.identity();
  return {role, distribution.name, id.spec, id.kind, distribution.version, id.revision, id.digest};
}

}  // namespace

Expected<std::unique_ptr<Session>> Session::open(const RunOptions& options, const std::string& target) {
  std::unique_ptr<Session> s(new Session());
  s->threads_ = options.jobs ? static_cast<int>(options.jobs) : default_threads();
  auto catalog = load_catalog(options.catalogs);
  if (!catalog) return tl::make_unexpected(catalog.error());
  s->catalog_ = std::move(*catalog);
  {
    ScopedTimer timer(s->timers_, "open inputs");
    if (auto opened = s->open_trees(options, target); !opened) return tl::make_unexpected(opened.error());
  }
  if (auto set = s->set_platform(options); !set) return tl::make_unexpected(set.error());
  if (auto chosen = s->choose_modules(options); !chosen) return tl::make_unexpected(chosen.error());
  return s;
}

void Session::prepare(const RunOptions& options) {
  if (options.progress) options.progress("parsing");
  {
    ScopedTimer timer(timers_, "parse");
    project_->preload(modules_, 1, threads_);
  }
  ScopedTimer timer(timers_, "reach");
  auto definitions = std::make_unique<DefinitionIndex>(*project_, *target_, threads_);
  // Reachability is work for one processor; meanwhile the others read all texts, which the rules will ask for.
  parallel_for(2, threads_, [&](size_t part) { part == 0 ? find_what_runs(options) : definitions->members().ensure(); });
  definitions_ = std::move(definitions);
  semantics_->use(*definitions_);
  liveness_ = std::make_unique<Liveness>(*project_, *plugin_, reach_, liveness_questions(catalog_, *project_, *target_));
}

void Session::find_what_runs(const RunOptions& options) {
  semantics_ = new_semantics();
  find_platform_class();
  apply_settled(catalog_, *project_, environment_);
  semantics_ = new_semantics();
  find_reach(options);
  find_patches();
}

Expected<void> Session::open_trees(const RunOptions& options, const std::string& target) {
  if (options.plugin.empty()) return fail(ErrorKind::kUsage, "no plugin given: name it with --plugin");
  if (target.empty()) return fail(ErrorKind::kUsage, "no target given: name the vLLM that the plugin must fit with --target");
  SourceOptions source;
  if (!options.python.empty()) source.python = options.python;
  source.cache_dir = options.cache_dir;
  if (options.progress) options.progress("opening " + options.plugin);
  auto plugin_tree = open_source(options.plugin, source);
  if (!plugin_tree) return tl::make_unexpected(plugin_tree.error());
  source.package = "vllm";
  if (options.progress) options.progress("opening " + target);
  auto target_tree = open_source(target, source);
  if (!target_tree) return tl::make_unexpected(target_tree.error());

  ProjectOptions project;
  project.generated_modules = catalog_.generated_modules;
  for (auto& built : built_modules(**plugin_tree)) project.generated_modules.push_back(std::move(built));
  project_ = std::make_unique<Project>(std::move(project));
  entry_points_ = assay::entry_points(**plugin_tree);
  Distribution plugin_dist = distribution_of(**plugin_tree), target_dist = distribution_of(**target_tree);
  inputs_ = {info_of("plugin", **plugin_tree, plugin_dist), info_of("target", **target_tree, target_dist)};
  SourceTree plugin{"plugin", *plugin_tree, plugin_dist.version, packages_of(**plugin_tree, entry_points_)};
  SourceTree vllm{"target", *target_tree, target_dist.version, packages_of(**target_tree, {})};
  if (!(*target_tree)->find("vllm/__init__.py")) return fail(printable(without_credentials(target)) + ": holds no package vllm");
  if (std::string fault = pyproject_fault(**plugin_tree); !fault.empty()) {
    Location place;
    place.tree = "plugin";
    place.file = "pyproject.toml";
    unknown_.push_back({place.file, fault, place});
  }
  plugin_ = &project_->add_tree(std::move(plugin));
  target_ = &project_->add_tree(std::move(vllm));
  for (const SourceTree* t : project_->trees()) {
    for (const Skipped& skipped : t->tree->skipped()) {
      Location place;
      place.tree = t->role;
      place.file = skipped.path;
      unknown_.push_back({skipped.path, skipped.reason, place});
    }
  }
  return {};
}

Expected<void> Session::set_platform(const RunOptions& options) {
  if (options.platform.empty()) return {};
  auto platform = load_platform(catalog_, options.platform);
  if (!platform) return tl::make_unexpected(platform.error());
  platform_ = platform->name;
  apply_platform(catalog_, *platform, environment_);
  return {};
}

std::unique_ptr<Semantics> Session::new_semantics() const {
  auto semantics = std::make_unique<Semantics>(*project_, catalog_.externals, environment_, patches_);
  if (definitions_) semantics->use(*definitions_);
  return semantics;
}

// The class that the plugin's platform entry point names is what current_platform is an instance of.
void Session::find_platform_class() {
  Values platforms;
  for (const EntryPoint& e : entry_points_) {
    const EntryPointGroup* group = catalog_.entry_point_group(e.group);
    if (!group || !group->class_path) continue;
    std::string dotted = e.value;
    std::replace(dotted.begin(), dotted.end(), ':', '.');
    for (const Value& f : semantics_->resolve_dotted(dotted).list) {
      if (f.kind != ValueKind::kFunction) continue;
      for (Node n : f.definition().descendants()) {
        if (!n.is(Kind::k_return_statement)) continue;
        for (const Value& path : semantics_->infer(*f.module, n.first_child()).list) {
          if (path.kind != ValueKind::kString) continue;
          for (const Value& v : semantics_->resolve_dotted(path.text).list) {
            if (v.kind == ValueKind::kClass) platforms.add(instance_value(v.class_ref()));
          }
        }
      }
    }
  }
  if (platforms.list.empty()) return;
  for (const std::string& variable : catalog_.platform_variables) environment_.instances[variable] = platforms;
  if (platform_.empty()) platform_ = semantics_->describe(platforms.list[0]);
}

// What the plugin's reached code assigns to foreign modules and classes exists from then on.
void Session::find_patches() {
  found_patches_ = assay::find_patches(*semantics_, *plugin_, modules_);
  patches_ = collect_patches(*semantics_, found_patches_, [this](const PatchSite& site) { return reach_.reached(*site.module); });
  for (const ModuleRedirect& r : found_patches_.redirects) {
    bool put = !r.removes && r.name != kImportHook && reach_.reached(*r.module) && semantics_->live(*r.module, r.place) != Truth::kNo;
    // What is no module of ours (an object, a module made at run time) has names that cannot be listed.
    if (put) project_->redirect(r.name, project_->find(r.to) ? r.to : std::string());
  }
  semantics_ = new_semantics();
}

void Session::find_reach(const RunOptions& options) {
  bool overlaps = std::any_of(plugin_->packages.begin(), plugin_->packages.end(), [&](const std::string& p) {
    return std::find(target_->packages.begin(), target_->packages.end(), p) != target_->packages.end();
  });
  std::vector<ReachRoot> roots;
  bool root_skipped = false;  // what it would reach is not known: nothing may be called unreached
  for (const EntryPoint& e : entry_points_) {
    size_t colon = e.value.find(':');
    const Module* m = project_->find_loaded(e.value.substr(0, colon));
    if (!m || m->tree != plugin_) continue;
    root_skipped |= m->kind == ModuleKind::kSkipped;
    std::string function = colon == std::string::npos ? "" : e.value.substr(colon + 1);
    function = function.substr(0, function.find_first_of(" ["));
    roots.push_back({m, function, "entry point " + e.group + ":" + e.name});
  }
  if (roots.empty() || root_skipped || overlaps || options.reach == Reach::kAll) {
    reach_ = Reachability::everything(*project_, *plugin_);
  } else {
    reach_ = Reachability::from_roots(*semantics_, *plugin_, roots);
  }
}

Expected<void> Session::choose_modules(const RunOptions& options) {
  const std::vector<const Module*>& all = project_->modules_of(*plugin_);
  for (const std::string& named : options.scope) {
    std::string scope = named;
    while (starts_with(scope, "./")) scope.erase(0, 2);
    while (!scope.empty() && scope.back() == '/') scope.pop_back();
    if (scope.empty() || scope == ".") {
      scope_.clear();
      break;
    }
    auto holds = [&](const Module* m) { return m->file() == scope || starts_with(m->file(), scope + "/"); };
    // A clean report of nothing would look like a clean plugin.
    if (std::none_of(all.begin(), all.end(), holds))
      return fail(ErrorKind::kUsage, "--scope " + printable(named) + ": no Python file of the plugin lies there");
    scope_.push_back(scope);
  }
  exclude_ = options.exclude;
  for (const Module* m : all) {
    bool in_package = std::find(plugin_->packages.begin(), plugin_->packages.end(), top_of(m->name)) != plugin_->packages.end();
    if (m->kind != ModuleKind::kExtension && (in_package || !scope_.empty()) && in_scope(m->file())) modules_.push_back(m);
  }
  if (plugin_->packages.empty() && scope_.empty())
    return fail(printable(without_credentials(options.plugin)) + ": holds no Python package; --scope names what else to look at");
  return {};
}

bool Session::in_scope(std::string_view file) const {
  auto excluded = [&](const std::string& pattern) { return glob_match(pattern, file); };
  if (std::any_of(exclude_.begin(), exclude_.end(), excluded)) return false;
  auto holds = [&](const std::string& scope) { return file == scope || starts_with(file, scope + "/"); };
  return scope_.empty() || std::any_of(scope_.begin(), scope_.end(), holds);
}

void Session::describe(Report& report) const {
  report.inputs = inputs_;
  report.platform = platform_;
  report.unknown.insert(report.unknown.end(), unknown_.begin(), unknown_.end());
  for (const Module* m : project_->skipped()) {
    Location place;
    place.tree = m->tree->role;
    place.file = m->file();
    report.unknown.push_back({m->file(), m->skip_reason, place});
  }
  report.stats.files = project_->files_parsed();
  report.stats.bytes = project_->bytes_parsed();
}

}  // namespace assay
