#include "review/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>

#include "base/parallel.h"
#include "base/text.h"
#include "git/source.h"
#include "review/bisect.h"
#include "review/compare.h"
#include "review/group.h"
#include "review/late_patches.h"
#include "review/packages.h"
#include "review/preflight_run.h"
#include "review/result_cache.h"
#include "review/session.h"
#include "review/snapshot.h"
#include "review/verify.h"
#include "rules/rules.h"
#include "vllm/inventory.h"

namespace assay {
namespace {

void add_stats(Stats& to, const Stats& from) {
  to.names_decided += from.names_decided;
  to.names_undecided += from.names_undecided;
  to.calls_bound += from.calls_bound;
  to.calls_unbound += from.calls_unbound;
  for (const auto& [rule, seconds] : from.seconds_per_rule) to.seconds_per_rule[rule] += seconds;
}

RuleContext context_of(const Session& session, Semantics& semantics) {
  return {semantics, session.plugin(), session.target(), session.reach(), session.definitions(), {}, {}, {},
          {&session.catalog(), &session.entry_points(), &session.modules(), &session.found_patches(), nullptr}, &session.liveness()};
}

// What a rule found goes into the report.
void take(RuleContext& ctx, Report& report) {
  report.findings.insert(report.findings.end(), ctx.findings.begin(), ctx.findings.end());
  report.unknown.insert(report.unknown.end(), ctx.unknown.begin(), ctx.unknown.end());
  add_stats(report.stats, ctx.stats);
}

void timed(RuleContext& ctx, const char* family, const std::function<void()>& run) {
  auto start = std::chrono::steady_clock::now();
  run();
  ctx.stats.seconds_per_rule[family] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Every family over every module, and the rules over the plugin as a whole, side by side: these first, as they take longest.
void run_side_by_side(Session& session, Report& report) {
  ScopedTimer timer(session.timers(), "rules");
  std::vector<const ProjectRuleFamily*> whole;
  for (const ProjectRuleFamily& family : project_rule_families()) {
    if (!family.reads_findings) whole.push_back(&family);
  }
  const std::vector<const Module*>& modules = session.modules();
  std::atomic<size_t> next = 0;
  std::mutex merge;
  auto worker = [&](size_t) {
    std::unique_ptr<Semantics> semantics = session.new_semantics();
    RuleContext ctx = context_of(session, *semantics);
    for (size_t i; (i = next++) < whole.size() + modules.size();) {
      if (i < whole.size()) {
        timed(ctx, whole[i]->name, [&] { whole[i]->run(ctx); });
        continue;
      }
      const Module& module = session.project().load(*modules[i - whole.size()]);
      if (module.kind != ModuleKind::kSource) continue;
      for (const RuleFamily& family : rule_families()) timed(ctx, family.name, [&] { family.run(ctx, module); });
    }
    std::lock_guard lock(merge);
    take(ctx, report);
  };
  parallel_for(static_cast<size_t>(session.threads()), session.threads(), worker);
}

// What rests on what the others found.
void run_after_all(Session& session, Report& report) {
  ScopedTimer timer(session.timers(), "rules about findings");
  const std::vector<Finding> found = report.findings;
  RuleContext ctx = context_of(session, session.semantics());
  ctx.facts.findings = &found;
  for (const ProjectRuleFamily& family : project_rule_families()) {
    if (family.reads_findings) timed(ctx, family.name, [&] { family.run(ctx); });
  }
  take(ctx, report);
  lower_unmet_replacements(report);
}

void add_inventory(Session& session, Report& report) {
  ScopedTimer timer(session.timers(), "inventory");
  Inventory inventory = take_inventory({session.semantics(), session.catalog(), session.plugin(), session.modules(), session.reach(),
                                        session.entry_points(), session.found_patches(), &session.definitions()},
                                       [&](std::string_view file) { return session.in_scope(file); });
  report.inventory = std::move(inventory.rows);
  report.files = std::move(inventory.files);
}

std::string file_content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

struct Parts {
  bool rules = false, inventory = false;
};

// Everything that the result depends on.
std::string key_of(const RunOptions& options, const Session& session, Parts parts) {
  ResultKey key;
  key.add(parts.rules ? "rules" : "");
  key.add(parts.inventory ? "inventory" : "");
  key.add(options.plugin);
  key.add(session.target().tree->identity().spec);
  key.add(options.platform);
  key.add(options.reach == Reach::kAll ? "all" : "entry points");
  for (const std::string& s : options.scope) key.add("scope " + s);
  for (const std::string& s : options.exclude) key.add("exclude " + s);
  for (std::string file : options.catalogs) key.add("catalog " + file_content(file));
  key.add(file_content(options.platform));
  key.add(*session.plugin().tree, session.threads());
  key.add(*session.target().tree, session.threads());
  return key.hex();
}

// Of a staged review: what is missing, and lies in the working tree.
Expected<void> note_unstaged(const RunOptions& options, const Session& session, Report& report) {
  const Tree& index = *session.plugin().tree;
  if (index.identity().kind != "index") return {};
  auto working = open_source(options.plugin.substr(0, options.plugin.rfind('@')));
  if (!working) return tl::make_unexpected(working.error());
  const std::vector<std::string> files = unstaged_files(index, **working, session.plugin().packages);
  for (Finding& finding : report.findings) {
    for (const std::string& file : files) {
      if (finding.rule != "missing-module" || dotted_of_file(importable_path(file, session.plugin().packages)) != finding.symbol) continue;
      finding.message += "; " + file + " exists in the working tree, but is not staged";
      finding.fix = "stage " + file;
    }
  }
  return {};
}

// What a process says speaks of these trees only if it has them: somebody has to confirm that once (assay preflight --confirm).
void note_mapping(const RunOptions& options, Report& report) {
  RunOptions asked = options;
  if (asked.target.starts_with("installed:")) asked.target.clear();  // that is the interpreter's own
  asked.progress = nullptr;
  PreflightOptions how;
  how.import = false;
  auto record = run_preflight(asked, how);
  const std::string state = record ? record->confirmed : record.error().message;
  if (state == "confirmed by the user" || state == "assumed") return;
  report.unknown.push_back({"which trees " + printable(options.python) + " stands for", "mapping unconfirmed: " + state, {}});
}

// Where the user has named an interpreter, what the rules found is tried there. Never cached: it rests on more than the sources.
Expected<Report> verified(const RunOptions& options, const std::string& target, Session& session, Report report) {
  if (auto noted = note_unstaged(options, session, report); !noted) return tl::make_unexpected(noted.error());
  // The interpreter has the target, not the base.
  if (!options.python.empty() && target == options.target && !report.findings.empty()) {
    if (options.progress) options.progress("asking " + options.python);
    ScopedTimer timer(session.timers(), "verify");
    note_mapping(options, report);
    if (auto done = verify_findings(session, {options.python}, report); !done) return tl::make_unexpected(done.error());
  }
  report.stats.seconds = session.timers().seconds();
  return report;
}

Expected<Report> look_at(const RunOptions& options, const std::string& target, Parts parts) {
  auto session = Session::open(options, target);
  if (!session) return tl::make_unexpected(session.error());
  Session& s = **session;
  std::optional<ResultCache> cache;
  std::string key;
  if (options.use_cache) {
    ScopedTimer timer(s.timers(), "look for an earlier result");
    cache.emplace(options.cache_dir);
    key = key_of(options, s, parts);
    if (auto earlier = cache->find(key)) {
      earlier->stats.cache_hits = 1;
      return verified(options, target, s, std::move(*earlier));
    }
  }
  s.prepare(options);
  Report report;
  if (parts.rules) {
    if (options.progress) options.progress("checking against " + target);
    run_side_by_side(s, report);
    run_after_all(s, report);
  }
  if (parts.inventory) {
    if (options.progress) options.progress("taking the inventory");
    add_inventory(s, report);
  }
  // A catalog row that this vLLM has nothing for: registrations of that kind are not seen.
  std::vector<Unknown> rows = missing_extension_points(s.semantics(), s.catalog());
  report.unknown.insert(report.unknown.end(), rows.begin(), rows.end());
  s.describe(report);
  if (cache) {
    report.stats.cache_misses = 1;
    cache->store(key, report);
  }
  return verified(options, target, s, std::move(report));
}

// Where base and target are revisions of one repository, the commits in between say which of them broke what.
Expected<void> find_breaking_commits(const RunOptions& options, Report& report) {
  RevisionRange range;
  if (!revision_range(options.base, options.target, range)) return {};
  auto commits = first_parent_commits(range.path, range.older, range.newer);
  if (!commits) return tl::make_unexpected(commits.error());
  std::reverse(commits->begin(), commits->end());
  set_groups(report);
  return attribute_to_commits(report, *commits, [&](const std::string& commit) -> Expected<std::set<std::string>> {
    if (options.progress) options.progress("bisecting at " + commit.substr(0, 12));
    auto there = look_at(options, range.path + "@" + commit, {true, false});
    if (!there) return tl::make_unexpected(there.error());
    set_groups(*there);
    std::set<std::string> groups;
    for (const Finding& f : there->findings) {
      if (f.level != Level::kNote) groups.insert(f.group);
    }
    return groups;
  });
}

// The target's findings, each with its state against the base.
Expected<Report> against_base(const RunOptions& options, Parts parts) {
  auto before = look_at(options, options.base, {true, false});
  if (!before) return before;
  auto now = look_at(options, options.target, parts);
  if (!now) return now;
  Report report = compare_reports(*before, std::move(*now));
  if (auto done = find_breaking_commits(options, report); !done) return tl::make_unexpected(done.error());
  return report;
}

void drop_fixed(Report& report) {
  std::erase_if(report.findings, [](const Finding& f) { return f.state == FindingState::kFixed; });
}

}  // namespace

Expected<Report> run_check(const RunOptions& options) {
  if (options.base.empty()) return look_at(options, options.target, {true, false});
  auto report = against_base(options, {true, false});
  if (report) drop_fixed(*report);
  return report;
}

Expected<Report> run_inventory(const RunOptions& options) { return look_at(options, options.target, {false, true}); }

Expected<Report> run_compare(const RunOptions& options) { return against_base(options, {true, false}); }

Expected<Report> run_review(const RunOptions& options) {
  return options.base.empty() ? look_at(options, options.target, {true, true}) : against_base(options, {true, true});
}

}  // namespace assay
