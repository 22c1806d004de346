#include "python/signature.h"

#include <algorithm>

namespace assay {
namespace {

constexpr size_t kLongestDefault = 40;  // bytes of source shown in messages

bool has_kind(const Signature& signature, ParameterKind kind) {
  return std::any_of(signature.parameters.begin(), signature.parameters.end(),
                     [kind](const Parameter& p) { return p.kind == kind; });
}

// Reads the children of `parameters` one by one; what `/`, `*` and `*args` mean depends on what came before.
class ParameterReader {
 public:
  explicit ParameterReader(Signature& out) : out_(out) {}

  void add(Node node) {
    switch (node.kind()) {
      case Kind::k_identifier:
        add_named(node, node);
        break;
      case Kind::k_default_parameter:
      case Kind::k_typed_default_parameter:
        add_named(node, node.child(Field::k_name));
        break;
      case Kind::k_typed_parameter:
        add_named(node, node.first_child());
        break;
      case Kind::k_list_splat_pattern:
      case Kind::k_dictionary_splat_pattern:
        add_named(node, node);
        break;
      case Kind::k_positional_separator:
        for (Parameter& p : out_.parameters) {
          if (p.kind == ParameterKind::kPositionalOrKeyword) p.kind = ParameterKind::kPositionalOnly;
        }
        break;
      case Kind::k_keyword_separator:
        keyword_only_ = true;
        break;
      default:
        out_.incomplete = true;  // an error, or a tuple parameter of Python 2
    }
  }

 private:
  // `name` is an identifier, or a star pattern around one.
  void add_named(Node node, Node name) {
    Parameter p;
    p.node = node;
    p.kind = keyword_only_ ? ParameterKind::kKeywordOnly : ParameterKind::kPositionalOrKeyword;
    if (name.is(Kind::k_list_splat_pattern)) {
      p.kind = ParameterKind::kVarPositional;
      keyword_only_ = true;
    } else if (name.is(Kind::k_dictionary_splat_pattern)) {
      p.kind = ParameterKind::kVarKeyword;
    }
    if (p.is_variadic()) name = name.first_child();
    if (!name.is(Kind::k_identifier)) {
      out_.incomplete = true;
      return;
    }
    p.name = name.text();
    p.annotation = node.child(Field::k_type);
    p.default_value = node.child(Field::k_value);
    p.has_default = static_cast<bool>(p.default_value);
    out_.parameters.push_back(p);
  }

  Signature& out_;
  bool keyword_only_ = false;
};

void append_default(std::string& out, const Parameter& p) {
  std::string_view text = p.default_value.text();
  bool show = !text.empty() && text.size() <= kLongestDefault && text.find('\n') == std::string_view::npos;
  out += '=';
  out += show ? text : "...";
}

}  // namespace

bool Signature::accepts_var_positional() const { return has_kind(*this, ParameterKind::kVarPositional); }
bool Signature::accepts_var_keyword() const { return has_kind(*this, ParameterKind::kVarKeyword); }

const Parameter* Signature::find(std::string_view name) const {
  auto it = std::find_if(parameters.begin(), parameters.end(),
                         [name](const Parameter& p) { return p.name == name; });
  return it == parameters.end() ? nullptr : &*it;
}

bool Signature::accepts_keyword(std::string_view name) const {
  const Parameter* p = find(name);
  return (p && p->takes_keyword()) || accepts_var_keyword();
}

uint32_t Signature::positional_count() const {
  return static_cast<uint32_t>(std::count_if(parameters.begin(), parameters.end(),
                                             [](const Parameter& p) { return p.is_positional(); }));
}

uint32_t Signature::required_positional_count() const {
  return static_cast<uint32_t>(std::count_if(parameters.begin(), parameters.end(), [](const Parameter& p) {
    return p.is_positional() && p.is_required();
  }));
}

uint32_t Signature::required_count() const {
  return static_cast<uint32_t>(std::count_if(parameters.begin(), parameters.end(),
                                             [](const Parameter& p) { return p.is_required(); }));
}

Signature Signature::without_first() const {
  Signature out = *this;
  if (!out.parameters.empty() && out.parameters.front().is_positional()) {
    out.parameters.erase(out.parameters.begin());
  }
  return out;
}

Signature signature_of(Node node) {
  Signature out;
  if (node.is(Kind::k_decorated_definition)) node = node.child(Field::k_definition);
  if (!node.is_any(Kind::k_function_definition, Kind::k_lambda)) {
    out.incomplete = true;
    return out;
  }
  out.is_async = node.first_child().is(Kind::kAsync);
  out.is_lambda = node.is(Kind::k_lambda);
  out.return_annotation = node.child(Field::k_return_type);
  Node parameters = node.child(Field::k_parameters);
  if (!parameters && !out.is_lambda) out.incomplete = true;
  ParameterReader reader(out);
  for (Node child : parameters.children()) reader.add(child);
  return out;
}

std::string to_string(const Signature& signature) {
  std::string out = "(";
  const char* comma = "";
  auto separate = [&] {
    out += comma;
    comma = ", ";
  };
  bool star_seen = false;
  const Parameter* previous = nullptr;
  for (const Parameter& p : signature.parameters) {
    if (previous && previous->kind == ParameterKind::kPositionalOnly &&
        p.kind != ParameterKind::kPositionalOnly) {
      separate();
      out += '/';
    }
    if (p.kind == ParameterKind::kKeywordOnly && !star_seen) {
      separate();
      out += '*';
    }
    star_seen |= p.kind == ParameterKind::kVarPositional || p.kind == ParameterKind::kKeywordOnly;
    separate();
    if (p.kind == ParameterKind::kVarPositional) out += '*';
    if (p.kind == ParameterKind::kVarKeyword) out += "**";
    out += p.name;
    if (p.has_default) append_default(out, p);
    previous = &p;
  }
  if (previous && previous->kind == ParameterKind::kPositionalOnly) out += ", /";
  if (signature.incomplete) {
    separate();
    out += "...";
  }
  return out + ")";
}

}  // namespace assay
