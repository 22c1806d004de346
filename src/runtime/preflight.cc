#include "runtime/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/text.h"

namespace assay {
namespace {

using nlohmann::json;

std::string text_of(const json& value) {
  if (value.is_string()) return without_credentials(value.get<std::string>());
  return value.is_null() ? "" : value.dump();
}

std::string text_in(const json& object, const char* key) {
  auto it = object.find(key);
  return it == object.end() ? "" : text_of(*it);
}

std::vector<std::string> texts_in(const json& object, const char* key) {
  std::vector<std::string> out;
  if (auto it = object.find(key); it != object.end() && it->is_array())
    for (const json& value : *it) out.push_back(text_of(value));
  return out;
}

std::string provenance_of(const json& row) {
  auto it = row.find("provenance");
  if (it == row.end() || !it->is_object()) return "";
  std::string out = text_in(*it, "url");
  for (const char* key : {"commit", "note", "fault"}) {
    if (std::string more = text_in(*it, key); !more.empty()) out += (out.empty() ? "" : "; ") + more;
  }
  return out;
}

DistributionRow distribution_of(const json& row) {
  DistributionRow out;
  out.name = text_in(row, "name");
  out.version = text_in(row, "version");
  out.metadata = text_in(row, "metadata");
  out.installer = text_in(row, "installer");
  out.provenance = provenance_of(row);
  out.editable = row.value("editable", false);
  out.modules = texts_in(row, "modules");
  out.requires_ = texts_in(row, "requires");
  out.fault = text_in(row, "fault");
  return out;
}

// Of a distribution's files, those that are libraries, absolute.
std::vector<std::string> libraries_of(const json& row) {
  std::vector<std::string> out;
  for (const std::string& file : texts_in(row, "libraries")) out.push_back(text_in(row, "base") + '/' + file);
  return out;
}

class Collector {
 public:
  Collector(const PreflightQuestion& question, Worker& worker) : question_(question), worker_(worker) {}

  Expected<PreflightRecord> run() {
    for (auto step : {&Collector::interpreter, &Collector::survey, &Collector::plugins}) {
      if (auto done = (this->*step)(); !done) return tl::make_unexpected(done.error());
    }
    if (question_.import) {
      for (OriginRow& row : record_.origins) {
        if (auto done = import(row); !done) return tl::make_unexpected(done.error());
      }
    }
    record_.changes = worker_.changes();
    return std::move(record_);
  }

 private:
  // An answer, or a gap in the record that says what is lost.
  Expected<json> ask(const char* question, const json& arguments, const std::string& what) {
    auto answer = worker_.call(question, arguments, {}, question_.import_limit);
    if (!answer) return tl::make_unexpected(answer.error());
    if (answer->answered()) return std::move(answer->value);
    record_.gaps.emplace_back(what, without_credentials(answer->fault()));
    return json();
  }

  Expected<void> interpreter() {
    auto about = ask("environment.interpreter", json::object(), "interpreter");
    if (!about) return tl::make_unexpected(about.error());
    for (const char* key : {"executable", "real_executable", "version", "implementation", "abi", "platform", "machine", "libc", "prefix",
                            "base_prefix", "folder"}) {
      record_.interpreter.emplace_back(key, text_in(*about, key));
    }
    for (const char* key : {"venv", "user_site", "safe_path", "isolated"}) {
      auto it = about->find(key);
      if (it == about->end()) continue;
      if (!it->is_object()) {
        record_.interpreter.emplace_back(key, it->is_null() ? "none" : text_of(*it));
        continue;
      }
      for (const auto& [name, value] : it->items()) record_.interpreter.emplace_back(std::string(key) + '.' + name, text_of(value));
    }
    for (const json& entry : about->value("path", json::array())) {
      std::string kind = text_in(entry, "kind");
      record_.path.emplace_back(text_in(entry, "entry"), entry.value("user", false) ? "user site" : kind);
    }
    record_.finders = texts_in(*about, "finders");
    auto variables = ask("environment.variables", json::object(), "environment variables");
    if (!variables) return tl::make_unexpected(variables.error());
    // Of those that the worker sets itself, the user's own state counts.
    const auto ours = worker_environment("");
    for (const json& row : *variables) {
      const std::string name = text_in(row, "name");
      const bool set_by_us = std::any_of(ours.begin(), ours.end(), [&](const auto& o) { return o.first == name; });
      const bool set = set_by_us ? std::getenv(name.c_str()) != nullptr : row.value("set", false);
      if (set || !set_by_us) record_.variables.emplace_back(name, set);
    }
    return {};
  }

  Expected<void> survey() {
    json modules = json::array(), names = json::array();
    for (const Subject& subject : question_.subjects) {
      modules.push_back(subject.module);
      names.push_back(subject.distribution.empty() ? subject.module : subject.distribution);
    }
    auto found = ask("environment.survey", {{"modules", modules}, {"names", names}}, "installed distributions");
    if (!found) return tl::make_unexpected(found.error());
    const json places = found->value("found", json::array()), distributions = found->value("distributions", json::array());
    for (size_t i = 0; i < question_.subjects.size(); ++i) {
      OriginRow row;
      row.module = question_.subjects[i].module;
      row.role = question_.subjects[i].role;
      if (i < places.size()) place(places[i], row);
      for (const json& distribution : distributions) {
        const std::vector<std::string> brings = texts_in(distribution, "modules");
        const bool by_name = text_in(distribution, "name") == question_.subjects[i].distribution;
        if (!by_name && std::find(brings.begin(), brings.end(), row.module) == brings.end()) continue;
        row.distributions.push_back(distribution_of(distribution));
        for (std::string& library : libraries_of(distribution)) libraries_[row.module].push_back(std::move(library));
      }
      record_.origins.push_back(std::move(row));
    }
    return {};
  }

