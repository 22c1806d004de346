#include "python/skip_string.h"
#include "python/syntax_check_parts.h"

namespace assay::syntax_check {
namespace {

// CPython counts tabs once as up to eight columns and once as one: lines must compare alike in both.
struct Indent {
  uint32_t columns = 0, alternative = 0;
  bool operator==(const Indent&) const = default;
};

class LayoutChecker {
 public:
  LayoutChecker(const SyntaxTree& tree, ErrorList& errors)
      : tree_(tree), source_(tree.source()), errors_(errors) {}

  void run() {
    bool after_block = false;
    for (Node statement : tree_.root().children()) {
      Indent indent;
      if (begins_line(statement, indent) && indent != Indent()) {
        errors_.add(statement, after_block ? "unindent does not match any outer indentation level"
                                           : "unexpected indent");
      }
      after_block = ends_with_block(statement);
    }
    for (Node node : tree_.root().descendants()) {
      switch (node.kind()) {
        case Kind::k_block:
          check_block(node);
          break;
        case Kind::k_else_clause:
        case Kind::k_elif_clause:
        case Kind::k_except_clause:
        case Kind::k_except_group_clause:
        case Kind::k_finally_clause:
          check_same(node.parent(), node);
          break;
        case Kind::k_decorated_definition:
          for (Node part : node.children()) check_same(node, part);
          break;
        default:
          break;
      }
    }
  }

 private:
  static bool ends_with_block(Node statement) {
    Node last;
    for (Node child : statement.children()) last = child;
    if (last.is_any(Kind::k_else_clause, Kind::k_elif_clause, Kind::k_except_clause, Kind::k_finally_clause,
                    Kind::k_function_definition, Kind::k_class_definition)) {
      for (Node child : last.children()) last = child;
    }
    return last.is(Kind::k_block);
  }

  // Whether only blanks stand before the node on its line, and that line starts a logical line.
  bool begins_line(Node node, Indent& indent) const {
    uint32_t begin = node.start();
    while (begin > 0 && source_[begin - 1] != '\n') {
      char c = source_[begin - 1];
      if (c != ' ' && c != '\t' && c != '\f') return false;
      --begin;
    }
    if (begin > 1) {
      uint32_t before = begin - 1;  // the newline
      if (source_[before - 1] == '\r' && before > 1) --before;
      if (source_[before - 1] == '\\') return false;
    }
    indent = Indent();
    for (uint32_t i = begin; i < node.start(); ++i) {
      char c = source_[i];
      if (c == '\f') {
        indent = Indent();
      } else {
        indent.columns = c == '\t' ? indent.columns / 8 * 8 + 8 : indent.columns + 1;
        ++indent.alternative;
      }
    }
    return true;
  }

  void check_same(Node first, Node second) {
    Indent a, b;
    if (!begins_line(first, a) || !begins_line(second, b) || a == b) return;
    if (a.columns == b.columns) {
      errors_.add(second, "inconsistent use of tabs and spaces in indentation");
    } else {
      errors_.add(second, b.columns > a.columns ? "unexpected indent"
                                                : "unindent does not match any outer indentation level");
    }
  }

  void check_block(Node block) {
    Node first = block.first_child();
    if (!first) {
      errors_.add(header_of(block), "expected an indented block");
      return;
    }
    Indent outer, inner;
    if (begins_line(header_of(block), outer) && begins_line(first, inner)) {
      bool deeper = inner.columns > outer.columns, alternative_deeper = inner.alternative > outer.alternative;
      if (!deeper) errors_.add(first, "expected an indented block");
      if (deeper && !alternative_deeper)
        errors_.add(first, "inconsistent use of tabs and spaces in indentation");
    }
    Node previous = first;
    for (Node statement = first.next_sibling(); statement; statement = statement.next_sibling()) {
      Indent ignored;
      if (!begins_line(statement, ignored)) continue;  // behind a semicolon
      check_same(previous, statement);
      previous = statement;
    }
  }

  Node header_of(Node block) const { return block.parent(); }

