#include "project/value.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace assay {

namespace {
constexpr size_t kMostAlternatives = 12;  // beyond that an expression counts as unknown
}

void Values::add(const Value& v) {
  if (std::find(list.begin(), list.end(), v) != list.end()) return;
  if (list.size() >= kMostAlternatives) {
    open = true;
    reason = "too many alternatives";
    return;
  }
  list.push_back(v);
}

void Values::merge(const Values& other) {
  for (const Value& v : other.list) add(v);
  if (other.open && !open) {
    open = true;
    reason = other.reason;
  }
}

Value module_value(const Module& module) {
  Value v;
  v.kind = ValueKind::kModule;
  v.module = &module;
  return v;
}

Value class_value(ClassRef ref) {
  Value v;
  v.kind = ValueKind::kClass;
  v.module = ref.module;
  v.node = ref.node;
  return v;
}

Value instance_value(ClassRef ref) {
  Value v = class_value(ref);
  v.kind = ValueKind::kInstance;
  return v;
}

Value external_value(std::string_view interned_dotted) {
  Value v;
  v.kind = ValueKind::kExternal;
  v.text = interned_dotted;
  return v;
}

Value string_constant(std::string_view interned) {
  Value v;
  v.kind = ValueKind::kString;
  v.text = interned;
  return v;
}

Value bool_value(bool b) {
  Value v;
  v.kind = ValueKind::kBool;
  v.number = b;
  return v;
}

Value integer_value(int64_t n) {
  Value v;
  v.kind = ValueKind::kInteger;
  v.number = n;
  return v;
}

Truth equal(const Value& a, const Value& b) {
  auto number = [](const Value& v) { return v.kind == ValueKind::kInteger || v.kind == ValueKind::kBool; };
  if (number(a) && number(b)) return truth_of(a.number == b.number);
  if (a.kind == ValueKind::kVersion && b.kind == ValueKind::kVersion) return truth_of(compare_versions(a.text, b.text) == 0);
  auto constant = [&](const Value& v) { return number(v) || v.kind == ValueKind::kString || v.kind == ValueKind::kNone; };
  if (constant(a) && constant(b)) return truth_of(a.kind == b.kind && a.text == b.text);
  bool members = a.kind == ValueKind::kInstance && b.kind == ValueKind::kInstance && !a.text.empty() && !b.text.empty();
  if (members && a.class_ref() == b.class_ref()) return truth_of(a.text == b.text);
  bool objects = a.kind == b.kind && (a.kind == ValueKind::kClass || a.kind == ValueKind::kFunction || a.kind == ValueKind::kModule);
  if (objects) return truth_of(a.module == b.module && a.node == b.node);
  auto certainly_object = [](const Value& v) {
    return v.kind == ValueKind::kClass || v.kind == ValueKind::kFunction || v.kind == ValueKind::kModule;
  };
  if ((a.kind == ValueKind::kNone && certainly_object(b)) || (b.kind == ValueKind::kNone && certainly_object(a))) return Truth::kNo;
  return Truth::kUnknown;
}

Truth truthiness(const Value& v) {
  switch (v.kind) {
    case ValueKind::kNone: return Truth::kNo;
    case ValueKind::kBool:
    case ValueKind::kInteger: return truth_of(v.number != 0);
    case ValueKind::kString: return truth_of(!v.text.empty());
    case ValueKind::kModule:
    case ValueKind::kClass:
    case ValueKind::kFunction: return Truth::kYes;
    case ValueKind::kLiteral: return truth_of(static_cast<bool>(v.definition().first_child()));
    default: return Truth::kUnknown;
  }
}

namespace {

// A version as comparable numbers: epoch-less release segments, then a phase (dev < a < b < rc < release < post).
struct Version {
  std::array<int64_t, 6> release{};
  int64_t phase = 4, phase_number = 0, dev = INT64_MAX;

  explicit Version(std::string_view s) {
    size_t i = 0;
    if (i < s.size() && (s[i] == 'v' || s[i] == 'V')) ++i;
    for (size_t n = 0; i < s.size() && std::isdigit(static_cast<unsigned char>(s[i]));) {
      int64_t value = number(s, i);
      if (n < release.size()) release[n++] = value;
      if (i + 1 < s.size() && s[i] == '.' && std::isdigit(static_cast<unsigned char>(s[i + 1]))) ++i;
    }
    while (i < s.size() && s[i] != '+') {
      std::string word;
      while (i < s.size() && std::isalpha(static_cast<unsigned char>(s[i]))) word += static_cast<char>(std::tolower(static_cast<unsigned char>(s[i++])));
      if (word.empty()) {
        ++i;
        continue;
      }
      int64_t value = number(s, i);
      if (word == "dev") dev = value;
      else if (word[0] == 'a') phase = 1, phase_number = value;
      else if (word[0] == 'b') phase = 2, phase_number = value;
      else if (word == "rc" || word == "c") phase = 3, phase_number = value;
      else if (word == "post") phase = 5, phase_number = value;
    }
    if (dev != INT64_MAX && phase == 4) phase = 0;
  }

  static int64_t number(std::string_view s, size_t& i) {
    int64_t value = 0;
    for (; i < s.size() && std::isdigit(static_cast<unsigned char>(s[i])); ++i) {
      if (value < INT64_MAX / 20) value = value * 10 + (s[i] - '0');
    }
    return value;
  }

  auto operator<=>(const Version&) const = default;
};

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  auto order = Version(a) <=> Version(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace assay
