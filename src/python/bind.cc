#include "python/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace assay {
namespace {

// The text of a plain string literal without prefix and escapes, as a view into the source.
bool plain_string(Node node, std::string_view& out) {
  std::string_view text = node.text();
  if (!node.is(Kind::k_string) || text.size() < 2 || text.find('\\') != std::string_view::npos) return false;
  if ((text[0] != '"' && text[0] != '\'') || text[1] == text[0]) return false;
  out = text.substr(1, text.size() - 2);
  return true;
}

class ShapeReader {
 public:
  explicit ShapeReader(CallShape& out) : out_(out) {}

  void add(Node argument) {
    // Bytes, not kinds: the grammar takes `*a.b()` among arguments for `(*a).b()` now and then.
    bool starred = argument.text().starts_with('*');
    if (starred && !argument.is_any(Kind::k_list_splat, Kind::k_dictionary_splat)) {
      (argument.text().starts_with("**") ? out_.star_kwargs : out_.star_args) = true;
      return;
    }
    switch (argument.kind()) {
      case Kind::kError:
        out_.unreadable = true;
        break;
      case Kind::k_keyword_argument:
        add_keyword_argument(argument);
        break;
      case Kind::k_list_splat:
      case Kind::k_parenthesized_list_splat:
        add_star(strip_parens(argument.first_child()));
        break;
      case Kind::k_dictionary_splat:
        add_double_star(strip_parens(argument.first_child()));
        break;
      default:
        add_positional(argument);
    }
  }

  // `*expression`
  void add_star(Node expression) {
    bool literal = expression.is_any(Kind::k_list, Kind::k_tuple);
    for (Node element : expression.children()) literal = literal && !element.text().starts_with('*');
    if (!literal) {
      out_.star_args = true;
      return;
    }
    for (Node element : expression.children()) add_positional(element);
  }

  // `**expression`
  void add_double_star(Node expression) {
    std::string_view key;
    bool literal = expression.is(Kind::k_dictionary);
    for (Node pair : expression.children()) literal = literal && plain_string(pair.child(Field::k_key), key);
    if (!literal) {
      out_.star_kwargs = true;
      return;
    }
    for (Node pair : expression.children()) {
      plain_string(pair.child(Field::k_key), key);
      add_keyword(key, pair.child(Field::k_value));
    }
  }

 private:
  void add_positional(Node value) {
    ++out_.positional;
    if (!out_.star_args) ++out_.positional_before_star;
    out_.positional_values.push_back(value);
  }

  void add_keyword_argument(Node argument) {
    Node name = argument.child(Field::k_name);
    if (!name.is(Kind::k_identifier)) {
      out_.unreadable = true;
      return;
    }
    add_keyword(name.text(), argument.child(Field::k_value));
  }

  void add_keyword(std::string_view name, Node value) {
    out_.keywords.push_back(name);
    out_.keyword_values.push_back(value);
  }

  CallShape& out_;
};

Node value_at(const std::vector<Node>& values, size_t i) { return i < values.size() ? values[i] : Node(); }

// Finds parameters by name; a table only where a linear search would be quadratic in hostile input.
class NameIndex {
 public:
  NameIndex(const Signature& signature, size_t lookups) : parameters_(signature.parameters) {
    use_table_ = parameters_.size() * lookups > 4096;
    if (!use_table_) return;
    for (size_t i = 0; i < parameters_.size(); ++i) table_.emplace(parameters_[i].name, i);
  }
  size_t find(std::string_view name) const {
    if (use_table_) {
      auto it = table_.find(name);
      return it == table_.end() ? parameters_.size() : it->second;
    }
    size_t i = 0;
    while (i < parameters_.size() && parameters_[i].name != name) ++i;
    return i;
  }

