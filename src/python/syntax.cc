#include "python/syntax.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "python/bracket_fault.h"
#include "python/fast_parse.h"
#include "python/splat_repair.h"

extern "C" const TSLanguage* tree_sitter_python();

namespace assay {
namespace {

// Tables from the grammar's numbers to ours, made once.
struct GrammarTables {
  std::vector<Kind> kinds;      // by TSSymbol
  std::vector<bool> is_comment;
  std::vector<bool> is_string_part;
  std::vector<Field> fields;    // by TSFieldId
  TSSymbol async_symbol = 0;

  GrammarTables() {
    const TSLanguage* language = tree_sitter_python();
    static const std::unordered_map<std::string_view, Kind> kind_names = {
#define ASSAY_X(name) {#name, Kind::k_##name},
        ASSAY_PYTHON_KINDS(ASSAY_X)
#undef ASSAY_X
    };
    static const std::unordered_map<std::string_view, Field> field_names = {
#define ASSAY_X(name) {#name, Field::k_##name},
        ASSAY_PYTHON_FIELDS(ASSAY_X)
#undef ASSAY_X
    };
    uint32_t symbols = ts_language_symbol_count(language);
    kinds.resize(symbols, Kind::kOther);
    is_comment.resize(symbols);
    is_string_part.resize(symbols);
    for (uint32_t s = 0; s < symbols; ++s) {
      std::string_view name = ts_language_symbol_name(language, static_cast<TSSymbol>(s));
      bool named = ts_language_symbol_type(language, static_cast<TSSymbol>(s)) == TSSymbolTypeRegular;
      if (!named) {
        if (name == "async") async_symbol = static_cast<TSSymbol>(s);
        continue;
      }
      if (auto it = kind_names.find(name); it != kind_names.end()) kinds[s] = it->second;
      is_comment[s] = name == "comment" || name == "line_continuation";
      is_string_part[s] = name == "string_start" || name == "string_content" || name == "string_end" ||
                          name == "escape_sequence" || name == "escape_interpolation";
    }
    fields.resize(ts_language_field_count(language) + 1, Field::kNone);
    for (uint32_t f = 1; f < fields.size(); ++f) {
      auto it = field_names.find(ts_language_field_name_for_id(language, static_cast<TSFieldId>(f)));
      if (it != field_names.end()) fields[f] = it->second;
    }
  }
};

const GrammarTables& tables() {
  static const GrammarTables instance;
  return instance;
}

}  // namespace

class TreeBuilder {
 public:
  explicit TreeBuilder(SyntaxTree& out) : out_(out) {}

  bool build_fast() { return fast_parse(out_.source_.view(), out_.nodes_, out_.comments_); }

  void build() {
    std::string_view text = out_.source_.view();
    TSParser* parser = ts_parser_new();
    ts_parser_set_language(parser, tree_sitter_python());
    TSTree* tree = parse(parser, text);
    std::vector<uint32_t> stars;
    if (tree && ts_node_has_error(ts_tree_root_node(tree))) tree = parse_without_stars(parser, text, tree, stars);
    if (tree) {
      out_.nodes_.reserve(text.size() / 4 + 16);
      walk(ts_tree_root_node(tree));
      refine_errors(text);
      repair_splats(out_.nodes_);
      restore_stars(out_.nodes_, text, stars);
      out_.nodes_.shrink_to_fit();
      ts_tree_delete(tree);
    }
    ts_parser_delete(parser);
  }

  void index_lines() {
    std::string_view text = out_.source_.view();
    auto& starts = out_.line_starts_;
    starts.push_back(0);
    const char* begin = text.data();
    const char* end = begin + text.size();
    for (const char* p = begin; p < end;) {
      p = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
      if (!p) break;
      ++p;
      starts.push_back(static_cast<uint32_t>(p - begin));
    }
  }

 private:
  static TSTree* parse(TSParser* parser, std::string_view text) {
    return ts_parser_parse_string_encoding(parser, nullptr, text.data(), static_cast<uint32_t>(text.size()),
                                           TSInputEncodingUTF8);
  }

