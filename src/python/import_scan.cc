#include "python/import_scan.h"

#include <algorithm>

#include "python/skip_string.h"

namespace assay {
namespace {

struct Block {
  size_t indent;
  ImportPlace place;
};

bool starts_with(std::string_view s, std::string_view prefix) { return s.substr(0, prefix.size()) == prefix; }

std::string_view first_word(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && is_identifier_byte(line[end])) ++end;
  return line.substr(0, end);
}

// What the lines below this one are guarded by, if it opens a block.
bool opens_block(std::string_view line, ImportPlace& place) {
  std::string_view word = first_word(line);
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
    std::string_view condition = line.substr(word.size());
    bool types = condition.find("TYPE_CHECKING") != std::string_view::npos && condition.find("not ") == std::string_view::npos &&
                 condition.find(" or ") == std::string_view::npos;
    if (types) place = ImportPlace::kTypesOnly;
    return true;
  }
  return word == "else" || word == "try" || word == "except" || word == "finally" || word == "for" || word == "while" || word == "match" ||
         word == "case";
}

// Splits the text into logical lines: one per statement start, brackets and continuations joined, strings and comments
// blanked. (Statements behind a semicolon or a colon stay in the line of the first.)
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : text_(text) {}

  bool next(std::string& line, size_t& indent, uint32_t& number) {
    line.clear();
    while (at_ < text_.size()) {
      size_t begin = at_;
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
      indent = at_ - begin;
      number = line_;
      read(line);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
      if (!line.empty()) return true;
    }
    return false;
  }

 private:
  void read(std::string& out) {
    int depth = 0;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        if (depth <= 0) return;
        out += ' ';
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        size_t end = std::max(skip_string(text_, at_).end, at_ + 1);
        line_ += static_cast<uint32_t>(std::count(text_.begin() + static_cast<long>(at_), text_.begin() + static_cast<long>(end), '\n'));
        at_ = end;
        out += '"';
      } else if (c == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '\n' || text_[at_ + 1] == '\r')) {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
        ++line_;
        out += ' ';
      } else {
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') --depth;
        out += c;
        ++at_;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
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

}  // namespace

std::vector<ScannedImport> scan_imports(std::string_view text) {
  if (starts_with(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<ScannedImport> out;
  std::vector<Block> blocks;
  LogicalLines lines(text);
  std::string line;
  size_t indent = 0;
  uint32_t number = 0;
  while (lines.next(line, indent, number)) {
    while (!blocks.empty() && blocks.back().indent >= indent) blocks.pop_back();
    ImportPlace opened = ImportPlace::kTop;
    std::string_view word = first_word(line);
    if (word == "import" || word == "from") {
      ScannedImport import;
      import.line = number;
      for (const Block& b : blocks) import.place = std::max(import.place, b.place);
      Words words(std::string_view(line).substr(word.size()));
      word == "import" ? plain_import(words, std::move(import), out) : from_import(words, std::move(import), out);
    } else if (opens_block(line, opened)) {
      blocks.push_back({indent, opened});
    }
  }
  return out;
}

}  // namespace assay
