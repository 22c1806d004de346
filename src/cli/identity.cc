// identity CALLABLE: what stands behind a dotted name in the user's interpreter.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "report/text_table.h"
#include "runtime/identify.h"

namespace assay {

namespace {

std::string identity_text(const Identity& i) {
  TextTable table;
  auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) table.add({key, printable(value)});
  };
  add("name", i.name);
  add("kind", i.kind);
  add("distribution", i.distribution);
  add("file", i.file);
  add("hash", i.file_hash);
  if (i.first_line != 0) add("source", fmt::format("lines {} to {}, hash {}", i.first_line, i.last_line, i.source_hash));
  add("signature", i.signature);
  for (const std::string& layer : i.layers) add("layer", layer);
  for (const std::string& schema : i.schemas) add("schema", schema);
  for (const auto& [key, place] : i.kernels) add("kernel", key + ": " + place);
  for (const LibraryRow& library : i.libraries) {
    add("library", library.path + (library.hash.empty() ? "" : ", hash " + library.hash));
    add("  needs", fmt::format("{}", fmt::join(library.needed, ", ")));
    add("  not found", fmt::format("{}", fmt::join(library.not_found, ", ")));
    add("  undefined", fmt::format("{}", fmt::join(library.missing, "; ")));
    add("  fault", library.fault);
  }
  for (const auto& [key, value] : i.builds) add("build", key + " = " + value);
  add("fault", i.fault);
  add("because", i.why);
  add("fingerprint", i.fingerprint);
  return table.text("");
}

// What became of origins.load; empty: it is there.
std::string import_fault(const Answer& loaded) {
  if (!loaded.answered()) return loaded.fault();
  auto error = loaded.value.find("error");
  if (error == loaded.value.end()) return "";
  return fmt::format("{}: {}", error->value("type", ""), error->value("message", ""));
}

}  // namespace

Expected<ExitCode> identity_command(const Options& options) {
  const bool json = options.format == "json";
  if (!json && !options.format.empty() && options.format != "text") return unknown_name("format", options.format, {"text", "json"});
  if (auto output = check_output(options.output); !output) return tl::make_unexpected(output.error());
  auto limit = time_limit(options);
  if (!limit) return tl::make_unexpected(limit.error());
  WorkerOptions how;
  if (!options.python.empty()) how.python = options.python;
  how.call_limit = *limit;
  auto worker = Worker::start(how);
  if (!worker) return tl::make_unexpected(worker.error());
  // What registers an operator, for instance, has to be imported first.
  for (const std::string& module : options.imports) {
    auto loaded = (*worker)->call("origins.load", {{"module", module}});
    if (!loaded) return tl::make_unexpected(loaded.error());
    if (std::string fault = import_fault(*loaded); !fault.empty())
      return fail(fmt::format("import {}: {}", printable(module), printable(without_credentials(fault))));
  }
  auto identity = identify(**worker, options.callable);
  if (!identity) return tl::make_unexpected(identity.error());
  auto written = write_output(options.output, json ? identity_to_json(*identity) : identity_text(*identity));
  if (!written) return tl::make_unexpected(written.error());
  return identity->fault.empty() ? kExitClean : kExitFindings;
}

}  // namespace assay
