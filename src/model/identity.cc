#include "model/identity.h"

#include "model/json_writer.h"

namespace assay {

std::string identity_to_json(const Identity& i) {
  JsonWriter out;
  out.begin_object();
  out.field("schema", "assay.identity/1");
  out.field("name", i.name);
  out.field("kind", i.kind);
  out.field("distribution", i.distribution);
  out.field("metadata", i.metadata);
  out.field("file", i.file);
  out.field("file_hash", i.file_hash);
  out.field("first_line", i.first_line);
  out.field("last_line", i.last_line);
  out.field("source_hash", i.source_hash);
  out.field("signature", i.signature);
  out.texts("layers", i.layers);
  out.texts("schemas", i.schemas);
  out.key("kernels");
  out.begin_object();
  for (const auto& [key, place] : i.kernels) out.field(key, place);
  out.end_object();
  out.key("libraries");
  out.begin_array();
  for (const LibraryRow& row : i.libraries) {
    out.begin_object();
    out.field("path", row.path);
    out.field("hash", row.hash);
    out.texts("needed", row.needed);
    out.texts("not_found", row.not_found);
    out.texts("missing", row.missing);
    out.field("fault", row.fault);
    out.end_object();
  }
  out.end_array();
  out.key("builds");
  out.begin_object();
  for (const auto& [key, value] : i.builds) out.field(key, value);
  out.end_object();
  out.field("fault", i.fault);
  out.field("why", i.why);
  out.field("fingerprint", i.fingerprint);
  out.end_object();
  return out.take();
}

}  // namespace assay
