#include "model/startup.h"

#include <algorithm>

#include "model/json_writer.h"

namespace assay {

namespace {

void step(JsonWriter& out, const StartStep& s) {
  out.field("name", s.name);
  out.key("seconds");
  out.seconds(s.seconds);
  out.field("result", s.result);
  out.field("fault", s.fault);
}

void swallowed(JsonWriter& out, const Swallowed& s) {
  out.field("type", s.type);
  out.field("message", s.message);
  out.field("raised", s.raised);
  out.field("caught", s.caught);
  out.texts("frames", s.frames);
  out.texts("causes", s.causes);
  out.field("count", s.count);
  out.field("whose", s.whose);
  out.field("lost", s.lost);
}

void module(JsonWriter& out, const LoadedModule& m) {
  out.field("name", m.name);
  out.field("file", m.file);
  out.field("hash", m.hash);
  out.field("proof", m.proof);
}

void change(JsonWriter& out, const TableChange& c) {
  out.field("path", c.path);
  out.field("before", c.before);
  out.field("after", c.after);
  out.field("place", c.place);
  out.field("owner", c.owned ? "plugin" : "other");
  out.field("declared", c.declared);
  out.texts("also", c.also);
  out.texts("stale", c.stale);
}

void row(JsonWriter& out, const StartRow& r) {
  out.field("kind", r.kind);
  out.field("key", r.key);
  out.field("expected", r.expected);
  out.field("effective", r.effective);
  out.field("place", r.place);
  out.field("verdict", r.verdict);
  out.field("reason", r.reason);
  out.field("in_child", r.in_child);
}

void gap(JsonWriter& out, const std::pair<std::string, std::string>& g) {
  out.field("what", g.first);
  out.field("reason", g.second);
}

}  // namespace

bool StartupRecord::sound() const {
  auto failed = [](const StartStep& s) { return !s.fault.empty(); };
  auto lost = [](const Swallowed& s) { return !s.lost.empty(); };
  auto wrong = [](const StartRow& r) { return r.verdict == "differs" || r.verdict == "absent" || !r.in_child.empty(); };
  auto other_file = [](const LoadedModule& m) { return m.proof == "differs" || m.proof == "not in the source"; };
  return std::none_of(steps.begin(), steps.end(), failed) && std::none_of(swallowed.begin(), swallowed.end(), lost) &&
         std::none_of(rows.begin(), rows.end(), wrong) && std::none_of(modules.begin(), modules.end(), other_file) && child_fault.empty();
}

std::string startup_to_json(const StartupRecord& record) {
  JsonWriter out;
  out.begin_object();
  out.field("schema", "assay.startup/1");
  out.field("tool", record.tool_version);
  out.field("python", record.python);
  out.field("plugin", record.plugin);
  out.field("plugin_kind", record.plugin_kind);
  out.field("platform", record.platform);
  out.field("verdict", record.sound() ? "clean" : "not clean");
  out.list("steps", record.steps, step);
  out.list("swallowed", record.swallowed, swallowed);
  out.list("modules", record.modules, module);
  out.list("rows", record.rows, row);
  out.list("changes", record.changes, change);
  out.field("child_fault", record.child_fault);
  out.texts("unstaged", record.unstaged);
  out.texts("environment", record.environment);
  out.list("gaps", record.gaps, gap);
  out.end_object();
  return out.take();
}

}  // namespace assay
