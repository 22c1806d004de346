#include "review/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "review/packages.h"
#include "review/snapshot.h"
#include "runtime/worker.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Which question a rule's findings are.
enum class Ask { kModule, kName, kRegistered, kAttribute, kGlobal, kCall, kOverride };

constexpr std::pair<std::string_view, Ask> kQuestions[] = {
    {"missing-module", Ask::kModule},
    {"missing-symbol", Ask::kName},
    {"missing-enum-member", Ask::kName},
    {"unresolved-class-path", Ask::kName},
    {"patch-target-missing", Ask::kName},
    {"entry-point-broken", Ask::kName},
    {"missing-attribute", Ask::kAttribute},
    {"registered-not-importable", Ask::kRegistered},
    {"undefined-name", Ask::kGlobal},
    {"call-missing-argument", Ask::kCall},
    {"call-unknown-argument", Ask::kCall},
    {"call-too-many-arguments", Ask::kCall},
    {"super-call-mismatch", Ask::kCall},
    {"self-passed-explicitly", Ask::kCall},
    {"override-signature", Ask::kOverride},
};

std::optional<Ask> question_of(const Finding& finding) {
  for (const auto& [rule, ask] : kQuestions)
    if (finding.rule == rule) return ask;
  return std::nullopt;
}

std::string file_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? content_hash(std::string(std::istreambuf_iterator<char>(file), {})) : std::string();
}

class Verifier {
 public:
  Verifier(const Session& session, const VerifyOptions& options, Report& report) : session_(session), options_(options), report_(report) {}

  Expected<void> run() {
    std::vector<Finding*> order;
    for (Finding& finding : report_.findings) {
      if (finding.level != Level::kError) continue;
      if (question_of(finding)) {
        order.push_back(&finding);
      } else {
        ++report_.stats.verified[finding.rule].not_tried;
      }
    }
    if (order.empty()) return {};
    // What only the target can answer comes first: importing the plugin patches it.
    std::stable_partition(order.begin(), order.end(), [&](const Finding* f) { return !needs_plugin(*f); });
    if (auto started = start(); !started) return started;
    std::set<const Finding*> withdrawn;
    for (Finding* finding : order) {
      auto verdict = decide(*finding);
      if (!verdict) return tl::make_unexpected(verdict.error());
      if (*verdict) withdrawn.insert(finding);
    }
    std::vector<Finding> kept;
    for (Finding& finding : report_.findings)
      if (withdrawn.count(&finding) == 0) kept.push_back(std::move(finding));
    report_.findings = std::move(kept);
    return {};
  }

 private:
  bool is_plugins(std::string_view dotted) const {
    const std::string top(top_of(dotted));
    const auto& packages = session_.plugin().packages;
    return std::find(packages.begin(), packages.end(), top) != packages.end();
  }

  bool needs_plugin(const Finding& finding) const {
    const Ask ask = *question_of(finding);
    return ask == Ask::kRegistered || ask == Ask::kGlobal || is_plugins(finding.symbol);
  }

  Expected<void> start() {
    WorkerOptions worker;
    worker.python = options_.python;
    worker.call_limit = options_.limit;
    auto snapshot = export_snapshot(*session_.plugin().tree, session_.plugin().packages, {}, {}, nullptr, "");
    if (!snapshot) return tl::make_unexpected(snapshot.error());
    worker.overlay = snapshot->files;
    auto started = Worker::start(worker);
    if (!started) return tl::make_unexpected(started.error());
    worker_ = std::move(*started);
    return {};
  }

  std::string text(const std::string& tree, const std::string& file) const {
    const SourceTree* source = session_.project().tree(tree);
    const TreeEntry* entry = source ? source->tree->find(file) : nullptr;
    if (!entry) return "";
    auto blob = source->tree->read(*entry);
    return blob ? std::string(blob->view()) : "";
  }