 private:
  const std::vector<Parameter>& parameters_;
  std::unordered_map<std::string_view, size_t> table_;
  bool use_table_ = false;
};

class Binder {
 public:
  Binder(const Signature& signature, const CallShape& call) : parameters_(signature.parameters), call_(call) {
    result_.arguments.resize(parameters_.size());
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].is_positional()) positional_.push_back(i);
    }
    filled_ = std::min<size_t>(call.positional, positional_.size());
    has_var_positional_ = signature.accepts_var_positional();
    has_var_keyword_ = signature.accepts_var_keyword();
  }

  BindResult run(const Signature& signature) {
    note_repeated_keywords();
    place_positionals();
    place_keywords(NameIndex(signature, call_.keywords.size()));
    if (call_.positional > positional_.size() && !has_var_positional_) {
      result_.given = call_.positional;
      result_.allowed = static_cast<uint32_t>(positional_.size());
      raise(BindOutcome::kTooManyPositional);
    }
    collect_missing();
    if (!result_.missing.empty()) raise(BindOutcome::kMissing);
    if (call_.star_args || call_.star_kwargs) raise(BindOutcome::kUnknown);
    return std::move(result_);
  }

 private:
  // The first one counts: faults are looked for in CPython's order.
  void raise(BindOutcome outcome) {
    if (result_.outcome == BindOutcome::kOk) result_.outcome = outcome;
  }

  // The same keyword twice, one through a literal `**{…}`: raised before the callee is looked at.
  void note_repeated_keywords() {
    if (call_.keywords.size() < 2) return;
    std::vector<std::string_view> sorted = call_.keywords;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i] != sorted[i - 1] || (i > 1 && sorted[i] == sorted[i - 2])) continue;
      result_.multiple.push_back(sorted[i]);
      raise(BindOutcome::kMultipleValues);
    }
    repeated_ = result_.multiple.size();
  }

  void place_positionals() {
    for (size_t i = 0; i < filled_; ++i) {
      BoundArgument& argument = result_.arguments[positional_[i]];
      argument.given = Given::kPositional;
      bool certain = !call_.star_args || i < call_.positional_before_star;
      if (certain) argument.value = value_at(call_.positional_values, i);
    }
  }

  void place_keywords(const NameIndex& names) {
    for (size_t k = 0; k < call_.keywords.size(); ++k) {
      std::string_view name = call_.keywords[k];
      size_t i = names.find(name);
      if (i < parameters_.size() && parameters_[i].takes_keyword()) {
        place_keyword(i, name, value_at(call_.keyword_values, k));
      } else if (!has_var_keyword_) {
        reject_keyword(name, i < parameters_.size() && parameters_[i].kind == ParameterKind::kPositionalOnly);
      }
    }
    // CPython names positional-only parameters in preference to unknown keywords, wherever they stand in the
    // call.
    if (result_.outcome == BindOutcome::kUnexpectedKeyword && !result_.positional_only.empty()) {
      result_.outcome = BindOutcome::kPositionalOnlyAsKeyword;
    }
  }

  void place_keyword(size_t i, std::string_view name, Node value) {
    BoundArgument& argument = result_.arguments[i];
    if (argument.given == Given::kKeyword) return;  // noted as repeated
    if (argument.given == Given::kPositional) {
      auto repeated_end = result_.multiple.begin() + static_cast<ptrdiff_t>(repeated_);
      if (!std::binary_search(result_.multiple.begin(), repeated_end, name)) result_.multiple.push_back(name);
      raise(BindOutcome::kMultipleValues);
      return;
    }
    argument = {Given::kKeyword, value};
  }

  void reject_keyword(std::string_view name, bool is_positional_only) {
    (is_positional_only ? result_.positional_only : result_.unexpected).push_back(name);
    raise(is_positional_only ? BindOutcome::kPositionalOnlyAsKeyword : BindOutcome::kUnexpectedKeyword);
  }

  // `*x` can fill positional parameters only up to the first one that a keyword gives already.
  size_t reach_of_star() const {
    if (!call_.star_args) return filled_;
    size_t reach = filled_;
    while (reach < positional_.size() && result_.arguments[positional_[reach]].given != Given::kKeyword)
      ++reach;
    return reach;
  }

  void collect_missing() {
    size_t reach = reach_of_star();
    std::vector<std::string_view> keyword_only;
    for (size_t i = 0, place = 0; i < parameters_.size(); ++i) {
      const Parameter& p = parameters_[i];
      bool by_star = p.is_positional() && place++ < reach;
      if (p.is_variadic() || result_.arguments[i].given != Given::kNo) continue;
      bool by_double_star = call_.star_kwargs && p.takes_keyword();
      if (by_star || by_double_star) {
        result_.arguments[i].given = Given::kPerhaps;
      } else if (p.is_required()) {
        (p.is_positional() ? result_.missing : keyword_only).push_back(p.name);
      }
    }
    result_.missing.insert(result_.missing.end(), keyword_only.begin(), keyword_only.end());
  }

  const std::vector<Parameter>& parameters_;
  const CallShape& call_;
  BindResult result_;
  std::vector<size_t> positional_;  // parameter indices
  size_t filled_ = 0;               // how many of these the plain positional arguments certainly fill
  size_t repeated_ = 0;  // how many names at the front of result_.multiple are repeated keywords (sorted)
  bool has_var_positional_ = false, has_var_keyword_ = false;
};

