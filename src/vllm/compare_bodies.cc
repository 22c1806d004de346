#include "vllm/compare_bodies.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <string>

namespace assay {

namespace {

constexpr double kRelated = 0.25;  // share of common token triples from which on two bodies are related

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }

// The first statement of a body, where it is a string and nothing else.
bool is_docstring(Node statement) {
  Node string = statement.first_child();
  Node block = statement.parent();
  return statement.is(Kind::k_expression_statement) &&
         string.is_any(Kind::k_string, Kind::k_concatenated_string) && statement.child_count() == 1 &&
         block.first_child() == statement &&
         block.parent().is_any(Kind::k_function_definition, Kind::k_class_definition);
}

struct Range {
  uint32_t start, end;
};

// What is passed over (comments and docstrings), and what is one token (strings), in source order.
void special_ranges(Node part, std::vector<Range>& skipped, std::vector<Range>& whole) {
  for (Node n : part.descendants()) {
    if (is_docstring(n)) skipped.push_back({n.start(), n.end()});
    if (n.is(Kind::k_string)) whole.push_back({n.start(), n.end()});
  }
  for (const Comment& c : part.tree()->comments()) {
    if (c.start >= part.start() && c.end <= part.end()) skipped.push_back({c.start, c.end});
  }
  std::ranges::sort(skipped, {}, &Range::start);
}

const Range* range_at(const std::vector<Range>& ranges, size_t& next, uint32_t at) {
  while (next < ranges.size() && ranges[next].end <= at) ++next;
  return next < ranges.size() && ranges[next].start <= at ? &ranges[next] : nullptr;
}

void add_tokens(Node part, std::vector<std::string_view>& out) {
  if (!part) return;
  std::vector<Range> skipped, whole;
  special_ranges(part, skipped, whole);
  std::string_view source = part.tree()->source();
  size_t next_skipped = 0, next_whole = 0;
  for (uint32_t at = part.start(); at < part.end();) {
    if (const Range* r = range_at(skipped, next_skipped, at)) {
      at = r->end;
      continue;
    }
    uint32_t end = at + 1;
    if (const Range* r = range_at(whole, next_whole, at)) {
      end = r->end;
    } else if (is_word(source[at])) {
      while (end < part.end() && is_word(source[end])) ++end;
    }
    std::string_view token = source.substr(at, end - at);
    // Line continuations and trailing commas are layout.
    bool layout = std::isspace(static_cast<unsigned char>(token[0])) || token == "\\";
    bool closes = token == ")" || token == "]" || token == "}";
    if (closes && !out.empty() && out.back() == ",") out.pop_back();
    if (!layout) out.push_back(token);
    at = end;
  }
}

double common_share(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  auto triples = [](const std::vector<std::string_view>& tokens) {
    std::map<size_t, int> out;
    std::hash<std::string_view> hash;
    for (size_t i = 0; i + 2 < tokens.size(); ++i)
      ++out[(hash(tokens[i]) * 31 + hash(tokens[i + 1])) * 31 + hash(tokens[i + 2])];
    return out;
  };
  auto in_a = triples(a), in_b = triples(b);
  if (in_a.empty() || in_b.empty()) return 0;
  size_t common = 0;
  for (const auto& [hash, count] : in_a) {
    if (auto it = in_b.find(hash); it != in_b.end())
      common += static_cast<size_t>(std::min(count, it->second));
  }
  return static_cast<double>(common) / static_cast<double>(std::min(a.size(), b.size()) - 2);
}

std::map<std::string_view, Node> methods_of(Node cls) {
  std::map<std::string_view, Node> out;
  for (Node s : cls.child(Field::k_body).children()) {
    Node d = s.is(Kind::k_decorated_definition) ? s.child(Field::k_definition) : s;
    if (d.is(Kind::k_function_definition)) out[d.child(Field::k_name).text()] = d;
  }
  return out;
}

}  // namespace

const char* to_string(Difference difference) {
  switch (difference) {
    case Difference::kIdentical:
      return "identical";
    case Difference::kChanged:
      return "changed";
    case Difference::kUnrelated:
      return "unrelated";
  }
  return "";
}

std::vector<std::string_view> body_tokens(Node definition) {
  std::vector<std::string_view> out;
  if (definition.is_any(Kind::k_function_definition, Kind::k_lambda))
    add_tokens(definition.child(Field::k_parameters), out);
  add_tokens(definition.child(Field::k_body), out);
  return out;
}

Difference compare_bodies(Node ours, Node theirs) {
  if (!ours || !theirs) return Difference::kUnrelated;
  std::vector<std::string_view> a = body_tokens(ours), b = body_tokens(theirs);
  if (a == b && ours.kind() == theirs.kind()) return Difference::kIdentical;
  if (common_share(a, b) >= kRelated) return Difference::kChanged;
  if (!ours.is(Kind::k_class_definition) || !theirs.is(Kind::k_class_definition))
    return Difference::kUnrelated;
  std::map<std::string_view, Node> methods = methods_of(theirs);
  for (const auto& [name, method] : methods_of(ours)) {
    auto it = methods.find(name);
    if (it != methods.end() && common_share(body_tokens(method), body_tokens(it->second)) >= kRelated)
      return Difference::kChanged;
  }
  return Difference::kUnrelated;
}

}  // namespace assay
