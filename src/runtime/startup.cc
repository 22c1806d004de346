#include "runtime/startup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <set>

#include "base/hash.h"
#include "base/text.h"

namespace assay {
namespace {

using nlohmann::json;

std::string text_in(const json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? without_credentials(it->get<std::string>()) : std::string();
}

std::vector<std::string> texts_in(const json& object, const char* key) {
  std::vector<std::string> out;
  if (auto it = object.find(key); it != object.end() && it->is_array())
    for (const json& value : *it)
      if (value.is_string()) out.push_back(without_credentials(value.get<std::string>()));
  return out;
}

std::string said(const json& error) {
  const std::string message = text_in(error, "message");
  return message.empty() ? text_in(error, "type") : text_in(error, "type") + ": " + message;
}

bool in_packages(std::string_view dotted, const std::vector<std::string>& packages) {
  return std::any_of(packages.begin(), packages.end(),
                     [&](const std::string& p) { return dotted.starts_with(p) && (dotted.size() == p.size() || dotted[p.size()] == '.'); });
}

// "…/site-packages/PACKAGE/…"
bool file_in_packages(const std::string& file, const std::vector<std::string>& packages) {
  return std::any_of(packages.begin(), packages.end(), [&](const std::string& p) { return file.find('/' + p + '/') != std::string::npos; });
}

// What a table shows at a path: "class a.B", "value 3".
std::string shown(const json& described) {
  if (!described.is_array() || described.size() != 2) return "";
  const std::string what = described[0].is_string() ? described[0].get<std::string>() : "";
  const std::string name = described[1].is_string() ? described[1].get<std::string>() : "";
  return name.empty() ? what : what + ' ' + name;
}

std::string file_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? content_hash(std::string(std::istreambuf_iterator<char>(file), {})) : std::string();
}

class Observer {
 public:
  Observer(const StartupQuestion& question, Worker& worker) : question_(question), worker_(worker) {}

  Expected<StartupRecord> run() {
    if (question_.quick) return run_quick();
    // The start without the plugin takes as long as the one with it: side by side.
    auto without = std::async(std::launch::async, [this] { return start_without(); });
    auto started = start();
    auto control = without.get();
    if (!started) return tl::make_unexpected(started.error());
    if (!control) return tl::make_unexpected(control.error());
    if (!stopped_) {
      auto bring = std::async(std::launch::async, [&] { return import_without(*control); });
      for (auto step : {&Observer::look_up, &Observer::child}) {
        if (auto done = (this->*step)(); !done) return tl::make_unexpected(done.error());
      }
      if (auto brought = bring.get(); !brought) return tl::make_unexpected(brought.error());
      if (control->worker && control->ready) {
        if (auto done = differences(*control->worker); !done) return tl::make_unexpected(done.error());
      }
      for (auto& gap : control->gaps) record_.gaps.push_back(std::move(gap));
    }
    record_.environment = worker_.changes();
    record_.environment.emplace_back("the garbage collector looks through new objects less often during the traced start");
    return std::move(record_);
  }

 private:
  Expected<StartupRecord> run_quick() {
    if (auto started = start(); !started) return tl::make_unexpected(started.error());
    if (!stopped_) {
      if (auto done = look_up(); !done) return tl::make_unexpected(done.error());
    }
    record_.gaps.emplace_back("changed tables, and a start in a child", "not asked for");
    record_.environment = worker_.changes();
    record_.environment.emplace_back("the garbage collector looks through new objects less often during the traced start");
    return std::move(record_);
  }

  // The value, or null and a gap.
  Expected<json> ask(Worker& worker, const char* question, const json& arguments, const std::string& what) {
    auto answer = worker.call(question, arguments, {}, question_.limit);
    if (!answer) return tl::make_unexpected(answer.error());
    if (answer->answered()) return std::move(answer->value);
    record_.gaps.emplace_back(what, without_credentials(answer->fault()));
    return json();
  }

