// What assay knows of vLLM and of the world around it: the TOML files of catalog/, and the user's own.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/report.h"
#include "project/semantics.h"

namespace assay {

// How the registry's key arises; the words of catalog/extension_points.toml.
enum class KeyRule : uint8_t { kString, kEnum, kBaseName, kClass, kClassType, kName, kOp, kOpProvider };

// A parameter of a registering function: by keyword, or at this position (self not counted; -1: keyword
// only).
struct ArgumentSpec {
  std::string name;
  int position = -1;
  std::string fallback;  // the parameter's default, where the key needs it
};

struct ExtensionPoint {
  std::string kind;                       // InventoryRow::kind
  std::vector<std::string> calls;         // dotted names of the registering function, across versions
  std::string method;                     // or: this method of what `on_result_of` made
  std::vector<std::string> on_result_of;  // dotted names
  KeyRule key_rule = KeyRule::kString;
  std::vector<ArgumentSpec> key;
  std::vector<ArgumentSpec> value;  // empty: what is decorated
  std::string name_space;           // of ops
  std::string upstream;             // enum-value | receiver | empty
  bool external = false;            // not vLLM's: the target needn't have it
  bool idle = false;                // nothing takes what is registered from there: it runs only where other code names it
  std::string file;                 // where the row stands
  uint32_t line = 0;
};

struct EntryPointGroup {
  std::string name;
  std::string when;         // startup | lazy
  bool class_path = false;  // the callable returns the class path of the platform
};

struct BaseClass {
  std::string role;
  std::vector<std::string> classes;  // dotted, the newest name first
};

struct Component {
  std::string name;
  std::string about;
  std::vector<std::string> imports;  // top-level modules
};

struct PlatformFacts {
  std::string name;
  std::string about;
  std::map<std::string, bool, std::less<>> truth;  // predicates by name; bases merged in
  int device_capability = 0;                       // as Environment has it
};

// A parameter of a hook for which all callers pass the same, or a setting that takes no other value, once the target has lost a module.
struct SettledArgument {
  std::string argument;  // "dotted.Class.method(parameter)", or the setting's dotted name
  bool value = false;
  std::string without;   // the module
};

struct Catalog {
  Externals externals;
  std::vector<std::pair<std::string, std::string>> generated_modules;  // as ProjectOptions takes them
  std::vector<PlatformFacts> platforms;
  std::vector<std::string> platform_variables;   // dotted names of the active platform
  std::vector<std::string> platform_interfaces;  // what a plugin's Platform derives from
  std::vector<ExtensionPoint> extension_points;
  std::vector<EntryPointGroup> entry_point_groups;
  std::vector<BaseClass> base_classes;
  std::vector<SettledArgument> settled_arguments;
  std::vector<Component> components;
  std::vector<std::string> settings_modules;            // whose classes hold vLLM's settings
  std::set<std::string, std::less<>> standard_library;  // top-level modules

  const PlatformFacts* platform(std::string_view name) const;
  std::vector<std::string> platform_names() const;
  const EntryPointGroup* entry_point_group(std::string_view name) const;
  const BaseClass* base_class(std::string_view role) const;
  // The component that a dotted import belongs to, or nullptr.
  const Component* component_of(std::string_view dotted) const;
};

// The built-in files, then the user's in order: rows are added; a platform or a component of a known name is
// replaced. An unknown key, a wrong type or a bad rule is an error that names file and line.
Expected<Catalog> load_catalog(const std::vector<std::string>& user_files);

// `--platform NAME|FILE`: a name of the catalog, or a TOML file that holds one platform.
Expected<PlatformFacts> load_platform(const Catalog& catalog, const std::string& name_or_file);

// Fills what the catalog knows of the platform into the environment.
void apply_platform(const Catalog& catalog, const PlatformFacts& platform, Environment& environment);

// Those of the catalog's settled arguments that hold for the target of this project.
void apply_settled(const Catalog& catalog, const Project& project, Environment& environment);

// Rows that the target no longer has under any of their names, for "not analysed".
std::vector<Unknown> missing_extension_points(Semantics& semantics, const Catalog& catalog);

}  // namespace assay