std::string quoted_list(const std::vector<std::string_view>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += '\'';
    out += names[i];
    out += '\'';
  }
  return out;
}

const char* plural(size_t n) { return n == 1 ? "" : "s"; }

}  // namespace

CallShape call_shape(Node node) {
  CallShape out;
  out.node = node;
  Node arguments = node.is(Kind::k_call) ? node.child(Field::k_arguments) : node;
  ShapeReader reader(out);
  if (arguments.is(Kind::k_generator_expression)) {  // f(x for x in y)
    reader.add(arguments);
  } else if (arguments.is(Kind::k_argument_list)) {
    for (Node argument : arguments.children()) reader.add(argument);
  } else {
    out.unreadable = true;
  }
  return out;
}

CallShape with_leading(CallShape call, Node value) {
  call.positional_values.resize(call.positional);
  call.positional_values.insert(call.positional_values.begin(), value);
  ++call.positional;
  ++call.positional_before_star;
  return call;
}

CallShape without_leading(CallShape call, uint32_t n) {
  if (call.positional_before_star < n) {
    call.unreadable = true;
    return call;
  }
  call.positional -= n;
  call.positional_before_star -= n;
  auto begin = call.positional_values.begin();
  call.positional_values.erase(begin, begin + std::min<ptrdiff_t>(n, call.positional_values.end() - begin));
  return call;
}

CallShape partial_call(const CallShape& bound, const CallShape& call) {
  CallShape out = bound;
  out.node = call.node;
  out.positional_values.resize(bound.positional);
  out.positional_values.insert(out.positional_values.end(), call.positional_values.begin(),
                               call.positional_values.end());
  out.positional += call.positional;
  if (!bound.star_args) out.positional_before_star += call.positional_before_star;
  out.keyword_values.resize(bound.keywords.size());
  std::unordered_map<std::string_view, size_t> replaceable;
  for (size_t k = 0; k < bound.keywords.size(); ++k) replaceable.emplace(bound.keywords[k], k);
  for (size_t k = 0; k < call.keywords.size(); ++k) {
    Node value = value_at(call.keyword_values, k);
    if (auto it = replaceable.find(call.keywords[k]); it != replaceable.end()) {
      out.keyword_values[it->second] = value;
      replaceable.erase(it);  // once: a keyword that the call itself repeats stays a fault
    } else {
      out.keywords.push_back(call.keywords[k]);
      out.keyword_values.push_back(value);
    }
  }
  out.star_args |= call.star_args;
  out.star_kwargs |= call.star_kwargs;
  out.unreadable |= call.unreadable;
  return out;
}

CallShape applied_call(Node args, Node kwargs) {
  CallShape out;
  ShapeReader reader(out);
  if (args) reader.add_star(strip_parens(args));
  if (kwargs) reader.add_double_star(strip_parens(kwargs));
  return out;
}

BindResult bind(const Signature& signature, const CallShape& call) {
  if (signature.incomplete || call.unreadable) {
    BindResult result;
    result.outcome = BindOutcome::kUnknown;
    result.arguments.resize(signature.parameters.size(), {Given::kPerhaps, Node()});
    return result;
  }
  return Binder(signature, call).run(signature);
}

std::string describe(const BindResult& r) {
  switch (r.outcome) {
    case BindOutcome::kOk:
    case BindOutcome::kUnknown:
      return {};
    case BindOutcome::kMissing:
      return fmt::format("missing {} required argument{}: {}", r.missing.size(), plural(r.missing.size()),
                         quoted_list(r.missing));
    case BindOutcome::kUnexpectedKeyword:
      return fmt::format("unexpected keyword argument{} {}", plural(r.unexpected.size()),
                         quoted_list(r.unexpected));
    case BindOutcome::kTooManyPositional:
      return fmt::format("takes {} positional argument{} but {} {} given", r.allowed, plural(r.allowed),
                         r.given, r.given == 1 ? "is" : "are");
    case BindOutcome::kMultipleValues:
      return fmt::format("multiple values for argument{} {}", plural(r.multiple.size()),
                         quoted_list(r.multiple));
    case BindOutcome::kPositionalOnlyAsKeyword:
      return fmt::format("positional-only argument{0} passed as keyword{0}: {1}",
                         plural(r.positional_only.size()), quoted_list(r.positional_only));
  }
  return {};
}

}  // namespace assay
