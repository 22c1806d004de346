// The plugin's entries in registries: calls and decorators that resolve to an extension point of the catalog.
#pragma once

#include <string>
#include <vector>

#include "project/semantics.h"
#include "vllm/catalog.h"
#include "vllm/loop_values.h"
#include "vllm/place.h"

namespace assay {

struct RegistrationSite {
  const ExtensionPoint* point = nullptr;
  std::string key;
  const Module* module = nullptr;
  Node place;                 // the decorator, or the call
  std::string effective;      // dotted name of what is registered; a class path as it is written
  Term value;                 // its definition, where that is known
  Place receiver;             // the class on which the registering method was called
  std::vector<Term> strings;  // the strings that name what is registered: no class paths of their own
};

// In the order of the files. One site per key: lists of keys and loops over literal tables are unrolled.
std::vector<RegistrationSite> find_registrations(Semantics& semantics, const Catalog& catalog,
                                                 const std::vector<const Module*>& modules);

}  // namespace assay