  json question(const Finding& finding) const {
    const Location& at = finding.location;
    switch (*question_of(finding)) {
      case Ask::kModule: return {{"kind", "module"}, {"name", finding.symbol}};
      case Ask::kName: return {{"kind", "name"}, {"dotted", finding.symbol}};
      case Ask::kAttribute:
        return {{"kind", finding.message.starts_with("objects of the class") ? "instance" : "name"}, {"dotted", finding.symbol}};
      case Ask::kRegistered:
        return {{"kind", "registered"}, {"dotted", finding.symbol}, {"needs", finding.related.empty() ? "" : finding.related[0].symbol}};
      case Ask::kGlobal: return {{"kind", "global"}, {"module", dotted_of_file(importable_path(at.file, session_.plugin().packages))}, {"name", finding.symbol}};
      case Ask::kCall:
        return {{"kind", "call"}, {"dotted", finding.symbol}, {"text", text(at.tree, at.file)}, {"line", at.line}, {"column", at.column}};
      case Ask::kOverride: {
        // The call of the target that reaches the override, with its place to the column.
        for (const Related& related : finding.related) {
          if (related.message != "called here" || related.location.tree == "plugin") continue;
          return {{"kind", "override"}, {"dotted", finding.symbol}, {"text", text(at.tree, at.file)}, {"line", at.line},
                  {"caller", text(related.location.tree, related.location.file)}, {"caller_line", related.location.line},
                  {"caller_column", related.location.column}};
        }
        return nullptr;
      }
    }
    return nullptr;
  }

  // True when the finding is withdrawn.
  Expected<bool> decide(Finding& finding) {
    Verified& count = report_.stats.verified[finding.rule];
    const json asked = question(finding);
    if (asked.is_null()) {
      ++count.not_tried;
      return false;
    }
    auto answer = worker_->call("verify.ask", asked);
    if (!answer) return tl::make_unexpected(answer.error());
    std::string verdict = "undecided", said = without_credentials(answer->fault());
    if (answer->answered()) {
      verdict = answer->value.value("verdict", "undecided");
      said = without_credentials(answer->value.value("said", ""));
      if (std::string other = other_file(answer->value); verdict != "undecided" && !other.empty()) {
        verdict = "undecided";
        said = other;
      }
    }
    const std::string where = fmt::format("Python {} at {}", worker_->about().value("version", ""), printable(options_.python));
    if (verdict == "confirmed") {
      ++count.confirmed;
      finding.evidence = std::max(finding.evidence, EvidenceLevel::kRuntimeReproduced);
      finding.supports.push_back(fmt::format("{}: {}", where, said));
      finding.repro.result = said;
      return false;
    }
    if (verdict == "withdrawn") {
      ++count.withdrawn;
      report_.unknown.push_back({finding.rule + ' ' + finding.symbol, fmt::format("withdrawn: {} says otherwise: {}", where, said), finding.location});
      return true;
    }
    ++count.undecided;
    finding.limits.push_back(fmt::format("not decided by {}: {}", where, said));
    return false;
  }

  // Which of the files that the answer rests on is not the one that was read; empty: none.
  std::string other_file(const json& answer) {
    for (const json& row : answer.value("files", json::array())) {
      const std::string module = row.at(0).get<std::string>(), file = row.at(1).get<std::string>();
      const Module* read = session_.project().find(module);
      if (read == nullptr || read->entry == nullptr) {
        if (is_plugins(module) || top_of(module) == "vllm") return fmt::format("the process has a module {} that was not read", module);
        continue;
      }
      auto known = same_.find(file);
      if (known == same_.end()) {
        auto blob = read->tree->tree->read(*read->entry);
        known = same_.emplace(file, blob && content_hash(blob->view()) == file_hash(file)).first;
      }
      if (!known->second) return fmt::format("the process has another {} than the {} that was read", module, read->tree->role);
    }
    return "";
  }

  const Session& session_;
  const VerifyOptions& options_;
  Report& report_;
  std::unique_ptr<Worker> worker_;
  std::map<std::string, bool> same_;  // by file of the process
};

}  // namespace

Expected<void> verify_findings(const Session& session, const VerifyOptions& options, Report& report) {
  return Verifier(session, options, report).run();
}

}  // namespace assay
