// What names, expressions and conditions mean across the modules of a project. Everything is three-valued: an answer, or
// unknown with the reason. Caches as it goes; one instance per thread, over one shared Project.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "project/class_facts.h"
#include "project/project.h"
#include "project/value.h"
#include "python/bind.h"
#include "python/guards.h"
#include "python/signature.h"

namespace assay {

// What assay knows of things outside the project: see catalog/.
struct Externals {
  std::set<std::string, std::less<>> builtins;
  // Attributes of classes that are not ours, by dotted name; a class that is not listed is unknown.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> class_members;
  // Of those, the bases (dotted), for the ones that have any.
  std::map<std::string, std::vector<std::string>, std::less<>> class_bases;
  // Decorators that hand the function on as it is, by the end of their dotted name.
  std::set<std::string, std::less<>> transparent_decorators;
};

// Facts about the run that decide conditions.
struct Environment {
  // Dotted names of variables with what they hold: `vllm.platforms.current_platform` → the platform class.
  std::map<std::string, Values, std::less<>> instances;
  // Methods of the platform whose value is set by the user or the catalog, by name.
  std::map<std::string, bool, std::less<>> platform_truth;
  std::set<std::string, std::less<>> platform_variables;  // names whose methods platform_truth speaks of
  int device_capability = 0;  // major × 10 + minor, as the device reports it; 0: not known
  // What callers of a hook always pass, in the target's version: "class.method(parameter)", dotted → value.
  std::map<std::string, bool, std::less<>> settled_arguments;
};

// An attribute of a foreign module or class that the plugin assigns.
struct Patch {
  const Module* module = nullptr;  // where the assignment stands
  Node statement;
  Node value;          // the assigned expression or the decorated function; null if it can't be told
  std::string target;  // dotted name of what is replaced
};

struct PatchTable {
  // (module, class node or kNoNode) and attribute → patches.
  std::map<std::pair<std::pair<const Module*, NodeId>, std::string>, std::vector<Patch>> by_place;
  const std::vector<Patch>* find(const Module* module, NodeId owner, std::string_view name) const;
};

enum class Presence : uint8_t { kYes, kNo, kUnknown };

// One name in one module, class or instance.
struct Member {
  Presence presence = Presence::kUnknown;
  const char* reason = "";             // kUnknown: why
  const Module* module = nullptr;      // where the definitions stand
  std::vector<const Binding*> bindings;
  const Module* submodule = nullptr;   // the name is a module below the package
  ClassRef owner;                      // class members: the class of the MRO that has it
  std::string_view external_owner;     // or the external class
  std::vector<AttributeWrite> writes;  // instance attributes
  const std::vector<Patch>* patches = nullptr;
  std::string_view lazy_target;        // module __getattr__ table: "module:attribute"
  bool import_only = false;            // every live binding is an import
  bool type_checking_only = false;     // bound for type checkers alone (presence is kNo)
};

struct MroEntry {
  ClassRef ref;               // one of ours, or
  std::string_view external;  // the dotted name of a class that is not
};

struct ClassInfo {
  ClassRef ref;
  std::string name;  // dotted: module and enclosing classes
  std::vector<MroEntry> mro;  // the class itself first
  bool complete = true;       // every base was resolved; else `reason`
  std::string reason;
  bool consistent = true;     // false: the bases cannot be linearised
  bool dynamic = false;       // an own class of the MRO sets attributes in ways that can't be listed, or has __getattr__
  std::shared_ptr<const ClassFacts> facts;

  bool derives_from(std::string_view external_dotted) const;
  bool derives_from(ClassRef other) const;
};

// What a call of a value binds to.
struct Callable {
  bool known = false;
  const char* reason = "";  // not known: why
  Signature signature;      // without self, where that is given by the call
  // What inspect.signature shows where that says less: the wrapper, or the __new__, that hands everything on.
  std::optional<Signature> inspected;
  std::string name;         // dotted
  const Module* module = nullptr;
  Node definition;          // function_definition, lambda, or class_definition of a synthesised constructor
};

// The arguments of a function whose body is looked into.
struct Frame {
  std::map<std::string, Values, std::less<>> arguments;
  ClassRef self;  // the class of the receiver
};

class DefinitionIndex;

// Of one name or attribute. What is bound more often is generated, and too much to look at wherever it is used.
inline constexpr size_t kMostBindings = 1000;

class Semantics {
 public:
  Semantics(const Project& project, const Externals& externals, const Environment& environment, const PatchTable& patches);

  const Project& project() const { return project_; }
  // With them, the calls that make an object are asked for what its fields hold.
  void use(const DefinitionIndex& indexes) { indexes_ = &indexes; }
  const Environment& environment() const { return environment_; }
  const Externals& externals() const { return externals_; }

  // --- names ---------------------------------------------------------------------------------------------------------
  // What `from module import name` or `module.name` finds.
  Member module_member(const Module& module, std::string_view name);
  // Whether the name, though bound somewhere, may be missing all the same: under conditions that reading cannot decide, behind
  // an import in a `try` that may fail, or by a function that declares it `global`.
  bool may_be_unbound(const Member& member);
  Values values_of(const Member& member);
  // The dotted name, resolved from the longest module prefix on. `vllm.a.b.C.method`.
  Values resolve_dotted(std::string_view dotted);
  // The names a module exports to `import *`; false when they can't be listed.
  bool star_names(const Module& module, std::set<std::string_view>& out);

