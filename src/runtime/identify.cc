#include "runtime/identify.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "base/text.h"
#include "runtime/preflight.h"

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
      if (value.is_string()) out.push_back(value.get<std::string>());
  return out;
}

std::string file_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? content_hash(std::string(std::istreambuf_iterator<char>(file), {})) : std::string();
}

void flatten(const std::string& prefix, const json& value, Properties& out) {
  if (!value.is_structured()) {
    if (!prefix.empty()) out.emplace_back(prefix, value.is_string() ? without_credentials(value.get<std::string>()) : value.is_null() ? "" : value.dump());
    return;
  }
  size_t i = 0;
  for (const auto& [key, inner] : value.items()) {
    const std::string name = value.is_array() ? std::to_string(i++) : key;
    flatten(prefix.empty() ? name : prefix + '.' + name, inner, out);
  }
}

void fill(const json& value, Identity& out) {
  out.kind = text_in(value, "kind");
  out.signature = text_in(value, "signature");
  out.file = text_in(value, "file");
  out.file_hash = out.file.empty() ? "" : file_hash(out.file);
  if (auto source = value.find("source"); source != value.end()) {
    out.first_line = source->value("first_line", 0u);
    out.last_line = source->value("last_line", 0u);
    out.source_hash = content_hash(source->value("text", ""));
  }
  for (const json& layer : value.value("layers", json::array())) {
    const std::string place = layer.at(2).get<std::string>();
    out.layers.push_back(fmt::format("{} {}{}", layer.at(0).get<std::string>(), layer.at(1).get<std::string>(), place.empty() ? "" : " at " + place));
  }
  if (auto op = value.find("operator"); op != value.end()) {
    out.schemas = texts_in(*op, "schemas");
    for (const json& kernel : (*op)["kernels"]) out.kernels.emplace_back(kernel.at(0).get<std::string>(), kernel.at(1).get<std::string>());
  }
  if (auto d = value.find("distribution"); d != value.end() && d->is_array()) {
    out.distribution = d->at(0).get<std::string>() + ' ' + d->at(1).get<std::string>();
    out.metadata = d->at(2).get<std::string>();
  }
  const std::vector<std::string> mapped = texts_in(value, "mapped");
  for (const std::string& library : texts_in(value, "libraries")) out.libraries.push_back(examine_library(library, mapped));
  if (auto builds = value.find("builds"); builds != value.end()) flatten("", *builds, out.builds);
}

std::string fingerprint_of(const Identity& i) {
  std::string text = i.name + '\n' + i.kind + '\n' + i.distribution + '\n' + i.file_hash + '\n' + i.source_hash + '\n' + i.signature;
  for (const std::string& schema : i.schemas) text += '\n' + schema;
  for (const LibraryRow& library : i.libraries) text += '\n' + library.hash;
  for (const auto& [key, value] : i.builds) text += '\n' + key + '=' + value;
  return content_hash(text);
}

}  // namespace

Expected<Identity> identify(Worker& worker, const std::string& name) {
  auto answer = worker.call("identity.identify", {{"dotted", name}});
  if (!answer) return tl::make_unexpected(answer.error());
  Identity out;
  out.name = name;
  if (answer->answered()) {
    fill(answer->value, out);
    out.fingerprint = fingerprint_of(out);
    return out;
  }
  out.fault = without_credentials(answer->fault());
  if (answer->raised && answer->raised->type == "ImportError") {
    // A library that could not be loaded explains itself by its file.
    auto mapped = worker.call("origins.mapped_libraries");
    if (!mapped) return tl::make_unexpected(mapped.error());
    std::vector<std::string> present;
    if (mapped->answered())
      for (const json& path : mapped->value) present.push_back(path.get<std::string>());
    if (auto about = worker.call("environment.interpreter"); about && about->answered()) present.push_back(text_in(about->value, "real_executable"));
    out.why = explain_import({answer->raised->message, {}, {}}, present, "", out.libraries);
  }
  return out;
}

}  // namespace assay