  static void place(const json& found, OriginRow& row) {
    row.kind = text_in(found, "kind");
    row.found = text_in(found, "file");
    if (std::vector<std::string> places = texts_in(found, "places"); row.found.empty() && !places.empty())
      row.found = fmt::format("{}", fmt::join(places, ", "));
    row.shadow = text_in(found, "shadowed_by");
    row.fault = text_in(found, "fault");
  }

  Expected<void> plugins() {
    auto rows = ask("environment.plugins", {{"groups", question_.plugin_groups}}, "entry points");
    if (!rows) return tl::make_unexpected(rows.error());
    for (const json& row : *rows)
      record_.plugins.push_back({text_in(row, "group"), text_in(row, "name"), text_in(row, "value"), text_in(row, "distribution")});
    return {};
  }

  Expected<void> import(OriginRow& row) {
    const Subject& subject = question_.subjects[static_cast<size_t>(&row - record_.origins.data())];
    if (row.kind == "absent" || !subject.import) return {};
    auto answer = worker_.call("origins.load", {{"module", row.module}}, {}, question_.import_limit);
    if (!answer) return tl::make_unexpected(answer.error());
    if (answer->answered()) {
      loaded(answer->value, row);
    } else {
      row.fault = without_credentials(answer->fault());
      row.seconds = answer->seconds;
    }
    if (auto noted = note_libraries(*answer); !noted) return noted;
    if (!row.fault.empty() || subject.examine) explain(row);
    if (row.module == "torch" && row.fault.empty()) return properties("origins.builds", record_.builds, "builds and devices");
    if (row.role == "target" && row.fault.empty()) return properties("origins.platform", record_.platform, "vLLM's platform");
    return {};
  }

  void loaded(const json& value, OriginRow& row) {
    row.loaded = texts_in(value, "libraries");
    row.seconds = value.value("seconds", 0.0);
    row.effective = text_in(value, "file");
    if (std::vector<std::string> places = texts_in(value, "places"); row.effective.empty() && !places.empty()) row.effective = places[0];
    row.version = text_in(value, "version");
    auto error = value.find("error");
    if (error == value.end()) {
      if (row.module == "torch") torch_ = row.version;
      return;
    }
    auto said = [](const json& e) {
      const std::string message = text_in(e, "message");
      return message.empty() ? text_in(e, "type") : text_in(e, "type") + ": " + message;
    };
    row.fault = said(*error);
    message_ = text_in(*error, "message");
    for (const json& cause : error->value("causes", json::array())) row.causes.push_back(said(cause) + " at " + text_in(cause, "where"));
    if (std::string where = text_in(*error, "where"); !where.empty()) row.causes.insert(row.causes.begin(), "raised at " + where);
  }

  // What the process has loaded is what the next library finds.
  Expected<void> note_libraries(const Answer& answer) {
    if (answer.death) return {};
    auto mapped = worker_.call("origins.mapped_libraries");
    if (!mapped) return tl::make_unexpected(mapped.error());
    if (!mapped->answered()) return {};
    present_.clear();
    for (const auto& [key, value] : record_.interpreter)
      if (key == "real_executable") present_.push_back(value);
    for (const json& path : mapped->value) present_.push_back(text_of(path));
    return {};
  }

  void explain(OriginRow& row) {
    ImportFault fault{message_.empty() ? row.fault : message_, libraries_[row.module], {}};
    message_.clear();
    for (const DistributionRow& d : row.distributions) fault.requires_.insert(fault.requires_.end(), d.requires_.begin(), d.requires_.end());
    if (fault.libraries.empty() && row.kind == "extension") fault.libraries.push_back(row.found);
    row.why = explain_import(fault, present_, torch_, row.libraries);
  }

  Expected<void> properties(const char* question, Properties& out, const char* what) {
    auto value = ask(question, json::object(), what);
    if (!value) return tl::make_unexpected(value.error());
    flatten("", *value, out);
    return {};
  }

  static void flatten(const std::string& prefix, const json& value, Properties& out) {
    if (value.is_object() || value.is_array()) {
      size_t i = 0;
      for (const auto& [key, inner] : value.items()) {
        const std::string name = value.is_array() ? std::to_string(i++) : key;
        flatten(prefix.empty() ? name : prefix + '.' + name, inner, out);
      }
    } else if (!prefix.empty()) {
      out.emplace_back(prefix, text_of(value));
    }
  }

  const PreflightQuestion& question_;
  Worker& worker_;
  PreflightRecord record_;
  std::map<std::string, std::vector<std::string>> libraries_;  // of the distributions of a module
  std::vector<std::string> present_;
  std::string torch_, message_;
};

}  // namespace

Expected<PreflightRecord> collect_preflight(const PreflightQuestion& question) {
  auto worker = Worker::start(question.worker);
  if (!worker) return tl::make_unexpected(worker.error());
  return Collector(question, **worker).run();
}

}  // namespace assay