  // The grammar knows no `a, *(b)` outside of brackets. Gives the tree without such stars if that one has no errors.
  static TSTree* parse_without_stars(TSParser* parser, std::string_view text, TSTree* tree, std::vector<uint32_t>& stars) {
    std::vector<uint32_t> found = stars_before_brackets(text);
    if (found.empty()) return tree;
    std::string blanked(text);
    for (uint32_t star : found) blanked[star] = ' ';
    TSTree* second = parse(parser, blanked);
    bool better = second && !ts_node_has_error(ts_tree_root_node(second));
    if (better) stars = std::move(found);
    if (TSTree* worse = better ? tree : second) ts_tree_delete(worse);
    return better ? second : tree;
  }

  void add_error(TSNode node, std::string message) {
    if (out_.errors_.size() == kMostErrors) return;
    uint32_t byte = ts_node_start_byte(node);
    out_.errors_.push_back({out_.line_of(byte), out_.column_of(byte), std::move(message)});
    error_ends_.push_back(ts_node_end_byte(node));
    error_starts_.push_back(byte);
  }

  // A region starts wherever the parser lost its way, often far above the fault: of regions around other errors, or
  // around a bracket without a partner, only what lies in them is kept.
  void refine_errors(std::string_view text) {
    if (out_.errors_.empty()) return;
    if (size_t nul = text.find('\0'); nul != std::string_view::npos) {
      auto byte = static_cast<uint32_t>(nul);
      out_.errors_ = {{out_.line_of(byte), out_.column_of(byte), "source code cannot contain null bytes"}};
      return;
    }
    std::optional<BracketFault> fault = find_bracket_fault(text);
    uint32_t fault_line = fault ? out_.line_of(fault->byte) : 0;
    std::vector<SyntaxError> kept;
    bool named = false;
    for (size_t i = 0; i < out_.errors_.size(); ++i) {
      SyntaxError& error = out_.errors_[i];
      bool has_next = i + 1 < out_.errors_.size();
      bool around = has_next && error_starts_[i + 1] < error_ends_[i] && error_ends_[i + 1] <= error_ends_[i] &&
                    out_.errors_[i + 1].line > error.line + 2;
      bool around_fault = fault && error_starts_[i] < fault->byte && fault->byte <= error_ends_[i];
      named |= fault && error.line == fault_line;
      if (!around && (!around_fault || error.line == fault_line)) kept.push_back(std::move(error));
    }
    if (fault && !named) kept.push_back({fault_line, out_.column_of(fault->byte), "invalid syntax: " + fault->message});
    std::stable_sort(kept.begin(), kept.end(), [](const SyntaxError& a, const SyntaxError& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    out_.errors_ = std::move(kept);
  }

  // Iterative preorder walk: nesting depth costs heap, never stack.
  void walk(TSNode root) {
    const GrammarTables& t = tables();
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    std::vector<NodeId> open;  // kept ancestors of the cursor; kNoNode for ancestors that were not kept
    bool more = true;
    while (more) {
      TSNode node = ts_tree_cursor_current_node(&cursor);
      NodeId id = visit(node, ts_tree_cursor_current_field_id(&cursor), open, t);
      bool descend = id != kSkipSubtree;
      if (descend && ts_tree_cursor_goto_first_child(&cursor)) {
        open.push_back(id);
        continue;
      }
      if (id < kSkipSubtree) close(id);
      while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
        if (!ts_tree_cursor_goto_parent(&cursor)) {
          more = false;
          break;
        }
        if (open.back() < kSkipSubtree) close(open.back());
        open.pop_back();
      }
    }
    ts_tree_cursor_delete(&cursor);
  }

  static constexpr NodeId kSkipSubtree = 0xfffffffeu;  // and kNoNode: not kept, but its children are looked at

  NodeId visit(TSNode node, TSFieldId field, const std::vector<NodeId>& open, const GrammarTables& t) {
    TSSymbol symbol = ts_node_symbol(node);
    bool is_error = symbol == static_cast<TSSymbol>(-1);
    bool named = ts_node_is_named(node);
    if (ts_node_is_missing(node)) {
      add_error(node, std::string("invalid syntax: expected ") + ts_node_type(node));
      return kSkipSubtree;
    }
    if (!is_error && named && t.is_comment[symbol]) {
      out_.comments_.push_back({ts_node_start_byte(node), ts_node_end_byte(node)});
      return kSkipSubtree;
    }
    Kind kind;
    if (is_error) {
      kind = Kind::kError;
      add_error(node, "invalid syntax");
    } else if (named) {
      if (t.is_string_part[symbol]) return kNoNode;
      kind = t.kinds[symbol];
    } else if (field != 0) {
      kind = Kind::kOperator;
    } else if (symbol == t.async_symbol) {
      kind = Kind::kAsync;
    } else {
      return kSkipSubtree;
    }
    if (kind == Kind::k_exec_statement || (kind == Kind::k_print_statement && !is_chevron_print(node))) {
      add_error(node, "invalid syntax: a statement of Python 2");
    }
    NodeId parent = kNoNode;
    for (auto it = open.rbegin(); it != open.rend(); ++it) {
      if (*it != kNoNode) {
        parent = *it;
        break;
      }
    }
    NodeId id = static_cast<NodeId>(out_.nodes_.size());
    out_.nodes_.push_back({ts_node_start_byte(node), ts_node_end_byte(node), id + 1, parent, kind,
                           field < t.fields.size() ? t.fields[field] : Field::kNone, 0});
    return id;
  }

  // `print >>file` is an expression to Python 3, if a wrong one.
  static bool is_chevron_print(TSNode node) {
    return ts_node_named_child_count(node) > 0 &&
           std::string_view(ts_node_type(ts_node_named_child(node, 0))) == "chevron";
  }

  void close(NodeId id) { out_.nodes_[id].subtree_end = static_cast<uint32_t>(out_.nodes_.size()); }

  static constexpr size_t kMostErrors = 200;  // columns are counted along the line: a huge broken line must not cost its square

  SyntaxTree& out_;
  std::vector<uint32_t> error_starts_, error_ends_;  // bytes, beside out_.errors_
};

SyntaxTree SyntaxTree::open(Blob source) {
  SyntaxTree tree;
  std::string_view text = source.view();
  if (text.substr(0, 3) == "\xEF\xBB\xBF") source = Blob(std::make_shared<Blob>(source), text.substr(3));
  tree.source_ = std::move(source);
  TreeBuilder(tree).index_lines();
  return tree;
}

SyntaxTree SyntaxTree::parse(Blob source) {
  SyntaxTree tree = open(std::move(source));
  TreeBuilder builder(tree);
  if (!builder.build_fast()) builder.build();
  return tree;
}

SyntaxTree SyntaxTree::parse_with_tree_sitter(Blob source) {
  SyntaxTree tree = open(std::move(source));
  TreeBuilder(tree).build();
  return tree;
}

uint32_t SyntaxTree::line_of(uint32_t byte) const {
  auto it = std::upper_bound(line_starts_.begin(), line_starts_.end(), byte);
  return static_cast<uint32_t>(it - line_starts_.begin());
}

uint32_t SyntaxTree::column_of(uint32_t byte) const {
  uint32_t start = line_starts_[line_of(byte) - 1];
  uint32_t column = 1;
  for (uint32_t i = start; i < byte && i < source().size(); ++i) {
    if ((static_cast<unsigned char>(source()[i]) & 0xC0) != 0x80) ++column;
  }
  return column;
}

std::string_view SyntaxTree::line_text(uint32_t line) const {
  if (line == 0 || line > line_starts_.size()) return {};
  uint32_t start = line_starts_[line - 1];
  uint32_t end = line < line_starts_.size() ? line_starts_[line] : static_cast<uint32_t>(source().size());
  std::string_view text = source().substr(start, end - start);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

Node Node::next_sibling() const {
  if (!tree_ || raw().parent == kNoNode) return {};
  const auto& nodes = tree_->nodes();
  NodeId next = raw().subtree_end;
  return next < nodes[raw().parent].subtree_end ? Node(tree_, next) : Node();
}

Node Node::child(Field field) const {
  for (Node c : children()) {
    if (c.field() == field) return c;
  }
  return {};
}

Node Node::child(Kind kind) const {
  for (Node c : children()) {
    if (c.kind() == kind) return c;
  }
  return {};
}

Node Node::child_at(uint32_t index) const {
  for (Node c : children()) {
    if (index-- == 0) return c;
  }
  return {};
}

uint32_t Node::child_count() const {
  uint32_t n = 0;
  for ([[maybe_unused]] Node c : children()) ++n;
  return n;
}

std::string dotted_text(Node expression) {
  std::vector<std::string_view> parts;
  Node node = expression;
  while (node.is(Kind::k_attribute)) {
    parts.push_back(node.child(Field::k_attribute).text());
    node = node.child(Field::k_object);
  }
  if (node.is(Kind::k_identifier)) {
    parts.push_back(node.text());
  } else if (node.is(Kind::k_dotted_name) && parts.empty()) {
    std::string out;
    for (Node c : node.children()) {
      if (!out.empty()) out += '.';
      out += c.text();
    }
    return out;
  } else {
    return {};
  }
  std::string out;
  for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
    if (!out.empty()) out += '.';
    out += *it;
  }
  return out;
}

Node strip_parens(Node expression) {
  while (expression.is_any(Kind::k_parenthesized_expression, Kind::k_type)) {
    Node inner = expression.first_child();
    if (!inner) break;
    expression = inner;
  }
  return expression;
}

namespace {

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | ((c >> 18) & 7));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

// Reads up to `digits` digits of `base` at text[i]; moves i past them.
uint32_t read_number(std::string_view text, size_t& i, int digits, int base) {
  uint32_t value = 0;
  for (int n = 0; n < digits && i < text.size(); ++n, ++i) {
    char c = text[i];
    int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;
    if (d >= base) break;
    value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(d);
  }
  return value;
}

void unescape(std::string_view body, std::string& out) {
  for (size_t i = 0; i < body.size();) {
    char c = body[i++];
    if (c != '\\' || i >= body.size()) {
      out += c;
      continue;
    }
    char e = body[i++];
    switch (e) {
      case '\n': break;
      case '\r': if (i < body.size() && body[i] == '\n') ++i; break;
      case '\\': case '\'': case '"': out += e; break;
      case 'a': out += '\a'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'v': out += '\v'; break;
      case 'x': append_utf8(out, read_number(body, i, 2, 16)); break;
      case 'u': append_utf8(out, read_number(body, i, 4, 16)); break;
      case 'U': append_utf8(out, read_number(body, i, 8, 16)); break;
      default:
        if (e >= '0' && e <= '7') {
          --i;
          append_utf8(out, read_number(body, i, 3, 8));
        } else {
          out += '\\';
          out += e;
        }
    }
  }
}

}  // namespace

bool string_value(Node node, std::string& out) {
  node = strip_parens(node);
  if (node.is(Kind::k_concatenated_string)) {
    std::string joined;
    for (Node part : node.children()) {
      std::string piece;
      if (!string_value(part, piece)) return false;
      joined += piece;
    }
    out = std::move(joined);
    return true;
  }
  if (!node.is(Kind::k_string) || node.child(Kind::k_interpolation)) return false;
  std::string_view text = node.text();
  bool raw = false, formatted = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != '"' && text[i] != '\''; ++i) {
    char c = static_cast<char>(text[i] | 32);
    if (c == 'b') return false;
    raw |= c == 'r';
    formatted |= c == 'f';
  }
  text.remove_prefix(i);
  size_t quote = text.size() >= 6 && text[1] == text[0] && text[2] == text[0] ? 3 : 1;
  if (text.size() < 2 * quote) return false;
  text = text.substr(quote, text.size() - 2 * quote);
  std::string value;
  if (raw) {
    value = text;
  } else {
    unescape(text, value);
  }
  if (formatted) {  // without placeholders only doubled braces are special
    for (size_t p = 0; (p = value.find_first_of("{}", p)) != std::string::npos; ++p) {
      if (p + 1 < value.size() && value[p + 1] == value[p]) value.erase(p, 1);
    }
  }
  out = std::move(value);
  return true;
}

}  // namespace assay
