// The static half against a real process: which names every module of the installed vLLM has, what every `from … import …` of its
// finds, and what every function and class takes. CI looks at a sample; after a change of the resolver, run it whole.
//   differential PYTHON [EVERY]      EVERY: look at each EVERY-th module only (default 1: all)
// Exits with 1 when the names agree less than 99.8 %, more than 3 % are undecided, or more than 1 % of the signatures differ.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "project/semantics.h"
#include "python/import_scan.h"
#include "runtime/worker.h"
#include "tree/installed_tree.h"
#include "vllm/catalog.h"

namespace assay {
namespace {

using nlohmann::json;

struct Count {
  size_t equal = 0, undecided = 0, different = 0;
  size_t total() const { return equal + undecided + different; }
  double share(size_t part) const { return total() == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(total()); }
};

class Differential {
 public:
  Differential(Worker& worker, const Project& project, Semantics& semantics, std::string script)
      : worker_(worker), project_(project), semantics_(semantics), script_(std::move(script)) {}

  void module(const Module& m) {
    ++modules_;
    json facts = ask({{"what", "module"}, {"module", m.name}});
    if (facts.is_null() || facts.contains("fault")) {
      std::string why = facts.is_null() ? "ended the process" : facts["fault"].get<std::string>();
      ++faults_[why.substr(0, why.find('\n')).substr(0, 90)];
      return;
    }
    ++imported_;
    std::set<std::string> real;
    for (const json& name : facts["names"]) real.insert(name.get<std::string>());
    std::set<std::string> names = real;
    for (const Binding& b : m.scopes().in_scope(kModuleScope)) names.insert(std::string(b.name));
    // What the source binds and the module does not hold may come from its __getattr__, or be a submodule.
    json rest = json::array();
    for (const std::string& name : names)
      if (!name.starts_with("__") && real.count(name) == 0) rest.push_back({m.name, name});
    const json found = ask({{"what", "pairs"}, {"pairs", rest}, {"module", ""}});
    for (size_t i = 0; found.is_array() && i < found.size(); ++i) {
      if (found[i] == true) real.insert(rest[i][1].get<std::string>());
      if (!found[i].is_boolean()) names.erase(rest[i][1].get<std::string>());
    }
    for (const std::string& name : names) {
      if (name.starts_with("__")) continue;
      compare(m.name, name, semantics_.module_member(m, name), real.count(name) > 0);
    }
    for (const auto& [name, parameters] : facts["signatures"].items()) signature(m.name + '.' + name, parameters);
  }

  // Every from-import, as written: most name something that is not defined where they look.
  void imports(const Module& m) {
    json pairs = json::array();
    std::vector<Member> members;
    for (const ScannedImport& import : scan_imports(project_.text(m))) {
      if (!import.from || !import.module.starts_with("vllm") || import.place == ImportPlace::kTypesOnly) continue;
      const Module* source = project_.find_loaded(import.module);
      for (const auto& name : import.names) {
        if (name.name == "*" || !seen_.insert(import.module + ':' + name.name).second) continue;
        pairs.push_back({import.module, name.name});
        members.push_back(source ? semantics_.module_member(*source, name.name) : absent());
      }
    }
    if (pairs.empty()) return;
    json answers = ask({{"what", "pairs"}, {"pairs", pairs}, {"module", ""}});
    for (size_t i = 0; answers.is_array() && i < answers.size(); ++i) {
      if (!answers[i].is_boolean()) {
        ++not_importable_;
        continue;
      }
      compare(pairs[i][0], pairs[i][1], members[i], answers[i].get<bool>());
    }
  }

  bool report() const {
    fmt::print("modules: {} of {} can be imported there\n", imported_, modules_);
    for (const auto& [why, n] : faults_)
      if (n > 2) fmt::print("  {} not: {}\n", n, why);
    fmt::print("names: {} asked, {:.3f} % equal, {:.2f} % undecided, {} different; {} imports of modules that cannot run\n", names_.total(),
               100.0 * static_cast<double>(names_.equal) / static_cast<double>(std::max<size_t>(1, names_.equal + names_.different)),
               names_.share(names_.undecided), names_.different, not_importable_);
    for (const auto& [why, n] : undecided_) fmt::print("  {} undecided: {}\n", n, why);
    fmt::print("signatures: {} asked, {:.3f} % equal, {:.2f} % undecided, {} different ({:.2f} %)\n", signatures_.total(),
               signatures_.share(signatures_.equal), signatures_.share(signatures_.undecided), signatures_.different,
               signatures_.share(signatures_.different));
    const bool names_fit = names_.different * 1000 <= 2 * (names_.equal + names_.different) && names_.share(names_.undecided) <= 3;
    return names_fit && signatures_.share(signatures_.different) <= 1;
  }

