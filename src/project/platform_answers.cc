// What the catalog knows of the platform, where the plugin's own class does not say it.
#include <algorithm>

#include "project/semantics.h"

namespace assay {

// The object is vLLM's current platform, by the name of the variable or by its class.
bool Semantics::is_platform(const Module& module, Node object) {
  std::string_view name = object.is(Kind::k_attribute) ? object.child(Field::k_attribute).text() : object.text();
  if (environment_.platform_variables.count(name)) return true;
  for (const Value& v : infer(module, object).list) {
    if (v.kind != ValueKind::kInstance && v.kind != ValueKind::kClass) continue;
    for (const auto& [variable, platforms] : environment_.instances) {
      for (const Value& p : platforms.list) {
        if (p.kind == ValueKind::kInstance && class_info(p.class_ref()).derives_from(v.class_ref())) return true;
      }
    }
  }
  return false;
}

// current_platform.is_cuda(), current_platform.is_device_capability(100) and the like.
Values Semantics::platform_call(const Module& module, Node call) {
  Node callee = call.child(Field::k_function);
  if (!callee.is(Kind::k_attribute)) return Values::unknown("");
  std::string_view name = callee.child(Field::k_attribute).text();
  if (auto it = environment_.platform_truth.find(name); it != environment_.platform_truth.end()) {
    return is_platform(module, callee.child(Field::k_object)) ? Values::of(bool_value(it->second)) : Values::unknown("");
  }
  const bool exact = name == "is_device_capability", least = name == "has_device_capability", family = name == "is_device_capability_family";
  if (!environment_.device_capability || !(exact || least || family) || !is_platform(module, callee.child(Field::k_object))) return Values::unknown("");
  Node argument = call.child(Field::k_arguments).child_at(0);
  int64_t wanted = 0;
  if (argument.is(Kind::k_tuple) && argument.child_count() == 2) {
    Values major = infer(module, argument.child_at(0)), minor = infer(module, argument.child_at(1));
    if (!major.single() || !minor.single() || major.single()->kind != ValueKind::kInteger || minor.single()->kind != ValueKind::kInteger) return Values::unknown("");
    wanted = major.single()->number * 10 + minor.single()->number;
  } else {
    Values number = infer(module, argument);
    if (!number.single() || number.single()->kind != ValueKind::kInteger) return Values::unknown("");
    wanted = number.single()->number;
  }
  const int64_t has = environment_.device_capability;
  return Values::of(bool_value(exact ? has == wanted : least ? has >= wanted : has / 10 == wanted / 10));
}

// A parameter of an override for which the target's callers have only one value left.
Values Semantics::settled_argument(const Module& module, Node function, std::string_view parameter) {
  if (environment_.settled_arguments.empty() || !function.is(Kind::k_function_definition)) return Values::unknown("");
  std::string suffix = "." + std::string(function.child(Field::k_name).text()) + "(" + std::string(parameter) + ")";
  for (const auto& [hook, value] : environment_.settled_arguments) {
    if (!hook.ends_with(suffix)) continue;
    Node owner = enclosing_class(module.scopes(), function);
    Values base = resolve_dotted(std::string_view(hook).substr(0, hook.size() - suffix.size()));
    if (!owner || !base.single() || base.single()->kind != ValueKind::kClass) continue;
    if (class_info({&module, owner.id()}).derives_from(base.single()->class_ref())) return Values::of(bool_value(value));
  }
  return Values::unknown("");
}

}  // namespace assay
