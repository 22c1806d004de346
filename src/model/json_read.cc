#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "model/json.h"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

// Thrown inside this file only, and caught in report_from_json.
struct BadField {
  std::string message;
};

// One JSON value together with the path that an error calls it by.
class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // Calls `use` with the member, unless it is missing or null.
  template <class F>
  void with(const char* key, F use) const {
    auto found = json_.find(key);
    if (found != json_.end() && !found->is_null())
      use(Value(*found, path_.empty() ? key : path_ + "." + key));
  }

  void get(const char* key, std::string& out) const {
    with(key, [&](const Value& value) { out = value.text(); });
  }
  template <class N>
  requires std::is_arithmetic_v<N>
  void get(const char* key, N& out) const {
    with(key, [&](const Value& value) { out = value.number<N>(); });
  }
  void get(const char* key, std::vector<std::string>& out) const {
    get(key, out, [](const Value& value) { return value.text(); });
  }
  template <class T, class F>
  void get(const char* key, std::vector<T>& out, F read) const {
    with(key, [&](const Value& value) {
      value.each([&](const Value& element) { out.push_back(read(element)); });
    });
  }
  template <class E>
  void get(const char* key, E& out, std::optional<E> (*parse)(std::string_view)) const {
    with(key, [&](const Value& value) {
      std::optional<E> parsed = parse(value.text());
      if (!parsed)
        throw BadField{fmt::format("{}: '{}' is no {} of this format", value.path(), value.text(), key)};
      out = *parsed;
    });
  }

  std::string text() const {
    if (!json_.is_string()) throw wrong("a string");
    return json_.get<std::string>();
  }

  template <class N>
  N number() const {
    if constexpr (std::is_floating_point_v<N>) {
      if (!json_.is_number()) throw wrong("a number");
      return json_.get<N>();
    } else {
      if (!json_.is_number_unsigned()) throw wrong("a whole number");
      auto value = json_.get<uint64_t>();
      if (value > std::numeric_limits<N>::max()) throw wrong("a smaller number");
      return static_cast<N>(value);
    }
  }

  template <class F>
  void each(F use) const {
    if (!json_.is_array()) throw wrong("an array");
    for (size_t i = 0; i < json_.size(); ++i) use(Value(json_[i], fmt::format("{}[{}]", path_, i)));
  }

  template <class F>
  void each_member(F use) const {
    need_object();
    for (const auto& [key, value] : json_.items()) use(key, Value(value, path_ + "." + key));
  }

  const Value& need_object() const {
    if (!json_.is_object()) throw wrong("an object");
    return *this;
  }

 private:
  BadField wrong(const char* wanted) const {
    return {fmt::format("{}: expected {}, found {}", path_.empty() ? "the text" : path_, wanted,
                        json_.type_name())};
  }

  const Json& json_;
  std::string path_;
};

Location location(const Value& value) {
  value.need_object();
  Location place;
  value.get("tree", place.tree);
  value.get("file", place.file);
  value.get("line", place.line);
  value.get("column", place.column);
  value.get("end_line", place.end_line);
  value.get("end_column", place.end_column);
  value.get("text", place.text);
  return place;
}

void get_location(const Value& owner, Location& out) {
  owner.with("location", [&](const Value& value) { out = location(value); });
}

Site site(const Value& value) {
  value.need_object();
  Site further;
  get_location(value, further.location);
  value.get("state", further.state, parse_finding_state);
  value.get("fingerprint", further.fingerprint);
  return further;
}

Related related(const Value& value) {
  Related other;
  other.location = location(value);
  value.get("symbol", other.symbol);
  value.get("message", other.message);
  return other;
}

void read_about(const Value& value, Finding& f) {
  value.with("repro", [&](const Value& repro) {
    repro.need_object();
    repro.get("command", f.repro.command);
    repro.get("result", f.repro.result);
    repro.get("artifact", f.repro.artifact);
  });
  value.with("attribution", [&](const Value& attribution) {
    attribution.need_object();
    attribution.get("class", f.attribution.cls);
    attribution.get("basis", f.attribution.basis);
  });
  value.get("trigger", f.trigger);
  value.get("expected", f.expected);
  value.get("observed", f.observed);
  value.get("limits", f.limits);
  value.get("blocked_by", f.blocked_by);
  value.get("supports", f.supports);
}

Finding finding(const Value& value) {
  value.need_object();
  Finding f;
  value.get("rule", f.rule);
  value.get("level", f.level, parse_level);
  value.get("message", f.message);
  value.get("symbol", f.symbol);
  if (f.rule.empty() || f.symbol.empty())
    throw BadField{value.path() + ": a finding needs a rule and a symbol"};
  value.get("evidence", f.evidence, parse_evidence_level);
  read_about(value, f);
  value.get("fingerprint", f.fingerprint);
  value.get("state", f.state, parse_finding_state);
  get_location(value, f.location);
  value.get("sites", f.sites, site);
  value.get("related", f.related, related);
  value.get("group", f.group);
  value.get("fix", f.fix);
  return f;
}