 private:
  static Member absent() {
    Member out;
    out.presence = Presence::kNo;
    return out;
  }

  json ask(json question) {
    question["source"] = script_;
    auto answer = worker_.call("server.run", question);
    return answer && answer->answered() ? answer->value : json();
  }

  void compare(const std::string& module, const std::string& name, const Member& member, bool real) {
    if (member.presence == Presence::kUnknown) {
      ++names_.undecided;
      ++undecided_[fmt::format("{} ({})", member.reason, real ? "it is there" : "it is not there")];
    } else if ((member.presence == Presence::kYes) == real) {
      ++names_.equal;
    } else if (!real && member.submodule != nullptr) {
      ++names_.equal;  // a submodule that nobody has imported yet: `from … import` finds it
    } else if (semantics_.may_be_unbound(member)) {
      ++names_.undecided;
      ++undecided_["bound under a condition, or behind an import, that reading cannot decide (it is not there)"];
    } else {
      ++names_.different;
      fmt::print("name {}.{}: read {}, really {}\n", module, name, member.presence == Presence::kYes ? "there" : "not there", real ? "there" : "not there");
    }
  }

  void signature(const std::string& dotted, const json& real) {
    if (!real.is_array()) return;  // there is none to compare with
    const Values values = semantics_.resolve_dotted(dotted);
    const Value* value = values.single();
    const Callable callable = value ? semantics_.callable(*value) : Callable{};
    if (!callable.known || callable.signature.incomplete) {
      ++signatures_.undecided;
      return;
    }
    json read = json::array();
    const Signature& shown = callable.inspected ? *callable.inspected : callable.signature;
    for (const Parameter& p : shown.parameters) read.push_back({std::string(p.name), kind_of(p.kind), p.has_default});
    if (read == real) {
      ++signatures_.equal;
      return;
    }
    ++signatures_.different;
    fmt::print("signature {}: read {}, really {}\n", dotted, read.dump().substr(0, 300), real.dump().substr(0, 300));
  }

  static int kind_of(ParameterKind kind) {
    switch (kind) {
      case ParameterKind::kPositionalOnly: return 0;
      case ParameterKind::kPositionalOrKeyword: return 1;
      case ParameterKind::kVarPositional: return 2;
      case ParameterKind::kKeywordOnly: return 3;
      case ParameterKind::kVarKeyword: return 4;
    }
    return -1;
  }

  Worker& worker_;
  const Project& project_;
  Semantics& semantics_;
  const std::string script_;
  Count names_, signatures_;
  size_t modules_ = 0, imported_ = 0, not_importable_ = 0;
  std::set<std::string> seen_;
  std::map<std::string, size_t> faults_, undecided_;
};

int run(const std::string& python, size_t every) {
  auto tree = open_installed(python, "vllm", "installed:" + python);
  auto catalog = load_catalog({});
  WorkerOptions options;
  options.python = python;
  options.call_limit = std::chrono::minutes(2);
  auto worker = Worker::start(options);
  if (!tree || !catalog || !worker) {
    fmt::print("{}\n", !tree ? tree.error().message : !catalog ? catalog.error().message : worker.error().message);
    return 2;
  }
  ProjectOptions project_options;
  project_options.generated_modules = catalog->generated_modules;
  Project project(project_options);
  const SourceTree& target = project.add_tree({"target", std::shared_ptr<Tree>(std::move(*tree)), "", {"vllm"}});
  // The platform that this process has.
  Environment environment;
  auto chosen = (*worker)->call("origins.platform");
  PatchTable none;
  if (chosen && chosen->answered()) {
    Semantics bare(project, catalog->externals, environment, none);
    Values classes = bare.resolve_dotted(chosen->value.value("class", "")), platforms;
    for (const Value& v : classes.list)
      if (v.kind == ValueKind::kClass) platforms.add(instance_value(v.class_ref()));
    for (const std::string& variable : catalog->platform_variables) environment.instances[variable] = platforms;
  }
  Semantics semantics(project, catalog->externals, environment, none);
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/differential/facts.py");
  Differential differential(**worker, project, semantics, std::string(std::istreambuf_iterator<char>(file), {}));
  const std::vector<const Module*> modules = project.modules_of(target);
  for (size_t i = 0; i < modules.size(); i += every) {
    const Module& m = project.load(*modules[i]);
    if (m.kind != ModuleKind::kSource) continue;
    differential.module(m);
    differential.imports(m);
  }
  return differential.report() ? 0 : 1;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: differential PYTHON [EVERY]\n");
    return 2;
  }
  return assay::run(argv[1], argc > 2 ? static_cast<size_t>(std::max(1, std::atoi(argv[2]))) : 1);
}
