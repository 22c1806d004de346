#include "python/call_scan.h"

#include <algorithm>
#include <cstring>

#include "python/skip_string.h"

namespace assay {
namespace {

constexpr size_t kDeepestBrackets = 200;  // as CPython; also what keeps `f(f(f(…` linear
constexpr size_t kLongestReceiver = 256;  // bytes

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\\'; }

size_t end_of_line(std::string_view text, size_t i) {
  const void* newline = std::memchr(text.data() + i, '\n', text.size() - i);
  return newline ? static_cast<size_t>(static_cast<const char*>(newline) - text.data()) : text.size();
}

// Index behind the last non-blank byte before `end`.
size_t skip_space_back(std::string_view text, size_t end) {
  while (end > 0 && is_space(text[end - 1])) --end;
  return end;
}

// The same, but npos when a comment may stand on the line that this steps back to.
size_t skip_blanks_back(std::string_view text, size_t end) {
  size_t begin = skip_space_back(text, end);
  if (text.substr(begin, end - begin).find('\n') == std::string_view::npos) return begin;
  for (size_t i = begin; i > 0 && text[i - 1] != '\n'; --i) {
    if (text[i - 1] == '#' || begin - i > 4 * kLongestReceiver) return std::string_view::npos;
  }
  return begin;
}

std::string_view word_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && is_identifier_byte(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// The keywords that an opening bracket may follow: what stands in it is no call.
bool is_operator_word(std::string_view word) {
  static constexpr std::array<std::string_view, 21> kWords = {
      "not", "in",   "and",  "or",    "if",     "is",   "return", "await", "lambda", "yield", "assert",
      "del", "else", "elif", "while", "import", "from", "with",   "for",   "raise",  "except"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// Reads backwards the chain of names, calls and indices before a dot.
class ReceiverReader {
 public:
  ReceiverReader(std::string_view text, size_t dot)
      : text_(text), dot_(dot), lowest_(dot > kLongestReceiver ? dot - kLongestReceiver : 0) {}

  std::string_view read() {
    size_t end = skip_blanks_back(text_, dot_);
    size_t begin = end;
    while (begin != std::string_view::npos && read_part(begin)) {
      size_t before = skip_blanks_back(text_, begin);
      if (before == std::string_view::npos) break;
      if (before == 0 || text_[before - 1] != '.') return text_.substr(begin, end - begin);
      begin = skip_blanks_back(text_, before - 1);
    }
    return {};
  }

 private:
  // `name`, `name(…)`, `name[…](…)`, `(…)`: moves `begin` to its start.
  bool read_part(size_t& begin) {
    bool brackets = false;
    while (begin > 0 && (text_[begin - 1] == ')' || text_[begin - 1] == ']')) {
      if (!skip_brackets_back(begin)) return false;
      brackets = true;
    }
    std::string_view name = word_before(text_, begin);
    if (name.empty()) return brackets && !is_literal_end(begin) && !is_spaced_call(begin);
    if (is_operator_word(name)) return brackets;
    begin -= name.size();
    return begin >= lowest_ && !(name[0] >= '0' && name[0] <= '9');
  }

  // `"…"[0]`, `{…}[0]`
  bool is_literal_end(size_t begin) const {
    return begin > 0 && std::string_view("\"'}.").find(text_[begin - 1]) != std::string_view::npos;
  }

  // `read ()`: the brackets are not all of it.
  bool is_spaced_call(size_t begin) const {
    size_t end = begin;
    while (end > 0 && (text_[end - 1] == ' ' || text_[end - 1] == '\t')) --end;
    std::string_view word = word_before(text_, end);
    return end < begin && !word.empty() && !is_operator_word(word);
  }

  // Over one balanced pair. Strings and comments can't be told apart backwards, so any quote or # ends the
  // attempt.
  bool skip_brackets_back(size_t& begin) {
    size_t depth = 0;
    while (begin > lowest_) {
      char c = text_[--begin];
      if (c == ')' || c == ']' || c == '}') ++depth;
      if (c == '"' || c == '\'' || c == '#') return false;
      if ((c == '(' || c == '[' || c == '{') && --depth == 0) return true;
    }
    return false;
  }

  std::string_view text_;
  size_t dot_, lowest_;
};

// Reads forward from behind the opening bracket to its partner.
class ArgumentReader {
 public:
  ArgumentReader(std::string_view text, size_t begin, ScannedCall& out)
      : text_(text), at_(begin), out_(out) {}

  void read() {
    out_.ambiguous |= !read_all();
    out_.end = static_cast<uint32_t>(at_);
    if (!out_.star_args) out_.positional_before_star = out_.positional;
  }

 private:
  // False where this is no argument list that the reader understands.
  bool read_all() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (is_space(c)) {
        ++at_;
      } else if (c == '#') {
        at_ = end_of_line(text_, at_);
      } else if (c == ')' && open_.empty()) {
        finish_argument();
        ++at_;
        return true;
      } else if (!(open_.empty() ? step_in_argument(c) : step_in_brackets(c))) {
        return false;
      }
    }
    return false;
  }

  // Deeper down only brackets and strings matter.
  bool step_in_brackets(char c) {
    if (c == '"' || c == '\'') return step_string();
    if (c == '(' || c == '[' || c == '{') return open(c);
    if (c == ')' || c == ']' || c == '}') {
      if (open_.back() != c) return false;
      open_.pop_back();
    }
    ++at_;
    return true;
  }

  bool open(char c) {
    open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    ++at_;
    return open_.size() < kDeepestBrackets;
  }

  bool step_string() {
    SkippedString s = skip_string(text_, at_);
    at_ = s.end;
    return s.closed;
  }

  bool step_in_argument(char c) {
    if (c == ',') {
      if (lambdas_ == 0) finish_argument();
      ++at_;
      return true;
    }
    if (!in_argument_) {
      in_argument_ = true;
      return start_argument(c);
    }
    switch (c) {
      case '"':
      case '\'':
        return step_string();
      case '(':
      case '[':
      case '{':
        return open(c);
      case ']':
      case '}':
        return false;
      case ':':
        return step_colon();
      case '=':
        return step_equals();
      default:
        break;
    }
    if (is_identifier_byte(c)) return step_word();
    ++at_;
    return true;
  }

  bool start_argument(char c) {
    if (c == '*') {
      bool twice = at_ + 1 < text_.size() && text_[at_ + 1] == '*';
      at_ += twice ? 2 : 1;
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      kind_ = twice ? ArgumentKind::kDoubleStar : ArgumentKind::kStar;
      // Literals behind stars are taken apart by call_shape(): leave that to a tree.
      return at_ < text_.size() && text_[at_] != '(' && text_[at_] != '[' && text_[at_] != '{' &&
             text_[at_] != '#';
    }
    kind_ = ArgumentKind::kPositional;
    if (!is_identifier_byte(c)) return c != '=' && step_in_argument(c);
    std::string_view word = take_word();
    size_t next = skip_blank(at_);
    bool is_keyword =
        next < text_.size() && text_[next] == '=' && (next + 1 >= text_.size() || text_[next + 1] != '=');
    if (is_keyword) {
      kind_ = ArgumentKind::kKeyword;
      out_.keywords.push_back(word);
      at_ = next + 1;
      return true;
    }
    return note_word(word);
  }

  size_t skip_blank(size_t i) const {
    while (i < text_.size()) {
      if (text_[i] == '#') {
        i = end_of_line(text_, i);
      } else if (is_space(text_[i])) {
        ++i;
      } else {
        break;
      }
    }
    return i;
  }

  std::string_view take_word() {
    size_t begin = at_;
    while (at_ < text_.size() && is_identifier_byte(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool step_word() { return note_word(take_word()); }

  bool note_word(std::string_view word) {
    if (word == "lambda") ++lambdas_;
    if (word == "for" && lambdas_ == 0) {  // f(x for x, y in z): one argument up to the bracket
      if (out_.positional > 0 || !out_.keywords.empty() || kind_ != ArgumentKind::kPositional) return false;
      generator_ = true;
    }
    return true;
  }

  bool step_colon() {
    bool walrus = at_ + 1 < text_.size() && text_[at_ + 1] == '=' && lambdas_ == 0;
    if (walrus) {
      at_ += 2;
      return true;
    }
    if (lambdas_ == 0) return false;
    --lambdas_;
    ++at_;
    return true;
  }

  bool step_equals() {
    if (at_ + 1 < text_.size() && text_[at_ + 1] == '=') {
      at_ += 2;
      return true;
    }
    char before = text_[at_ - 1];
    if (lambdas_ == 0 && before != '<' && before != '>' && before != '!') return false;
    ++at_;
    return true;
  }

  void finish_argument() {
    if (generator_ && text_[at_] == ',') return;
    if (in_argument_) {
      switch (kind_) {
        case ArgumentKind::kPositional:
          ++out_.positional;
          break;
        case ArgumentKind::kStar:
          if (!out_.star_args) out_.positional_before_star = out_.positional;
          out_.star_args = true;
          break;
        case ArgumentKind::kDoubleStar:
          out_.star_kwargs = true;
          break;
        case ArgumentKind::kKeyword:
          break;
      }
    }
    in_argument_ = false;
  }

  enum class ArgumentKind { kPositional, kKeyword, kStar, kDoubleStar };
  std::string_view text_;
  size_t at_;
  ScannedCall& out_;
  std::string open_;  // the closing brackets awaited
  bool in_argument_ = false, generator_ = false;
  ArgumentKind kind_ = ArgumentKind::kPositional;
  size_t lambdas_ = 0;  // open `lambda …` parameter lists
};

// Walks the text once, over strings and comments, and says of ascending positions whether they are code.
class CodeWalker {
 public:
  explicit CodeWalker(std::string_view text) : text_(text) {}

  // An unclosed string came before: what was said since may be wrong.
  bool lost() const { return lost_; }

  bool is_code(size_t position) {
    while (at_ <= position && at_ < text_.size()) {
      size_t i = at_;
      while (i < position && text_[i] != '"' && text_[i] != '\'' && text_[i] != '#') ++i;
      at_ = i;
      if (i == position) break;
      regions_.clear();
      if (text_[i] == '#') {
        at_ = end_of_line(text_, i);
      } else {
        SkippedString s = skip_string(text_, i, &regions_);
        lost_ |= !s.closed;
        at_ = s.end;
      }
    }
    if (at_ <= position) return true;
    auto after = std::upper_bound(regions_.begin(), regions_.end(), position,
                                  [](size_t p, const CodeRegion& r) { return p < r.end; });
    return after != regions_.end() && after->begin <= position;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  bool lost_ = false;
  std::vector<CodeRegion> regions_;  // of the string that was passed last
};

// Line numbers of ascending positions.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  void advance(size_t position) {
    while (true) {
      size_t newline = end_of_line(text_.substr(0, position), at_);
      if (newline == position) break;
      at_ = line_begin_ = newline + 1;
      ++line_;
    }
    at_ = position;
  }
  uint32_t line() const { return line_; }
  size_t line_begin() const { return line_begin_; }

 private:
  std::string_view text_;
  size_t at_ = 0, line_begin_ = 0;
  uint32_t line_ = 1;
};

// A dot at `dot` belongs to what follows, and not to a number at the end of the line before.
bool is_attribute_dot(std::string_view text, size_t dot, size_t name) {
  if (text.substr(dot, name - dot).find('\n') == std::string_view::npos) return true;
  std::string_view number = word_before(text, dot);
  return number.empty() || number[0] < '0' || number[0] > '9';
}

// A newline before the bracket (then it is a call only within other brackets), or a class pattern.
bool may_be_no_call(std::string_view text, size_t line_begin, size_t name, size_t bracket) {
  if (text.substr(name, bracket - name).find('\n') != std::string_view::npos) return true;
  size_t i = line_begin;
  while (i < name && (text[i] == ' ' || text[i] == '\t')) ++i;
  return text.substr(i, 4) == "case" && i + 4 < text.size() && !is_identifier_byte(text[i + 4]);
}

}  // namespace

CallScanner::CallScanner(const std::vector<std::string>& names) : names_(names) {
  for (uint32_t i = 0; i < names_.size(); ++i) {
    const std::string& name = names_[i];
    if (name.empty()) continue;
    index_.emplace(name, i);
    uint32_t last = static_cast<unsigned char>(name.back()) << 8;
    if (name.size() > 1) {
      endings_.set(last | static_cast<unsigned char>(name[name.size() - 2]));
      continue;
    }
    for (uint32_t before = 0; before < 256; ++before) endings_.set(last | before);
  }
}

// Whether one of the names ends at `end`, as a whole word that is not being defined.
bool CallScanner::is_name_before(std::string_view text, size_t end, Candidate& out) const {
  uint32_t ending = static_cast<unsigned char>(text[end - 1]) << 8;
  if (end > 1) ending |= static_cast<unsigned char>(text[end - 2]);
  if (!endings_.test(ending)) return false;
  std::string_view word = word_before(text, end);
  auto it = index_.find(word);
  if (it == index_.end()) return false;
  out.begin = end - word.size();
  out.name = it->second;
  size_t i = out.begin;
  while (i > 0 && (text[i - 1] == ' ' || text[i - 1] == '\t')) --i;
  std::string_view previous = word_before(text, i);
  return previous != "def" && previous != "class";
}

std::vector<CallScanner::Candidate> CallScanner::candidates(std::string_view text) const {
  std::vector<Candidate> out;
  const char* begin = text.data();
  const char* end = begin + text.size();
  for (const char* p = begin; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '(', static_cast<size_t>(end - p)));
    if (!p) break;
    size_t bracket = static_cast<size_t>(p - begin);
    size_t name_end = skip_space_back(text, bracket);
    Candidate candidate{0, bracket, 0};
    if (name_end > 0 && is_name_before(text, name_end, candidate)) out.push_back(candidate);
  }
  return out;
}

std::vector<ScannedCall> CallScanner::scan(std::string_view text) const {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  std::vector<ScannedCall> out;
  CodeWalker walker(text);
  LineCounter lines(text);
  for (const Candidate& candidate : candidates(text)) {
    size_t before = skip_space_back(text, candidate.begin);
    bool dot = before > 0 && text[before - 1] == '.' && walker.is_code(before - 1);
    if (!walker.is_code(candidate.begin)) continue;
    lines.advance(candidate.begin);
    ScannedCall call;
    call.name = candidate.name;
    call.offset = static_cast<uint32_t>(candidate.begin);
    call.line = lines.line();
    call.ambiguous =
        walker.lost() || may_be_no_call(text, lines.line_begin(), candidate.begin, candidate.bracket);
    call.has_receiver = dot && is_attribute_dot(text, before - 1, candidate.begin);
    if (call.has_receiver) call.receiver = ReceiverReader(text, before - 1).read();
    ArgumentReader(text, candidate.bracket + 1, call).read();
    out.push_back(std::move(call));
  }
  return out;
}

CallShape shape_of(const ScannedCall& call) {
  CallShape out;
  out.positional = call.positional;
  out.positional_before_star = call.positional_before_star;
  out.keywords = call.keywords;
  out.star_args = call.star_args;
  out.star_kwargs = call.star_kwargs;
  out.unreadable = call.ambiguous;
  return out;
}

}  // namespace assay
