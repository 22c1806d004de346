#include "cases/case_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace assay::num {
namespace {

constexpr std::size_t kMostEntries = 1 << 20;  // of one list, so that a typing error can't exhaust memory

template <class T>
bool whole_number(std::string_view text, T* to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *to);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

tl::unexpected<Error> wrong(const KeySpec& key, std::string_view text, std::string_view need) {
  return fail(fmt::format("{}={}: {} is needed", key.name, printable(text), need));
}

Expected<std::int64_t> bounded(const KeySpec& key, std::string_view whole, std::string_view text) {
  std::int64_t x = 0;
  if (!whole_number(text, &x)) return wrong(key, whole, "a whole number");
  if (static_cast<double>(x) < key.low || static_cast<double>(x) > key.high)
    return wrong(key, whole, fmt::format("a number from {:.15g} to {:.15g}", key.low, key.high));
  return x;
}

Expected<Value> parse_list(const KeySpec& key, std::string_view text) {
  Value v;
  if (text == "-") return v;
  for (std::string_view entry : split(text, ',')) {
    const auto parts = split(entry, '*');
    if (parts.size() > 2) return wrong(key, text, "a list like 1,17,40*3");
    const auto x = bounded(key, text, parts[0]);
    if (!x) return tl::unexpected(x.error());
    std::size_t count = 1;
    if (parts.size() == 2 && (!whole_number(parts[1], &count) || count == 0))
      return wrong(key, text, "a positive count after '*'");
    if (count > kMostEntries || v.ints.size() + count > kMostEntries)
      return wrong(key, text, fmt::format("a list of at most {} entries", kMostEntries));
    v.ints.insert(v.ints.end(), count, *x);
  }
  return v;
}

Expected<Value> parse_value(const KeySpec& key, std::string_view text) {
  Value v;
  switch (key.kind) {
    case KeyKind::kWord:
      if (std::find(key.words.begin(), key.words.end(), text) == key.words.end())
        return wrong(key, text, fmt::format("one of {}", fmt::join(key.words, ", ")));
      v.word = text;
      return v;
    case KeyKind::kReal:
      if (!whole_number(text, &v.real) || !std::isfinite(v.real)) return wrong(key, text, "a number");
      if (v.real < key.low || v.real > key.high)
        return wrong(key, text, fmt::format("a number from {} to {}", key.low, key.high));
      return v;
    case KeyKind::kInt: {
      const auto x = bounded(key, text, text);
      if (!x) return tl::unexpected(x.error());
      v.ints = {*x};
      return v;
    }
    case KeyKind::kPair: {
      const auto parts = split(text, '/');
      if (parts.size() > 2) return wrong(key, text, "one number, or two as a/b");
      for (std::string_view part : parts) {
        const auto x = bounded(key, text, part);
        if (!x) return tl::unexpected(x.error());
        v.ints.push_back(*x);
      }
      if (v.ints.size() == 1) v.ints.push_back(v.ints[0]);
      return v;
    }
    case KeyKind::kList:
      return parse_list(key, text);
  }
  return v;
}

std::string print_list(const std::vector<std::int64_t>& ints) {
  if (ints.empty()) return "-";
  std::string text;
  for (std::size_t i = 0; i < ints.size();) {
    std::size_t end = i;
    while (end < ints.size() && ints[end] == ints[i]) ++end;
    if (i > 0) text += ',';
    text += end - i > 1 ? fmt::format("{}*{}", ints[i], end - i) : fmt::format("{}", ints[i]);
    i = end;
  }
  return text;
}

std::string print_value(const KeySpec& key, const Value& v) {
  switch (key.kind) {
    case KeyKind::kWord:
      return v.word;
    case KeyKind::kReal:
      return fmt::format("{}", v.real);
    case KeyKind::kInt:
      return fmt::format("{}", v.ints[0]);
    case KeyKind::kPair:
      return v.ints[0] == v.ints[1] ? fmt::format("{}", v.ints[0])
                                    : fmt::format("{}/{}", v.ints[0], v.ints[1]);
    case KeyKind::kList:
      return print_list(v.ints);
  }
  return {};
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  const std::string near = did_you_mean(name, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

}  // namespace

Case::Case(const Schema& schema) : schema_(&schema) {
  for (const KeySpec& key : schema.keys) {
    auto v = parse_value(key, key.fallback);
    ASSAY_CHECK(v.has_value(), v ? "" : v.error().message);
    values_.push_back(std::move(*v));
  }
}

const Value& Case::value(std::string_view key) const {
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (schema_->keys[i].name == key) return values_[i];
  bug(__FILE__, __LINE__, fmt::format("no key {} in family {}", key, family()));
}

Value& Case::value(std::string_view key) { return const_cast<Value&>(std::as_const(*this).value(key)); }

Expected<void> Case::set(std::string_view key, std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < schema_->keys.size(); ++i) {
    names.push_back(schema_->keys[i].name);
    if (names.back() != key) continue;
    auto v = parse_value(schema_->keys[i], text);
    if (!v) return tl::unexpected(v.error());
    values_[i] = std::move(*v);
    return {};
  }
  return fail(fmt::format("{}: no key of {}{}", printable(key), family(), suggestion(key, names)));
}

std::string Case::print() const {
  std::string line = schema_->family;
  const Case defaults(*schema_);
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!(values_[i] == defaults.values_[i]))
      line += fmt::format(" {}={}", schema_->keys[i].name, print_value(schema_->keys[i], values_[i]));
  return line;
}

Expected<Case> parse_case(std::string_view line, const std::vector<const Schema*>& schemas) {
  std::vector<std::string_view> words;
  for (std::string_view word : split(line, ' '))
    if (!trim(word).empty()) words.push_back(trim(word));
  if (words.empty()) return fail("an empty case line");
  std::vector<std::string> names;
  const Schema* schema = nullptr;
  for (const Schema* s : schemas) {
    names.push_back(s->family);
    if (s->family == words[0]) schema = s;
  }
  if (!schema)
    return fail(fmt::format("{}: no such family{}", printable(words[0]), suggestion(words[0], names)));
  Case c(*schema);
  std::vector<std::string_view> seen;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(fmt::format("{}: key=value is needed", printable(words[i])));
    const std::string_view key = words[i].substr(0, equals);
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return fail(fmt::format("{}: given twice", printable(key)));
    seen.push_back(key);
    if (auto ok = c.set(key, words[i].substr(equals + 1)); !ok) return tl::unexpected(ok.error());
  }
  return c;
}

}  // namespace assay::num