  Expected<void> start() {
    std::vector<std::string> watched = question_.packages;
    watched.push_back("vllm");
    auto answer = worker_.call("startup.start", {{"watched", watched}, {"plugins", question_.packages}, {"trace", true}}, {}, question_.limit);
    if (!answer) return tl::make_unexpected(answer.error());
    if (!answer->answered()) {
      record_.steps.push_back({"start", answer->seconds, "", without_credentials(answer->fault())});
      stopped_ = true;  // there is no process to ask any further
      return {};
    }
    const json& value = answer->value;
    for (const json& step : value["steps"]) {
      auto error = step.find("error");
      record_.steps.push_back({text_in(step, "name"), step.value("seconds", 0.0), text_in(step, "result"), error == step.end() ? "" : said(*error)});
      if (!text_in(step, "result").empty()) record_.platform = text_in(step, "result");
    }
    for (const json& row : value["swallowed"]) record_.swallowed.push_back(swallowed(row));
    for (const json& fault : value["tracer_faults"]) record_.gaps.emplace_back("tracing of exceptions", said(fault));
    if (uint64_t dropped = value.value("swallowed_dropped", 0); dropped != 0)
      record_.gaps.emplace_back("swallowed exceptions", fmt::format("{} more, of other kinds, were not kept", dropped));
    // An exported file is gone afterwards.
    for (const json& module : value["modules"]) {
      const std::string file = text_in(module, "file");
      record_.modules.push_back({text_in(module, "name"), file, file.empty() ? "" : file_hash(file), ""});
    }
    loaded_ = value["vllm_modules"];
    // Before lookups bring in more.
    auto digests = ask(worker_, "tables.digests", {{"packages", {"vllm"}}}, "changed tables");
    if (!digests) return tl::make_unexpected(digests.error());
    digests_ = std::move(*digests);
    return {};
  }

  Swallowed swallowed(const json& row) const {
    Swallowed out;
    out.type = text_in(row, "type");
    out.message = text_in(row, "message");
    out.raised = text_in(row, "where");
    out.caught = text_in(row, "caught");
    out.frames = texts_in(row, "frames");
    for (const json& cause : row.value("causes", json::array())) out.causes.push_back(said(cause) + " at " + text_in(cause, "where"));
    out.count = row.value("count", 1);
    std::vector<std::string> files = texts_in(row, "files");
    files.push_back(text_in(row, "caught_file"));
    const bool plugin = std::any_of(files.begin(), files.end(), [&](const std::string& f) { return file_in_packages(f, question_.packages); });
    out.whose = plugin ? "plugin" : "vllm";
    // vLLM's loader catches whatever comes out of an entry point: that plugin is gone.
    if (plugin && file_in_packages(text_in(row, "caught_file"), {"vllm/plugins", "vllm/platforms"})) out.lost = "an entry point of the plugin";
    return out;
  }

  // A start without the plugin tells what it changed.
  struct Control {
    std::unique_ptr<Worker> worker;
    bool ready = false;
    std::vector<std::pair<std::string, std::string>> gaps;
  };

  Expected<Control> start_without() const {
    Control out;
    auto entries = Worker::start(question_.worker);
    if (!entries) return tl::make_unexpected(entries.error());
    auto others = (*entries)->call("environment.plugins", {{"groups", question_.groups}});
    if (!others) return tl::make_unexpected(others.error());
    WorkerOptions options = question_.worker;
    options.environment.emplace_back("VLLM_PLUGINS", without_plugin(others->value));
    auto worker = Worker::start(options);
    if (!worker) return tl::make_unexpected(worker.error());
    out.worker = std::move(*worker);
    auto started = out.worker->call("startup.start", {{"watched", json::array()}, {"plugins", question_.packages}, {"trace", false}}, {}, question_.limit);
    if (!started) return tl::make_unexpected(started.error());
    if (!started->answered()) {
      out.gaps.emplace_back("changed tables", "the start without the plugin: " + without_credentials(started->fault()));
    } else if (!started->value["modules"].empty()) {
      out.gaps.emplace_back("changed tables", "the plugin is loaded even when VLLM_PLUGINS leaves it out: there is nothing to compare with");
    } else {
      out.ready = true;
    }
    return out;
  }

  // The modules that the start with the plugin has loaded, there as well.
  Expected<void> import_without(Control& control) const {
    if (!control.ready) return {};
    auto faults = control.worker->call("startup.import_all", {{"modules", loaded_}}, {}, question_.limit);
    if (!faults) return tl::make_unexpected(faults.error());
    if (!faults->answered()) {
      control.ready = false;
      control.gaps.emplace_back("changed tables", "importing the same modules without the plugin: " + without_credentials(faults->fault()));
      return {};
    }
    for (const auto& [name, fault] : faults->value.items())
      control.gaps.emplace_back("changed tables of " + name, "not imported without the plugin: " + without_credentials(fault.get<std::string>()));
    return {};
  }

  // Names of the plugins that are none of this one's, as VLLM_PLUGINS takes them.
  std::string without_plugin(const json& entries) const {
    const char* chosen = std::getenv("VLLM_PLUGINS");
    std::set<std::string> allowed;
    if (chosen) {
      for (std::string_view name : split(chosen, ',')) allowed.emplace(name);
    }
    std::string out;
    for (const json& entry : entries) {
      const std::string name = text_in(entry, "name"), value = text_in(entry, "value");
      if (in_packages(value.substr(0, value.find(':')), question_.packages) || (chosen && allowed.count(name) == 0)) continue;
      out += (out.empty() ? "" : ",") + name;
    }
    return out;
  }