  // --- expressions ---------------------------------------------------------------------------------------------------
  Values infer(const Module& module, Node expression, const Frame* frame = nullptr);
  // The values that an object of the annotated type may be.
  Values infer_annotation(const Module& module, Node annotation);
  Values infer_binding(const Module& module, const Binding& binding, const Frame* frame = nullptr);
  // `value.name`.
  Values attribute(const Value& value, std::string_view name);
  Values call_result(const Value& callee, const Module& module, Node call, const Frame* frame = nullptr);

  // --- classes -------------------------------------------------------------------------------------------------------
  const ClassInfo& class_info(ClassRef ref);
  // In the class bodies along the MRO, from the class after `after` on.
  Member class_member(ClassRef ref, std::string_view name, ClassRef after = {});
  // Class members, then `self.name = …` along the MRO.
  Member instance_member(ClassRef ref, std::string_view name);
  bool is_enum(ClassRef ref);

  // --- calls ---------------------------------------------------------------------------------------------------------
  Callable callable(const Value& value);

  // --- conditions ----------------------------------------------------------------------------------------------------
  Truth condition(const Module& module, Node expression, const Frame* frame = nullptr);
  // Whether control can reach the place when the module is imported (or the function around it is called).
  // kNo: certainly not, on this platform with this target.
  Truth live(const Module& module, Node node);
  // The place runs only for type checkers.
  bool type_checking_only(const Module& module, Node node);
  // An undecided guard around the place asks for a version, a hasattr, or an import that may fail: another branch is
  // meant for the other answer.
  bool version_guarded(const Module& module, Node node);

  // --- text ----------------------------------------------------------------------------------------------------------
  std::string qualified_name(const Module& module, Node definition) const;
  std::string describe(const Value& value);

 private:
  friend class Inferer;
  struct Depth;

  Member own_module_member(const Module& module, std::string_view name);
  Member lazy_member(const Module& module, std::string_view name);
  Values infer_uncached(const Module& module, Node expression, const Frame* frame);
  Values infer_name(const Module& module, Node name, const Frame* frame);
  Values infer_literal(const Module& module, Node node);
  Values infer_subscript(const Module& module, Node node, const Frame* frame);
  Values infer_parameter(const Module& module, const Binding& binding, const Frame* frame);
  Values settled_argument(const Module& module, Node function, std::string_view parameter);
  Values unpacked(const Module& module, Node targets, Node target, Node value, const Frame* frame);
  Values infer_import(const Module& module, const Binding& binding);
  Values infer_operator(const Module& module, Node node, const Frame* frame);
  Values annotation_uncached(const Module& module, Node annotation);
  Values annotation_text(const Module& module, Node place, std::string_view text);
  Values annotation_subscript(const Module& module, Node annotation);
  Values narrowed(const Module& module, Node use, Values values);
  Values decorated(const Module& module, Node definition, Value value);
  Values module_attribute(const Module& module, std::string_view name);
  Values class_attribute(const Value& cls, std::string_view name);
  Values instance_attribute(const Value& instance, std::string_view name);
  Values super_attribute(const Value& super, std::string_view name);
  Values member_as_attribute(const Member& member, std::string_view name, ClassRef on, bool on_instance);
  Values function_result(const Value& function, const Module& module, Node call, const Frame* frame);
  Values returned(const Value& function, const Frame& frame);
  Values builtin_call(std::string_view name, const Module& module, Node call, const Frame* frame);
  Values super_value(const Module& module, Node call, const Frame* frame);
  Values platform_call(const Module& module, Node call);
  bool has_subclass(const ClassInfo& info);
  Values constructed_field(const Module& module, Node attribute);
  Values loop_column(const Module& module, Node attribute);
  bool may_be_skipped(const Module& module, Node statement);
  bool is_platform(const Module& module, Node object);
  Truth some_import_fails(const Module& module, Node try_statement);
  Truth import_fails(const Module& module, Node statement);
  Truth comparison(const Module& module, Node node, const Frame* frame);
  Truth has_attribute(const Module& module, Node object, Node name, const Frame* frame);
  std::vector<const Binding*> reaching(const Module& module, std::span<const Binding> all, Node use, bool same_scope, bool for_types);
  Callable constructor(ClassRef ref);
  Callable plain_constructor(ClassRef ref);
  Value replaced_init(const ClassInfo& info);
  Callable function_callable(const Value& value);
  bool synthesised_constructor(const ClassInfo& info, Callable& out);
  void build_class(ClassInfo& info);
  bool changed_by_decorators(const ClassInfo& info);
  bool evaluate_guards(const Module& module, Node node, Truth& out, bool& types_only, bool& versions);

  const Project& project_;
  const Externals& externals_;
  const Environment& environment_;
  const PatchTable& patches_;
  const DefinitionIndex* indexes_ = nullptr;

  using Key = std::pair<const Module*, NodeId>;
  struct KeyHash {
    size_t operator()(const Key& k) const { return std::hash<const void*>()(k.first) * 31 + k.second; }
  };
  struct GuardState {
    Truth live;
    bool types_only;
    bool versions;
  };
  std::unordered_map<Key, Values, KeyHash> values_;
  std::unordered_map<Key, Values, KeyHash> annotations_;
  std::unordered_map<Key, GuardState, KeyHash> guards_;
  std::map<ClassRef, std::unique_ptr<ClassInfo>> classes_;
  std::map<std::pair<const Module*, std::string>, Member> members_;
  std::map<std::pair<ClassRef, std::string>, Values> fields_;
  std::map<const Module*, bool> writes_globals_;
  std::set<Key> active_calls_;
  std::set<Key> active_members_;
  int depth_ = 0;
  int followed_ = 0;  // bodies looked into for the outermost call
};

}  // namespace assay
