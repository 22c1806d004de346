#include "model/preflight.h"

#include "model/json_writer.h"

namespace assay {

namespace {

void flag(JsonWriter& out, std::string_view name, bool value) { out.field(name, value ? "yes" : "no"); }

void properties(JsonWriter& out, std::string_view name, const Properties& rows) {
  out.key(name);
  out.begin_object();
  for (const auto& [key, value] : rows) out.field(key, value);
  out.end_object();
}

void distribution(JsonWriter& out, const DistributionRow& row) {
  out.field("name", row.name);
  out.field("version", row.version);
  out.field("metadata", row.metadata);
  out.field("installer", row.installer);
  out.field("provenance", row.provenance);
  flag(out, "editable", row.editable);
  out.texts("modules", row.modules);
  out.texts("requires", row.requires_);
  out.field("fault", row.fault);
}

void library(JsonWriter& out, const LibraryRow& row) {
  out.field("path", row.path);
  out.field("hash", row.hash);
  out.texts("needed", row.needed);
  out.texts("not_found", row.not_found);
  out.texts("missing", row.missing);
  out.field("fault", row.fault);
}

void origin(JsonWriter& out, const OriginRow& row, bool times) {
  out.field("module", row.module);
  out.field("role", row.role);
  out.field("kind", row.kind);
  out.field("found", row.found);
  out.field("shadow", row.shadow);
  out.field("effective", row.effective);
  out.field("version", row.version);
  out.field("fault", row.fault);
  out.field("why", row.why);
  out.texts("causes", row.causes);
  if (times) {
    out.key("seconds");
    out.seconds(row.seconds);
    out.texts("loaded", row.loaded);
  }
  out.list("distributions", row.distributions, distribution);
  out.list("libraries", row.libraries, library);
}

void correspondence(JsonWriter& out, const Correspondence& row) {
  out.field("role", row.role);
  out.field("local", row.local);
  out.field("installed", row.installed);
  out.field("verdict", row.verdict);
  out.field("identical", row.identical);
  out.texts("changed", row.changed);
  out.texts("local_only", row.local_only);
  out.texts("installed_only", row.installed_only);
  out.texts("generated", row.generated);
}

void local(JsonWriter& out, const LocalTree& row) {
  out.field("role", row.role);
  out.field("spec", row.spec);
  out.field("kind", row.kind);
  out.field("name", row.name);
  out.field("version", row.version);
  out.field("commit", row.commit);
  out.field("state", row.state);
  out.field("manifest", row.manifest);
}

void pairs(JsonWriter& out, std::string_view name, const char* first, const char* second,
           const std::vector<std::pair<std::string, std::string>>& rows) {
  out.key(name);
  out.begin_array();
  for (const auto& [a, b] : rows) {
    out.begin_object();
    out.field(first, a);
    out.field(second, b);
    out.end_object();
  }
  out.end_array();
}

void content(JsonWriter& out, const PreflightRecord& r, bool times) {
  properties(out, "interpreter", r.interpreter);
  pairs(out, "path", "entry", "kind", r.path);
  out.texts("finders", r.finders);
  out.key("variables");
  out.begin_object();
  for (const auto& [name, set] : r.variables) out.field(name, set ? "set" : "unset");
  out.end_object();
  properties(out, "builds", r.builds);
  properties(out, "platform", r.platform);
  out.key("plugins");
  out.begin_array();
  for (const std::vector<std::string>& plugin : r.plugins) {
    out.begin_object();
    constexpr const char* kFields[] = {"group", "name", "value", "distribution"};
    for (size_t i = 0; i < plugin.size() && i < std::size(kFields); ++i) out.field(kFields[i], plugin[i]);
    out.end_object();
  }
  out.end_array();
  out.list("local", r.local, local);
  out.key("origins");
  out.begin_array();
  for (const OriginRow& row : r.origins) {
    out.begin_object();
    origin(out, row, times);
    out.end_object();
  }
  out.end_array();
  out.list("correspondence", r.correspondence, correspondence);
  out.texts("changes", r.changes);
  pairs(out, "gaps", "what", "reason", r.gaps);
  out.field("mapping", r.mapping);
}

}  // namespace

std::string preflight_to_json(const PreflightRecord& record) {
  JsonWriter out;
  out.begin_object();
  out.field("schema", "assay.preflight/1");
  out.field("tool", record.tool_version);
  out.field("fingerprint", record.fingerprint);
  out.field("confirmed", record.confirmed);
  content(out, record, true);
  out.end_object();
  return out.take();
}

std::string identifying_text(const PreflightRecord& record) {
  JsonWriter out;
  out.begin_object();
  content(out, record, false);
  out.end_object();
  return out.take();
}

}  // namespace assay