  Expected<void> differences(Worker& control) {
    auto theirs = ask(control, "tables.digests", {{"packages", {"vllm"}}}, "changed tables");
    if (!theirs) return tl::make_unexpected(theirs.error());
    if (!digests_.is_object() || !theirs->is_object()) return {};
    json modules = json::array();
    for (const auto& [name, digest] : digests_.items()) {
      auto other = theirs->find(name);
      if (other != theirs->end() && *other != digest) modules.push_back(name);
    }
    auto after = ask(worker_, "tables.details", {{"modules", modules}}, "changed tables");
    if (!after) return tl::make_unexpected(after.error());
    auto before = ask(control, "tables.details", {{"modules", modules}}, "changed tables");
    if (!before) return tl::make_unexpected(before.error());
    if (!after->is_object() || !before->is_object()) return {};
    for (const auto& [path, described] : after->items()) {
      auto old = before->find(path);
      if (old == before->end() || *old != described) add_change(path, old == before->end() ? json() : *old, described);
    }
    for (const auto& [path, described] : before->items()) {
      if (!after->contains(path)) add_change(path, described, json());
    }
    // The shortest path first: where the thing is from, rather than who imports it.
    std::sort(record_.changes.begin(), record_.changes.end(), [](const auto& a, const auto& b) {
      return std::pair(a.path.size(), a.path) < std::pair(b.path.size(), b.path);
    });
    bring_together();
    std::sort(record_.changes.begin(), record_.changes.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return places_and_holders(control);
  }

  // An object that others import changes in all of them, as the platform does.
  void bring_together() {
    std::vector<TableChange> kept;
    for (TableChange& change : record_.changes) {
      auto same = std::find_if(kept.begin(), kept.end(), [&](const TableChange& k) {
        return change.before.starts_with("object ") && k.before == change.before && k.after == change.after;
      });
      if (same == kept.end()) {
        kept.push_back(std::move(change));
      } else {
        same->also.push_back(change.path);
      }
    }
    record_.changes = std::move(kept);
  }

  void add_change(const std::string& path, const json& before, const json& after) {
    TableChange out;
    out.path = path;
    out.before = shown(before);
    out.after = shown(after);
    if (after.is_array() && after.size() == 2 && after[1].is_string()) {
      const std::string& name = after[1].get_ref<const std::string&>();
      // A registry may hold the path as text, in quotes.
      out.owned = in_packages(name, question_.packages) || in_packages(name.substr(std::min<size_t>(1, name.size())), question_.packages) ||
                  std::any_of(question_.packages.begin(), question_.packages.end(),
                              [&](const std::string& p) { return name.find('(' + p + '.') != std::string::npos; });
    }
    record_.changes.push_back(std::move(out));
  }

  Expected<void> places_and_holders(Worker& control) {
    json paths = json::array();
    for (const TableChange& change : record_.changes) paths.push_back(change.path);
    auto places = ask(worker_, "tables.places", {{"paths", paths}}, "places of changed tables");
    if (!places) return tl::make_unexpected(places.error());
    auto holders = ask(control, "tables.holders", {{"paths", paths}, {"packages", {"vllm"}}}, "who holds what was patched");
    if (!holders) return tl::make_unexpected(holders.error());
    if (!places->is_object() || !holders->is_object()) return {};
    json pairs = json::array();
    std::vector<std::pair<TableChange*, std::string>> asked;
    for (TableChange& change : record_.changes) {
      change.place = text_in(*places, change.path.c_str());
      for (const std::string& holder : texts_in(*holders, change.path.c_str())) {
        pairs.push_back({change.path, holder});
        asked.emplace_back(&change, holder);
      }
    }
    auto same = ask(worker_, "tables.same", {{"pairs", pairs}}, "who holds what was patched");
    if (!same) return tl::make_unexpected(same.error());
    for (size_t i = 0; same->is_array() && i < same->size() && i < asked.size(); ++i) {
      if ((*same)[i] == false) asked[i].first->stale.push_back(asked[i].second);
    }
    return {};
  }

  json lookup_rows() const {
    json rows = json::array();
    for (const LookupQuestion& q : question_.lookups)
      if (!q.expression.empty()) rows.push_back({{"kind", q.kind}, {"key", q.key}, {"modules", q.modules}, {"expression", q.expression}, {"expected", q.expected}});
    return rows;
  }

  Expected<void> look_up() {
    auto answers = ask(worker_, "startup.look_up", {{"rows", lookup_rows()}}, "lookups");
    if (!answers) return tl::make_unexpected(answers.error());
    size_t i = 0;
    for (const LookupQuestion& q : question_.lookups) {
      StartRow row{q.kind, q.key, fmt::format("{}", fmt::join(q.expected, " | ")), "", "", "", "", ""};
      if (q.expression.empty()) {
        row.verdict = "not asked";
        row.reason = "there is no lookup for this kind";
      } else if (answers->is_array() && i < answers->size()) {
        judge(q, (*answers)[i++], row);
      } else {
        row.verdict = "not asked";
        row.reason = "the process ended before";
      }
      record_.rows.push_back(std::move(row));
    }
    return {};
  }

  static void judge(const LookupQuestion& q, const json& answer, StartRow& row) {
    row.effective = text_in(answer, "name");
    row.place = text_in(answer, "place");
    if (std::string fault = text_in(answer, "fault"); !fault.empty()) {
      row.verdict = "not asked";
      row.reason = fault;
    } else if (std::string absent = text_in(answer, "absent"); !absent.empty()) {
      // The condition under which it would be registered does not hold here, as far as a lookup can tell.
      row.verdict = q.conditional ? "inactive here" : "absent";
      row.reason = absent;
    } else if (row.expected.empty()) {
      row.verdict = "not asked";
      row.reason = "the source does not say what is registered";
    } else if (std::string wraps = text_in(answer, "wraps"); !wraps.empty()) {
      row.verdict = "agrees";
      row.reason = "inside a wrapper that was put around it";
    } else {
      row.verdict = !text_in(answer, "same").empty() || agrees(q, row.effective) || agrees(q, text_in(answer, "claims")) ? "agrees" : "differs";
    }
  }

  // One of "a.b.C" or "a.b:C" from the source; an op's schema stands for its key; a lazily loaded model for its path.
  static bool agrees(const LookupQuestion& q, const std::string& effective) {
    if (effective.empty()) return false;
    if (q.kind == "torch-op") return effective.starts_with(q.key + '(') || effective.starts_with(q.key + '.');
    return std::any_of(q.expected.begin(), q.expected.end(), [&](std::string expected) {
      std::replace(expected.begin(), expected.end(), ':', '.');
      if (effective == expected) return true;
      std::string parts = expected;
      if (const size_t dot = parts.rfind('.'); dot != std::string::npos) parts = "(" + parts.substr(0, dot) + ", " + parts.substr(dot + 1) + ")";
      return effective.ends_with(parts) || effective.ends_with(expected + ')');
    });
  }

  Expected<void> child() {
    const json rows = lookup_rows();
    const double seconds = std::chrono::duration<double>(question_.limit).count();
    auto answer = ask(worker_, "startup.in_child", {{"plugins", question_.packages}, {"rows", rows}, {"limit", seconds * 0.8}}, "spawned child");
    if (!answer) return tl::make_unexpected(answer.error());
    if (answer->is_null()) return {};
    record_.child_fault = text_in(*answer, "fault");
    if (!record_.child_fault.empty()) return {};
    for (const json& step : (*answer)["steps"]) {
      for (StartStep& ours : record_.steps) {
        if (ours.name != text_in(step, "name")) continue;
        ours.seconds = step.value("seconds", 0.0);
        const std::string fault = step.contains("error") ? said(step["error"]) : "";
        if (fault != ours.fault) record_.child_fault = ours.name + ": " + (fault.empty() ? "works, though it fails in the first process" : fault);
      }
    }
    const json& lookups = (*answer)["lookups"];
    for (size_t i = 0, asked = 0; i < record_.rows.size() && asked < lookups.size(); ++i) {
      StartRow& row = record_.rows[i];
      const LookupQuestion& q = question_.lookups[i];
      if (q.expression.empty()) continue;
      StartRow other = row;
      other.reason.clear();
      judge(q, lookups[asked++], other);
      if (other.verdict != row.verdict || other.effective != row.effective)
        row.in_child = other.effective.empty() ? other.verdict + ": " + other.reason : other.effective;
    }
    return {};
  }

  const StartupQuestion& question_;
  Worker& worker_;
  StartupRecord record_;
  bool stopped_ = false;
  json loaded_ = json::array(), digests_;  // vLLM's modules after the start, and a hash over what each holds
};

}  // namespace

Expected<StartupRecord> observe_startup(const StartupQuestion& question) {
  auto worker = Worker::start(question.worker);
  if (!worker) return tl::make_unexpected(worker.error());
  return Observer(question, **worker).run();
}

}  // namespace assay
