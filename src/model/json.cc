#include "model/json.h"

#include "model/json_writer.h"

namespace assay {

namespace {

void place(JsonWriter& out, const Location& where) {
  out.field("tree", where.tree);
  out.field("file", where.file);
  out.field("line", where.line);
  out.field("column", where.column);
  out.field("end_line", where.end_line != 0 ? where.end_line : where.line);
  out.field("end_column", where.end_column);
  out.field("text", where.text);
}

void location(JsonWriter& out, const Location& where) {
  out.key("location");
  if (where.tree.empty() && where.file.empty()) return out.null();
  out.begin_object();
  place(out, where);
  out.end_object();
}

void related(JsonWriter& out, const Related& other) {
  place(out, other.location);
  out.field("symbol", other.symbol);
  out.field("message", other.message);
}

void site(JsonWriter& out, const Site& further) {
  location(out, further.location);
  out.field("state", to_string(further.state));
  out.field("fingerprint", further.fingerprint);
}

void repro(JsonWriter& out, const Repro& repro) {
  out.key("repro");
  out.begin_object();
  out.field("command", repro.command);
  out.field("result", repro.result);
  out.field("artifact", repro.artifact);
  out.end_object();
}

void attribution(JsonWriter& out, const Attribution& attribution) {
  out.key("attribution");
  out.begin_object();
  out.field("class", attribution.cls);
  out.field("basis", attribution.basis);
  out.end_object();
}

void finding(JsonWriter& out, const Finding& f) {
  ASSAY_CHECK(!f.symbol.empty(), "a finding of " + f.rule + " without symbol");
  out.field("rule", f.rule);
  out.field("level", to_string(f.level));
  out.field("message", f.message);
  out.field("symbol", f.symbol);
  out.field("evidence", to_string(f.evidence));
  out.field("trigger", f.trigger);
  out.field("expected", f.expected);
  out.field("observed", f.observed);
  repro(out, f.repro);
  out.texts("limits", f.limits);
  attribution(out, f.attribution);
  out.field("fingerprint", f.fingerprint);
  out.field("state", to_string(f.state));
  out.texts("blocked_by", f.blocked_by);
  location(out, f.location);
  out.list("sites", f.sites, site);
  out.list("related", f.related, related);
  out.texts("supports", f.supports);
  out.field("group", f.group);
  out.field("fix", f.fix);
}

void inventory_row(JsonWriter& out, const InventoryRow& row) {
  out.field("kind", row.kind);
  out.field("key", row.key);
  out.field("state", row.state);
  out.field("condition", row.condition);
  out.texts("activation", row.activation);
  out.field("effective", row.effective);
  out.field("upstream", row.upstream);
  out.field("difference", row.difference);
  out.field("decision", row.decision);
  out.field("validation", row.validation);
  out.field("evidence", to_string(row.evidence));
  location(out, row.location);
}

void loss(JsonWriter& out, const FileRow::Loss& lost) {
  out.field("line", lost.line);
  out.field("import", lost.import);
  out.texts("rows", lost.rows);
}

void file_row(JsonWriter& out, const FileRow& row) {
  out.field("file", row.file);
  out.field("state", row.state);
  out.field("reason", row.reason);
  out.list("losses", row.losses, loss);
}

void unknown(JsonWriter& out, const Unknown& gap) {
  out.field("what", gap.what);
  out.field("reason", gap.reason);
  location(out, gap.location);
}

void input(JsonWriter& out, const InputInfo& info) {
  out.field("name", info.name);
  out.field("spec", info.spec);
  out.field("kind", info.kind);
  out.field("version", info.version);
  out.field("revision", info.revision);
  out.field("digest", info.digest);
}

void one_input(JsonWriter& out, std::string_view name, std::string_view role,
               const std::vector<InputInfo>& inputs) {
  out.key(name);
  for (const InputInfo& info : inputs) {
    if (info.role != role) continue;
    out.begin_object();
    input(out, info);
    return out.end_object();
  }
  out.null();
}

void inputs(JsonWriter& out, const std::vector<InputInfo>& inputs) {
  out.key("inputs");
  out.begin_object();
  one_input(out, "plugin", "plugin", inputs);
  one_input(out, "target", "target", inputs);
  one_input(out, "base", "base", inputs);
  one_input(out, "plugin_base", "plugin-base", inputs);
  std::vector<InputInfo> components;
  for (const InputInfo& info : inputs)
    if (info.role == "component") components.push_back(info);
  out.list("components", components, input);
  out.end_object();
}

// Pairs of a name and seconds.
template <class Pairs>
void seconds(JsonWriter& out, std::string_view name, const Pairs& pairs) {
  out.key(name);
  out.begin_object();
  for (const auto& [key, value] : pairs) {
    out.key(key);
    out.seconds(value);
  }
  out.end_object();
}

void stats(JsonWriter& out, const Stats& s) {
  out.key("stats");
  out.begin_object();
  out.field("files", s.files);
  out.field("bytes", s.bytes);
  out.field("names_decided", s.names_decided);
  out.field("names_undecided", s.names_undecided);
  out.field("calls_bound", s.calls_bound);
  out.field("calls_unbound", s.calls_unbound);
  out.field("cache_hits", s.cache_hits);
  out.field("cache_misses", s.cache_misses);
  out.key("wall_seconds");
  out.seconds(s.wall_seconds);
  seconds(out, "seconds", s.seconds);
  out.key("findings_per_rule");
  out.begin_object();
  for (const auto& [rule, count] : s.findings_per_rule) out.field(rule, count);
  out.end_object();
  seconds(out, "seconds_per_rule", s.seconds_per_rule);
  if (!s.verified.empty()) {
    out.key("verified");
    out.begin_object();
    for (const auto& [rule, count] : s.verified) {
      out.key(rule);
      out.begin_object();
      out.field("confirmed", count.confirmed);
      out.field("withdrawn", count.withdrawn);
      out.field("undecided", count.undecided);
      out.field("not_tried", count.not_tried);
      out.end_object();
    }
    out.end_object();
  }
  out.end_object();
}

}  // namespace

std::string report_to_json(const Report& report) {
  JsonWriter out;
  out.begin_object();
  out.field("schema", kReportSchema);
  out.key("tool");
  out.begin_object();
  out.field("name", "assay");
  out.field("version", report.tool_version);
  out.end_object();
  out.field("command", report.command);
  inputs(out, report.inputs);
  out.field("platform", report.platform);
  out.field("incomplete", report.incomplete);
  out.list("findings", report.findings, finding);
  out.list("inventory", report.inventory, inventory_row);
  out.list("files", report.files, file_row);
  out.texts("claims", {});
  out.list("unknown", report.unknown, unknown);
  stats(out, report.stats);
  out.end_object();
  return out.take();
}

}  // namespace assay
