#include <array>
#include <cctype>

#include "python/syntax_check_parts.h"

namespace assay::syntax_check {
namespace {

struct Prefix {
  size_t length = 0;
  bool raw = false, bytes = false, formatted = false;
};

Prefix prefix_of(std::string_view text) {
  Prefix p;
  while (p.length < text.size() && text[p.length] != '"' && text[p.length] != '\'' && text[p.length] != '`') {
    char c = static_cast<char>(text[p.length++] | 32);
    p.raw |= c == 'r';
    p.bytes |= c == 'b';
    p.formatted |= c == 'f' || c == 't';
  }
  return p;
}

bool is_known_prefix(std::string_view prefix) {
  static constexpr std::array<std::string_view, 12> kKnown = {"",   "r",  "u",  "b", "f",  "br",
                                                              "rb", "fr", "rf", "t", "tr", "rt"};
  std::string lower(prefix);
  for (char& c : lower) c = static_cast<char>(c | 32);
  for (std::string_view k : kKnown) {
    if (k == lower) return true;
  }
  return false;
}

// Hexadecimal digits at text[i…], at most `most`.
size_t hex_digits(std::string_view text, size_t i, size_t most) {
  size_t n = 0;
  while (n < most && i + n < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + n]))) ++n;
  return n;
}

// What is wrong with the escape at text[i] == '\\'; nullptr if nothing.
const char* escape_fault(std::string_view text, size_t i, bool bytes) {
  char c = i + 1 < text.size() ? text[i + 1] : '\0';
  if (c == 'x') return hex_digits(text, i + 2, 2) == 2 ? nullptr : "truncated \\xXX escape";
  if (bytes) return nullptr;
  if (c == 'u') return hex_digits(text, i + 2, 4) == 4 ? nullptr : "truncated \\uXXXX escape";
  if (c == 'U') {
    if (hex_digits(text, i + 2, 8) != 8) return "truncated \\UXXXXXXXX escape";
    std::string_view high = text.substr(i + 2, 4);
    return high.substr(0, 2) == "00" && (high < std::string_view("0011")) ? nullptr
                                                                          : "illegal Unicode character";
  }
  if (c == 'N' && (i + 2 >= text.size() || text[i + 2] != '{')) return "malformed \\N character escape";
  if (c == 'N' && text.find('}', i + 2) == std::string_view::npos) return "malformed \\N character escape";
  return nullptr;
}

void check_escapes(Node string, std::string_view text, uint32_t start, const Prefix& prefix,
                   ErrorList& errors) {
  for (size_t i = 0; !prefix.raw && (i = text.find('\\', i)) != std::string_view::npos; i += 2) {
    if (const char* fault = escape_fault(text, i, prefix.bytes)) {
      errors.add(start + static_cast<uint32_t>(i), fault);
      return;
    }
  }
  if (!prefix.bytes) return;
  for (char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      errors.add(string, "bytes can only contain ASCII literal characters");
      return;
    }
  }
}

void check_string(Node node, ErrorList& errors) {
  std::string_view text = node.text();
  Prefix prefix = prefix_of(text);
  if (text.starts_with('`')) {
    errors.add(node, "invalid syntax: backquotes of Python 2");
  } else if (!is_known_prefix(text.substr(0, prefix.length))) {
    errors.add(node, "invalid syntax: unknown string prefix");
  } else if (!prefix.formatted) {
    check_escapes(node, text, node.start(), prefix, errors);
  }
}

bool is_bytes(Node string) { return prefix_of(string.text()).bytes; }

void check_concatenated(Node node, ErrorList& errors) {
  Node first = node.first_child();
  for (Node part : node.children()) {
    if (is_bytes(part) != is_bytes(first)) {
      errors.add(part, "cannot mix bytes and nonbytes literals");
      return;
    }
  }
}

void check_interpolation(Node node, ErrorList& errors) {
  for (Node part : node.children()) {
    if (part.is(Kind::k_lambda)) errors.add(part, "f-string: lambda expressions must be parenthesized");
    std::string_view text = part.text();
    if (part.is(Kind::kOther) && text.starts_with('!') && text != "!r" && text != "!s" && text != "!a") {
      errors.add(part, "f-string: invalid conversion character: expected 's', 'r', or 'a'");
    }
  }
}

void check_integer(Node node, ErrorList& errors) {
  std::string_view text = node.text();
  if (text.ends_with('L') || text.ends_with('l')) {
    errors.add(node, "invalid decimal literal: a long integer of Python 2");
  } else if (text.ends_with('_')) {
    errors.add(node, "invalid decimal literal");
  } else if (text.size() > 1 && text[0] == '0' &&
             text.find_first_not_of("0123456789_") == std::string_view::npos &&
             text.find_first_not_of("0_") != std::string_view::npos) {
    errors.add(node, "leading zeros in decimal integer literals are not permitted");
  }
}

}  // namespace

void check_literal(Node node, ErrorList& errors) {
  switch (node.kind()) {
    case Kind::k_string:
      check_string(node, errors);
      break;
    case Kind::k_concatenated_string:
      check_concatenated(node, errors);
      break;
    case Kind::k_interpolation:
      check_interpolation(node, errors);
      break;
    case Kind::k_integer:
      check_integer(node, errors);
      break;
    default:
      break;
  }
}

}  // namespace assay::syntax_check