  const SyntaxTree& tree_;
  std::string_view source_;
  ErrorList& errors_;
};

// An encoding other than UTF-8 is named in one of the first two lines.
bool declares_encoding(const SyntaxTree& tree) {
  for (uint32_t line = 1; line <= 2; ++line) {
    std::string_view text = tree.line_text(line);
    size_t hash = text.find('#');
    if (hash != std::string_view::npos && text.find("coding", hash) != std::string_view::npos) return true;
  }
  return false;
}

// PEP 263: what a comment in one of the first two lines declares; empty if none does.
std::string_view declared_encoding(const SyntaxTree& tree) {
  for (uint32_t line = 1; line <= 2; ++line) {
    std::string_view text = tree.line_text(line);
    size_t begin = text.find_first_not_of(" \t\f\r");
    if (begin == std::string_view::npos) continue;
    if (text[begin] != '#') return {};
    for (size_t at = text.find("coding", begin); at != std::string_view::npos; at = text.find("coding", at + 1)) {
      size_t name = at + 6;
      if (name >= text.size() || (text[name] != ':' && text[name] != '=')) continue;
      name = std::min(text.find_first_not_of(" \t", name + 1), text.size());
      size_t end = name;
      while (end < text.size() && (is_identifier_byte(text[end]) || text[end] == '-' || text[end] == '.')) ++end;
      if (end > name) return text.substr(name, end - name);
    }
  }
  return {};
}

// Python has some three hundred names for its codecs: only a name that begins like none of them is certainly wrong.
bool resembles_an_encoding(std::string_view name) {
  std::string lower;
  for (char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
  for (std::string_view prefix : {"utf", "u8", "u7", "u16", "u32", "latin", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9", "l10", "iso", "ascii", "us",
                                  "ansi", "646", "8859", "cp", "windows", "ibm", "mac", "koi", "kz", "gb", "chinese", "hz", "big5", "csbig5", "euc", "ujis",
                                  "shift", "sjis", "s_jis", "csshift", "csiso", "jis", "johab", "korean", "ks", "tis", "thai", "tactis", "viscii", "hp",
                                  "roman", "r8", "hkscs", "ms", "cs", "uhc", "arabic", "asmo", "ecma", "greek", "elot", "hebrew", "cyrillic", "ptcp",
                                  "pt154", "rk1048", "strk", "mbcs", "dbcs", "oem", "unicode", "raw", "idna", "punycode", "charmap", "undefined", "palmos",
                                  "rot", "hex", "base64", "bz2", "zip", "zlib", "quopri", "uu", "437", "7", "8", "9"}) {
    if (lower.starts_with(prefix)) return true;
  }
  // 037, 1252 …: code pages by their numbers.
  return !lower.empty() && lower[0] >= '0' && lower[0] <= '9';
}

// The first byte that is not part of valid UTF-8; the size of the text when there is none.
size_t first_invalid_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    size_t more = c < 0x80                ? 0
                  : c >= 0xC2 && c < 0xE0 ? 1
                  : c >= 0xE0 && c < 0xF0 ? 2
                  : c >= 0xF0 && c < 0xF5 ? 3
                                          : 4;
    if (more == 4 || i + more >= text.size()) return i;
    for (size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    }
    unsigned char second = more > 0 ? static_cast<unsigned char>(text[i + 1]) : 0;
    if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second >= 0xA0) || (c == 0xF0 && second < 0x90) ||
        (c == 0xF4 && second >= 0x90)) {
      return i;
    }
    i += more + 1;
  }
  return i;
}

void check_bytes(const SyntaxTree& tree, ErrorList& errors) {
  std::string_view source = tree.source();
  if (source.empty()) return;
  std::string_view encoding = declared_encoding(tree);
  if (!encoding.empty() && !resembles_an_encoding(encoding)) {
    return errors.add(static_cast<uint32_t>(encoding.data() - source.data()), "unknown encoding: " + std::string(encoding));
  }
  size_t invalid = first_invalid_utf8(source);
  if (invalid < source.size() && !declares_encoding(tree)) {
    errors.add(static_cast<uint32_t>(invalid), "the file is not UTF-8 and declares no encoding");
  }
}

// A backslash as the last character of the file.
void check_last_line(const SyntaxTree& tree, ErrorList& errors) {
  std::string_view source = tree.source();
  size_t end = source.size();
  if (end > 0 && source[end - 1] == '\n') --end;
  if (end > 0 && source[end - 1] == '\r') --end;
  if (end == 0 || source[end - 1] != '\\') return;
  if (!tree.comments().empty()) {  // line continuations are listed with them
    const Comment& last = tree.comments().back();
    if (last.end >= end && source[last.start] == '#') return;
  }
  errors.add(static_cast<uint32_t>(end - 1), "unexpected end of file after a line continuation");
}

}  // namespace

void check_layout(const SyntaxTree& tree, ErrorList& errors) {
  check_bytes(tree, errors);
  if (!tree.root()) return;
  check_last_line(tree, errors);
  LayoutChecker(tree, errors).run();
}

}  // namespace assay::syntax_check
