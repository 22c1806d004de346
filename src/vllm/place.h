// Where an expression's object lives: the dotted path by which everybody else knows it.
#pragma once

#include <string>
#include <string_view>

#include "project/semantics.h"

namespace assay {

enum class PlaceKind : uint8_t {
  kNone,      // not known
  kModule,    // a module
  kClass,     // a class
  kInstance,  // an object of a known class; `dotted` is the class's
  kObject,    // any other attribute of a module or class
};

struct Place {
  PlaceKind kind = PlaceKind::kNone;
  std::string dotted;  // canonical: re-exports followed to the definition; as imported where that is missing
  const Module* module = nullptr;  // kModule; kObject: the module that defines it. Null outside the project
  ClassRef cls;                    // kClass, kInstance; kObject: the class whose attribute it is
  bool shared = true;    // kObject: false where each instance has its own (set in a method, a field)
  bool setting = false;  // kObject: a field of a dataclass that its maker passes, and by its type a table

  explicit operator bool() const { return kind != PlaceKind::kNone; }
};

Place place_of(Semantics& semantics, const Module& module, Node expression);
// The attribute `name` of what stands at `base`, as an object of its own.
Place member_place(Semantics& semantics, const Place& base, std::string_view name);
// From an absolute dotted name, as in importlib.import_module("…") or a class path.
Place place_of_dotted(Semantics& semantics, std::string_view dotted);

// It belongs to neither this tree nor the function's own world: target, component, or outside the project.
bool is_foreign(const Place& place, const SourceTree& plugin);

}  // namespace assay
