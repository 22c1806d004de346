#include "model/json.h"

#include <nlohmann/json.hpp>

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

Json list(const std::vector<std::string>& values) {
  Json out = Json::array();
  for (const std::string& value : values) out.push_back(value);
  return out;
}

template <class T, class F>
Json list(const std::vector<T>& values, F write) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(write(value));
  return out;
}

void put_location(Json& out, const Location& place) {
  out["tree"] = place.tree;
  out["file"] = place.file;
  out["line"] = place.line;
  out["column"] = place.column;
  out["end_line"] = place.end_line != 0 ? place.end_line : place.line;
  out["end_column"] = place.end_column;
  out["text"] = place.text;
}

Json location(const Location& place) {
  if (place.tree.empty() && place.file.empty()) return nullptr;
  Json out;
  put_location(out, place);
  return out;
}

Json related(const Related& other) {
  Json out;
  put_location(out, other.location);
  out["symbol"] = other.symbol;
  out["message"] = other.message;
  return out;
}

Json site(const Site& further) {
  Json out;
  out["location"] = location(further.location);
  out["state"] = to_string(further.state);
  out["fingerprint"] = further.fingerprint;
  return out;
}

Json finding(const Finding& f) {
  Json out;
  out["rule"] = f.rule;
  out["level"] = to_string(f.level);
  out["message"] = f.message;
  out["symbol"] = f.symbol;
  out["evidence"] = to_string(f.evidence);
  out["trigger"] = f.trigger;
  out["expected"] = f.expected;
  out["observed"] = f.observed;
  out["repro"] = {{"command", f.repro.command}, {"result", f.repro.result}, {"artifact", f.repro.artifact}};
  out["limits"] = list(f.limits);
  out["attribution"] = {{"class", f.attribution.cls}, {"basis", f.attribution.basis}};
  out["fingerprint"] = f.fingerprint;
  out["state"] = to_string(f.state);
  out["blocked_by"] = list(f.blocked_by);
  out["location"] = location(f.location);
  out["sites"] = list(f.sites, site);
  out["related"] = list(f.related, related);
  out["supports"] = list(f.supports);
  out["group"] = f.group;
  out["fix"] = f.fix;
  return out;
}

Json inventory_row(const InventoryRow& row) {
  Json out;
  out["kind"] = row.kind;
  out["key"] = row.key;
  out["state"] = row.state;
  out["condition"] = row.condition;
  out["activation"] = list(row.activation);
  out["effective"] = row.effective;
  out["upstream"] = row.upstream;
  out["difference"] = row.difference;
  out["decision"] = row.decision;
  out["validation"] = row.validation;
  out["evidence"] = to_string(row.evidence);
  out["location"] = location(row.location);
  return out;
}

Json loss(const FileRow::Loss& lost) {
  Json out;
  out["line"] = lost.line;
  out["import"] = lost.import;
  out["rows"] = list(lost.rows);
  return out;
}

Json file_row(const FileRow& row) {
  Json out;
  out["file"] = row.file;
  out["state"] = row.state;
  out["reason"] = row.reason;
  out["losses"] = list(row.losses, loss);
  return out;
}

Json unknown(const Unknown& gap) {
  Json out;
  out["what"] = gap.what;
  out["reason"] = gap.reason;
  out["location"] = location(gap.location);
  return out;
}

Json input(const InputInfo& info) {
  Json out;
  out["name"] = info.name;
  out["spec"] = info.spec;
  out["kind"] = info.kind;
  out["version"] = info.version;
  out["revision"] = info.revision;
  out["digest"] = info.digest;
  return out;
}

Json inputs(const std::vector<InputInfo>& infos) {
  Json out = {{"plugin", nullptr}, {"target", nullptr}, {"base", nullptr}, {"plugin_base", nullptr}};
  out["components"] = Json::array();
  for (const InputInfo& info : infos) {
    if (info.role == "component")
      out["components"].push_back(input(info));
    else
      out[info.role == "plugin-base" ? "plugin_base" : info.role] = input(info);
  }
  return out;
}

Json stats(const Stats& s) {
  Json out;
  out["files"] = s.files;
  out["bytes"] = s.bytes;
  out["names_decided"] = s.names_decided;
  out["names_undecided"] = s.names_undecided;
  out["calls_bound"] = s.calls_bound;
  out["calls_unbound"] = s.calls_unbound;
  out["cache_hits"] = s.cache_hits;
  out["cache_misses"] = s.cache_misses;
  out["wall_seconds"] = s.wall_seconds;
  out["seconds"] = Json::object();
  for (const auto& [phase, seconds] : s.seconds) out["seconds"][phase] = seconds;
  out["findings_per_rule"] = s.findings_per_rule;
  out["seconds_per_rule"] = s.seconds_per_rule;
  return out;
}

}  // namespace

std::string report_to_json(const Report& report) {
  for (const Finding& f : report.findings)
    ASSAY_CHECK(!f.symbol.empty(), "a finding of " + f.rule + " without symbol");
  Json out;
  out["schema"] = kReportSchema;
  out["tool"] = {{"name", "assay"}, {"version", report.tool_version}};
  out["command"] = report.command;
  out["inputs"] = inputs(report.inputs);
  out["platform"] = report.platform;
  out["incomplete"] = report.incomplete;
  out["findings"] = list(report.findings, finding);
  out["inventory"] = list(report.inventory, inventory_row);
  out["files"] = list(report.files, file_row);
  out["claims"] = Json::array();
  out["unknown"] = list(report.unknown, unknown);
  out["stats"] = stats(report.stats);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay
