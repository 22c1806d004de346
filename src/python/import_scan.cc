#include "python/import_scan.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.h"
#include "python/skip_string.h"

namespace assay {
namespace {

struct Block {
  size_t indent;
  ImportPlace place;
};

std::string_view first_word(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && is_identifier_byte(line[end])) ++end;
  return line.substr(0, end);
}

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) { return std::find(words.begin(), words.end(), word) != words.end(); }

// Splits the text into logical lines: one per statement start, brackets and continuations joined. (Statements behind a
// semicolon or a colon stay in the line of the first.) Few lines are of interest, so they are copied on demand alone.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : text_(text) {}

  // The next line that is neither empty nor a comment alone.
  bool next(size_t& indent, uint32_t& number) {
    while (at_ < text_.size()) {
      size_t begin = at_;
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
      indent = at_ - begin;
      number = line_;
      begin_ = at_;
      if (pass<false>(nullptr)) return true;
    }
    return false;
  }

  std::string_view word() const { return first_word(text_.substr(begin_, at_ - begin_)); }
  bool mentions(std::string_view what) const { return find_text(text_.substr(begin_, at_ - begin_), what) != std::string_view::npos; }

  // The line of the last next(), comments left out and strings blanked.
  std::string copy() {
    std::string out;
    uint32_t line = line_;
    at_ = begin_;
    pass<true>(&out);
    line_ = line;
    while (!out.empty() && (out.back() == ' ' || out.back() == '\r')) out.pop_back();
    return out;
  }

 private:
  // Behind the line; false if it holds nothing.
  template <bool kCopies>
  bool pass(std::string* out) {
    int depth = 0;
    bool holds = false;
    auto add = [&](char c) {
      if constexpr (kCopies) *out += c;
    };
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (!kSpecial[static_cast<unsigned char>(c)]) {
        size_t from = at_;
        while (++at_ < text_.size() && !kSpecial[static_cast<unsigned char>(text_[at_])]) {
        }
        std::string_view run = text_.substr(from, at_ - from);
        holds = holds || run.find_first_not_of(" \r") != std::string_view::npos;
        if constexpr (kCopies) *out += run;
      } else if (c == '\n') {
        ++line_;
        ++at_;
        if (depth <= 0) return holds;
        add(' ');
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        size_t end = std::max(skip_string(text_, at_).end, at_ + 1);
        line_ += static_cast<uint32_t>(std::count(text_.begin() + static_cast<long>(at_), text_.begin() + static_cast<long>(end), '\n'));
        at_ = end;
        holds = true;
        add('"');
      } else if (c == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '\n' || text_[at_ + 1] == '\r')) {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
        ++line_;
        add(' ');
      } else {
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') --depth;
        holds = true;
        add(c);
        ++at_;
      }
    }
    return holds;
  }

  static constexpr std::array<bool, 256> kSpecial = [] {
    std::array<bool, 256> out{};
    for (char c : std::string_view("\n#\"'\\()[]{}")) out[static_cast<unsigned char>(c)] = true;
    return out;
  }();

  std::string_view text_;
  size_t at_ = 0, begin_ = 0;
  uint32_t line_ = 1;
};

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  // A dotted name (leading dots included), "*", "," or ";"; empty at the end or at anything else.
  std::string_view next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '(' || text_[at_] == ')')) ++at_;
    size_t begin = at_;
    if (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == '*' || text_[at_] == ';')) return text_.substr(at_++, 1);
    while (at_ < text_.size() && (is_identifier_byte(text_[at_]) || text_[at_] == '.')) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

void plain_import(Words& words, ScannedImport import, std::vector<ScannedImport>& out) {
  for (std::string_view word = words.next(); !word.empty() && word != ";"; word = words.next()) {
    if (word == ",") continue;
    if (word == "as") {
      std::string_view alias = words.next();
      if (!out.empty()) out.back().names[0].as = alias;
      continue;
    }
    import.module = word;
    import.names = {{}};
    out.push_back(import);
  }
}

void from_import(Words& words, ScannedImport import, std::vector<ScannedImport>& out) {
  import.from = true;
  import.module = words.next();
  std::string_view word = words.next();
  // `from . import x`: the dots end at the blank.
  if (word != "import") return;
  for (word = words.next(); !word.empty() && word != ";"; word = words.next()) {
    if (word == ",") continue;
    if (word == "as") {
      std::string_view alias = words.next();
      if (!import.names.empty()) import.names.back().as = alias;
      continue;
    }
    import.names.push_back({std::string(word), {}});
  }
  if (!import.names.empty()) out.push_back(std::move(import));
}

// What the lines below this one are guarded by, if it opens a block.
bool opens_block(LogicalLines& lines, std::string_view word, ImportPlace& place) {
  place = ImportPlace::kGuarded;
  if (word == "def" || word == "async") {
    place = ImportPlace::kFunction;
    return true;
  }
  if (word == "class" || word == "with") {
    place = ImportPlace::kTop;
    return true;
  }
  if (word == "if" || word == "elif") {
    if (!lines.mentions("TYPE_CHECKING")) return true;
    std::string condition = lines.copy().substr(word.size());
    bool types = condition.find("TYPE_CHECKING") != std::string::npos && condition.find("not ") == std::string::npos &&
                 condition.find(" or ") == std::string::npos;
    if (types) place = ImportPlace::kTypesOnly;
    return true;
  }
  return is_any(word, {"else", "try", "except", "finally", "for", "while", "match", "case"});
}

}  // namespace

std::vector<ScannedImport> scan_imports(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<ScannedImport> out;
  std::vector<Block> blocks;
  LogicalLines lines(text);
  size_t indent = 0;
  uint32_t number = 0;
  while (lines.next(indent, number)) {
    while (!blocks.empty() && blocks.back().indent >= indent) blocks.pop_back();
    ImportPlace opened = ImportPlace::kTop;
    std::string_view word = lines.word();
    if (word == "import" || word == "from") {
      ScannedImport import;
      import.line = number;
      for (const Block& b : blocks) import.place = std::max(import.place, b.place);
      std::string line = lines.copy();
      Words words(std::string_view(line).substr(word.size()));
      word == "import" ? plain_import(words, std::move(import), out) : from_import(words, std::move(import), out);
    } else if (opens_block(lines, word, opened)) {
      blocks.push_back({indent, opened});
    }
  }
  return out;
}

}  // namespace assay