InventoryRow inventory_row(const Value& value) {
  value.need_object();
  InventoryRow row;
  value.get("kind", row.kind);
  value.get("key", row.key);
  value.get("state", row.state);
  value.get("condition", row.condition);
  value.get("activation", row.activation);
  value.get("effective", row.effective);
  value.get("upstream", row.upstream);
  value.get("difference", row.difference);
  value.get("decision", row.decision);
  value.get("validation", row.validation);
  value.get("evidence", row.evidence, parse_evidence_level);
  get_location(value, row.location);
  return row;
}

FileRow::Loss loss(const Value& value) {
  value.need_object();
  FileRow::Loss lost;
  value.get("line", lost.line);
  value.get("import", lost.import);
  value.get("rows", lost.rows);
  return lost;
}

FileRow file_row(const Value& value) {
  value.need_object();
  FileRow row;
  value.get("file", row.file);
  value.get("state", row.state);
  value.get("reason", row.reason);
  value.get("losses", row.losses, loss);
  return row;
}

Unknown unknown(const Value& value) {
  value.need_object();
  Unknown gap;
  value.get("what", gap.what);
  value.get("reason", gap.reason);
  get_location(value, gap.location);
  return gap;
}

InputInfo input(const Value& value, const std::string& role) {
  value.need_object();
  InputInfo info;
  info.role = role;
  value.get("name", info.name);
  value.get("spec", info.spec);
  value.get("kind", info.kind);
  value.get("version", info.version);
  value.get("revision", info.revision);
  value.get("digest", info.digest);
  return info;
}

void read_inputs(const Value& inputs, Report& report) {
  inputs.need_object();
  for (const char* role : {"plugin", "target", "base", "plugin_base"}) {
    inputs.with(role, [&](const Value& value) {
      report.inputs.push_back(input(value, std::string_view(role) == "plugin_base" ? "plugin-base" : role));
    });
  }
  inputs.get("components", report.inputs, [](const Value& value) { return input(value, "component"); });
}

void read_stats(const Value& value, Stats& stats) {
  value.need_object();
  value.get("files", stats.files);
  value.get("bytes", stats.bytes);
  value.get("names_decided", stats.names_decided);
  value.get("names_undecided", stats.names_undecided);
  value.get("calls_bound", stats.calls_bound);
  value.get("calls_unbound", stats.calls_unbound);
  value.get("cache_hits", stats.cache_hits);
  value.get("cache_misses", stats.cache_misses);
  value.get("wall_seconds", stats.wall_seconds);
  value.with("seconds", [&](const Value& phases) {
    phases.each_member([&](const std::string& phase, const Value& seconds) {
      stats.seconds.emplace_back(phase, seconds.number<double>());
    });
  });
  value.with("findings_per_rule", [&](const Value& rules) {
    rules.each_member([&](const std::string& rule, const Value& count) {
      stats.findings_per_rule[rule] = count.number<uint64_t>();
    });
  });
  value.with("seconds_per_rule", [&](const Value& rules) {
    rules.each_member([&](const std::string& rule, const Value& seconds) {
      stats.seconds_per_rule[rule] = seconds.number<double>();
    });
  });
  value.with("verified", [&](const Value& rules) {
    rules.each_member([&](const std::string& rule, const Value& count) {
      Verified& verified = stats.verified[rule];
      count.get("confirmed", verified.confirmed);
      count.get("withdrawn", verified.withdrawn);
      count.get("undecided", verified.undecided);
      count.get("not_tried", verified.not_tried);
    });
  });
}

Report read_report(const Value& value) {
  value.need_object();
  std::string schema;
  value.get("schema", schema);
  if (schema != kReportSchema)
    throw BadField{fmt::format("schema: expected '{}', found '{}'", kReportSchema, schema)};
  Report report;
  value.with("tool", [&](const Value& tool) { tool.need_object().get("version", report.tool_version); });
  value.get("command", report.command);
  value.with("inputs", [&](const Value& inputs) { read_inputs(inputs, report); });
  value.get("platform", report.platform);
  value.get("incomplete", report.incomplete);
  value.get("findings", report.findings, finding);
  value.get("inventory", report.inventory, inventory_row);
  value.get("files", report.files, file_row);
  value.get("unknown", report.unknown, unknown);
  value.with("stats", [&](const Value& stats) { read_stats(stats, report.stats); });
  return report;
}

}  // namespace

Expected<Report> report_from_json(std::string_view text, std::string_view name) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail(fmt::format("{} is not valid JSON", name));
  try {
    return read_report(Value(json, ""));
  } catch (const BadField& bad) {
    return fail(fmt::format("{} is not a report: {}", name, bad.message));
  }
}

}  // namespace assay
