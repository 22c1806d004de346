#include "project/member_index.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

#include "base/parallel.h"
#include "base/text.h"
#include "python/skip_string.h"

namespace assay {
namespace {

constexpr size_t kMostSubclasses = 4000;  // a closure larger than that is cut: callers give up long before

bool is_word(char c) { return static_cast<signed char>(c) > 0 && is_identifier_byte(c); }
bool starts_word(char c) { return is_word(c) && !(c >= '0' && c <= '9'); }

std::string_view word_at(std::string_view s, size_t at) {
  size_t end = at;
  while (end < s.size() && is_word(s[end])) ++end;
  return s.substr(at, end - at);
}

// Most lines differ in the first character.
inline bool starts_with(std::string_view s, std::string_view prefix) { return !s.empty() && s[0] == prefix[0] && s.substr(0, prefix.size()) == prefix; }

size_t skip_spaces(std::string_view s, size_t at) {
  while (at < s.size() && (s[at] == ' ' || s[at] == '\t')) ++at;
  return at;
}

// The name that a line at the left margin defines; empty if it defines none.
std::string_view defined_name(std::string_view line) {
  for (std::string_view keyword : {"class ", "def ", "async def "}) {
    if (starts_with(line, keyword)) return word_at(line, keyword.size());
  }
  std::string_view name = word_at(line, 0);
  size_t next = name.size();
  while (next < line.size() && line[next] == ' ') ++next;
  bool assigns = next < line.size() && ((line[next] == '=' && line.substr(next, 2) != "==") || line[next] == ':');
  if (!assigns || name == "if" || name == "else" || name == "try" || name == "finally" || name == "with") return {};
  return name;
}

// Behind the bracket that closes the one at `at`, within the line; npos if it is not closed there.
size_t behind_bracket(std::string_view s, size_t at) {
  int depth = 0;
  for (size_t i = at; i < s.size(); ++i) {
    if (s[i] == '(' || s[i] == '[' || s[i] == '{') ++depth;
    if ((s[i] == ')' || s[i] == ']' || s[i] == '}') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

struct MemberIndex::FileFacts {
  std::vector<std::pair<std::string_view, uint8_t>> flags;
  std::vector<std::pair<std::string_view, ClassPlace>> by_base;
  std::vector<std::pair<std::string_view, std::string_view>> aliases;  // name, alias
  std::vector<std::pair<std::string_view, uint32_t>> definitions;      // at the left margin: name, line
};

namespace {

class FileScanner {
 public:
  using Flags = std::vector<std::pair<std::string_view, uint8_t>>;

  FileScanner(const Module& module, std::string_view text, Flags& flags) : module_(module), text_(text), flags_(flags) {}

  void run() {
    for (size_t at = 0; at < text_.size(); ++line_) {
      const void* newline = std::memchr(text_.data() + at, '\n', text_.size() - at);
      size_t end = newline ? static_cast<size_t>(static_cast<const char*>(newline) - text_.data()) : text_.size();
      line(text_.substr(at, end - at), at);
      at = end + 1;
    }
    strings_near("register_", 400);
    strings_near("add_module(", 200);
    strings_near("__setattr__(", 200);
    strings_near("replace_parameter(", 200);
    strings_near("set_weight_attrs(", 600);
    setattr_calls();
  }

  std::vector<std::pair<std::string_view, ClassPlace>> by_base;
  std::vector<std::pair<std::string_view, std::string_view>> aliases;
  std::vector<std::pair<std::string_view, uint32_t>> definitions;

 private:
  // @patch("pkg.Class.name"), or @patch("pkg.Class") above `def name`: decorators with strings may install what follows.
  void decorator(size_t offset) {
    std::string_view rest = text_.substr(offset, 1500);
    size_t end = std::min(rest.find("\ndef "), rest.find("\nclass "));
    if (end == std::string_view::npos || (rest.find('"') > end && rest.find('\'') > end)) return;
    strings_in(rest.substr(0, end));
    size_t name = rest.find(' ', end) + 1;
    flags_.emplace_back(word_at(rest, name), kOther);
  }

  void line(std::string_view full, size_t offset) {
    size_t indent = skip_spaces(full, 0);
    if (indent >= full.size() || full[indent] == '#') return;
    if (indent == 0 && starts_word(full[0])) {
      std::string_view name = defined_name(full);
      if (!name.empty()) definitions.emplace_back(name, line_);
    }
    if (full.back() == '\r') full.remove_suffix(1);
    std::string_view s = full.substr(indent);
    if (s[0] == '@' && indent == 0) return decorator(offset);
    if (starts_with(s, "class ")) {
      if (indent > 0) define(word_at(s, 6));
      return class_line(offset + indent);
    }
    if (starts_with(s, "async ")) s = s.substr(skip_spaces(s, 6));
    if (starts_with(s, "def ")) {
      if (indent > 0) define(word_at(s, 4));
      return;
    }
    if (has_as(s)) import_aliases(s);
    if (starts_with(s, "for ")) s = s.substr(4);
    if (starts_with(s, "with ") || starts_with(s, "async with ")) {
      size_t as = s.rfind(" as ");
      if (as == std::string_view::npos) return;
      s = s.substr(as + 4);
    }
    targets(s, indent);
  }

  // Few lines have one: the text is searched from one to the next, not line by line.
  bool has_as(std::string_view s) {
    size_t begin = static_cast<size_t>(s.data() - text_.data());
    while (next_as_ < begin) next_as_ = find_text(text_, " as ", next_as_ + 1);
    return next_as_ < begin + s.size();
  }

  struct Target {
    std::string_view name;
    bool dotted, self;
  };

  // `a.b = c.d = …`, `a.b: T = …`, `a.b, c.d = …`, also with one target a line and `) = …` at the end: every name that is
  // a target.
  void targets(std::string_view s, size_t indent) {
    if (starts_with(s, "(") && s.size() == 1) return;  // the targets follow
    size_t at = 0;
    if (starts_with(s, ")")) {
      size_t next = skip_spaces(s, 1);
      bool assigns = next < s.size() && s[next] == '=' && !(next + 1 < s.size() && s[next + 1] == '=');
      if (assigns) commit(indent);
      pending_.clear();
      return;
    }
    bool value = false;  // behind a `=`: a target only if another one follows
    while (true) {
      at = skip_spaces(s, at);
      while (at < s.size() && (s[at] == '(' || s[at] == '*' || s[at] == '[')) ++at;
      if (at >= s.size() && !value) return;  // a comma ends the line: the next one goes on
      if (at >= s.size()) break;
      size_t next = target(s, at);
      if (next == std::string_view::npos) break;
      next = skip_spaces(s, next);
      while (next < s.size() && (s[next] == ')' || s[next] == ']')) next = skip_spaces(s, next + 1);
      if (next >= s.size() && !value) return;  // one target a line, the last one without a comma
      if (next >= s.size()) break;
      char c = s[next];
      bool equals = c == '=' && !(next + 1 < s.size() && s[next + 1] == '=');
      if (equals && indent == 0 && pending_.size() == 1 && !pending_[0].dotted) alias_assignment(pending_[0].name, s.substr(next + 1));
      if (equals || c == ':' || starts_with(s.substr(next), "in ")) commit(indent);
      if (c == ':') next = s.find('=', next);
      // `|=` and its like store again what is there already.
      if (next == std::string_view::npos || (c != ':' && !equals && (c != ',' || value))) break;
      value |= c != ',';
      at = next + 1;
    }
    pending_.clear();
  }

  // Reads one target; the place behind it, or npos for what can be none.
  size_t target(std::string_view s, size_t at) {
    if (!starts_word(s[at])) return std::string_view::npos;
    std::string_view last = word_at(s, at), receiver;
    size_t next = at + last.size(), parts = 1;
    while (next < s.size()) {
      if (s[next] == '.') {
        std::string_view word = word_at(s, next + 1);
        if (word.empty()) return std::string_view::npos;
        receiver = parts == 1 ? last : std::string_view();
        last = word;
        ++parts;
        next += 1 + word.size();
      } else if (s[next] == '[' || s[next] == '(') {
        next = behind_bracket(s, next);
        if (next == std::string_view::npos) return next;
        last = {};
        ++parts;
      } else {
        break;
      }
    }
    pending_.push_back({last, parts > 1, receiver == "self" || receiver == "cls"});
    return next;
  }

  void commit(size_t indent) {
    for (const Target& t : pending_) {
      if (t.dotted && !t.name.empty()) flags_.emplace_back(t.name, t.self ? kSelf : kOther);
      if (!t.dotted && indent > 0) define(t.name);
    }
    pending_.clear();
  }

  void define(std::string_view name) {
    if (!name.empty()) flags_.emplace_back(name, kBody);
  }

  // X = Y of two class-like names
  void alias_assignment(std::string_view alias, std::string_view value) {
    value = value.substr(skip_spaces(value, 0));
    size_t end = 0;
    while (end < value.size() && (is_word(value[end]) || value[end] == '.')) ++end;
    if (end == 0 || skip_spaces(value, end) < value.size()) return;
    std::string_view name = value.substr(0, end);
    name = name.substr(name.rfind('.') + 1);
    if (!name.empty() && name != alias) aliases.emplace_back(name, alias);
  }

  void import_aliases(std::string_view s) {
    for (size_t at = s.find(" as "); at != std::string_view::npos; at = s.find(" as ", at + 4)) {
      size_t begin = at;
      while (begin > 0 && is_word(s[begin - 1])) --begin;
      std::string_view name = s.substr(begin, at - begin), alias = word_at(s, at + 4);
      if (!name.empty() && !alias.empty() && name != alias) aliases.emplace_back(name, alias);
    }
  }

  // The bases, over line breaks: the last part of every dotted name at the top level of the brackets.
  void class_line(size_t offset) {
    std::string_view name = word_at(text_, offset + 6);
    size_t at = skip_spaces(text_, offset + 6 + name.size());
    if (at < text_.size() && text_[at] == '[') {
      at = behind_bracket(text_.substr(0, std::min(text_.size(), at + 500)), at);
      if (at == std::string_view::npos) return;
    }
    if (at >= text_.size() || text_[at] != '(') return;
    int depth = 0;
    for (; at < text_.size(); ++at) {
      char c = text_[at];
      if (c == '#') {
        at = std::min(text_.find('\n', at), text_.size() - 1);
      } else if (c == '(' || c == '[') {
        ++depth;
      } else if (c == ')' || c == ']') {
        if (--depth == 0) return;
      } else if (depth >= 1 && starts_word(c)) {
        std::string_view word = word_at(text_, at);
        by_base.emplace_back(word, ClassPlace{&module_, line_, name});
        at += word.size() - 1;
      }
    }
  }

  void strings_in(std::string_view s) {
    for (size_t at = s.find_first_of("'\""); at != std::string_view::npos; at = s.find_first_of("'\"", at + 1)) {
      std::string_view word = word_at(s, at + 1);
      size_t end = at + 1 + word.size();
      while (end < s.size() && s[end] == '.') {  // of a dotted path the last name
        word = word_at(s, end + 1);
        end += 1 + word.size();
      }
      if (word.empty() || !starts_word(word[0]) || end >= s.size() || s[end] != s[at]) continue;
      flags_.emplace_back(word, kOther);
      at = end;
    }
  }

  void strings_near(std::string_view call, size_t reach) {
    for (size_t at = find_text(text_, call); at != std::string_view::npos; at = find_text(text_, call, at + call.size())) {
      strings_in(text_.substr(at, reach));
    }
  }

  // setattr(x, "name", …) names one; setattr(x, computed, …) may be any string of the file.
  void setattr_calls() {
    for (std::string_view call : {"setattr(", "__dict__"}) {
      for (size_t at = find_text(text_, call); at != std::string_view::npos; at = find_text(text_, call, at + call.size())) {
        std::string_view rest = text_.substr(at + call.size(), 300);
        size_t comma = rest.find(',');
        size_t name = comma == std::string_view::npos ? rest.size() : rest.find_first_not_of(" \n\t", comma + 1);
        if (name < rest.size() && (rest[name] == '"' || rest[name] == '\'')) {
          strings_in(rest.substr(name, 80));
        } else {
          strings_in(text_);
          return;
        }
      }
    }
  }

  static constexpr uint8_t kSelf = MemberIndex::kStoredOnSelf, kOther = MemberIndex::kStoredOnOther, kBody = MemberIndex::kInClassBody;
  const Module& module_;
  std::string_view text_;
  Flags& flags_;
  uint32_t line_ = 1;
  size_t next_as_ = find_text(text_, " as ");
  std::vector<Target> pending_;  // names that are targets if a `=` follows
};

}  // namespace

void MemberIndex::build() const {
  std::vector<const Module*> modules;
  for (const SourceTree* tree : project_.trees()) {
    for (const Module* m : project_.modules_of(*tree)) {
      if (m->kind == ModuleKind::kSource) modules.push_back(m);
    }
  }
  std::vector<FileFacts> found(modules.size());
  parallel_for(modules.size(), threads_, [&](size_t i) {
    FileFacts& facts = found[i];
    FileScanner scanner(*modules[i], project_.text(*modules[i]), facts.flags);
    scanner.run();
    std::sort(facts.flags.begin(), facts.flags.end());
    facts.flags.erase(std::unique(facts.flags.begin(), facts.flags.end()), facts.flags.end());
    facts.by_base = std::move(scanner.by_base);
    facts.aliases = std::move(scanner.aliases);
    facts.definitions = std::move(scanner.definitions);
  });
  for (size_t i = 0; i < modules.size(); ++i) {
    for (auto [name, flag] : found[i].flags) {
      flags_[name] |= flag;
      if (flag & kStoredOnOther) others_[name].push_back(modules[i]);
    }
    for (auto& [base, place] : found[i].by_base) by_base_[base].push_back(place);
    for (auto [name, alias] : found[i].aliases) aliases_[name].push_back(alias);
    if (!modules[i]->name.empty()) {
      for (auto [name, line] : found[i].definitions) definitions_[name].push_back({modules[i], line});
    }
    found[i] = {};
  }
}

uint8_t MemberIndex::flags(std::string_view name) const {
  ensure();
  auto it = flags_.find(name);
  return it == flags_.end() ? 0 : it->second;
}

std::vector<const Module*> MemberIndex::stored_on_other(std::string_view name) const {
  ensure();
  auto it = others_.find(name);
  return it == others_.end() ? std::vector<const Module*>() : it->second;
}

std::vector<DefinitionPlace> MemberIndex::definitions(const SourceTree& tree, std::string_view name) const {
  ensure();
  auto it = definitions_.find(name);
  if (it == definitions_.end()) return {};
  std::vector<DefinitionPlace> out;
  std::copy_if(it->second.begin(), it->second.end(), std::back_inserter(out), [&](const DefinitionPlace& d) { return d.module->tree == &tree; });
  return out;
}

std::vector<ClassPlace> MemberIndex::subclasses(std::string_view simple_name) const {
  ensure();
  std::vector<ClassPlace> out;
  std::set<std::string_view> seen{simple_name};
  std::vector<std::string_view> todo{simple_name};
  while (!todo.empty() && out.size() < kMostSubclasses) {
    std::string_view name = todo.back();
    todo.pop_back();
    if (auto it = aliases_.find(name); it != aliases_.end()) {
      for (std::string_view alias : it->second) {
        if (seen.insert(alias).second) todo.push_back(alias);
      }
    }
    auto it = by_base_.find(name);
    if (it == by_base_.end()) continue;
    for (const ClassPlace& place : it->second) {
      out.push_back(place);
      if (seen.insert(place.name).second) todo.push_back(place.name);
    }
  }
  return out;
}

}  // namespace assay
