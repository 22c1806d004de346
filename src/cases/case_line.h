// A case is one line: `attn.paged dtype=bf16 heads=8/2 lens=1,17,40*3 window=7,0 fill=needle seed=7`. It is
// the key of a repro, the unit of shrinking and the whole of the input: the same line makes the same bytes
// everywhere.
//
//   line  := family (' ' key '=' value)*
//   value := word | number | number '/' number | entry (',' entry)*      entry := number ['*' count]
//
// Keys not given take the schema's default. Printing is canonical: keys in schema order, defaults left out,
// runs of equal list entries joined, so that parse(print(c)) == c and print(parse(line)) is stable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay::num {

enum class KeyKind : std::uint8_t {
  kInt,
  kReal,
  kWord,  // one of `words`
  kPair,  // a/b; a alone means a/a
  kList,  // integers; "-" is the empty list
};

struct KeySpec {
  std::string name;
  KeyKind kind;
  std::string fallback;            // what is meant when the key is not given
  double low = 0, high = 0;        // bounds of every number
  std::vector<std::string> words;  // kWord
  std::string meaning;             // one line for the help
};

// Keys that many families have.
inline KeySpec seed_key() { return {"seed", KeyKind::kInt, "0", 0, 1e15, {}, ""}; }
inline KeySpec call_key() {
  return {"call",
          KeyKind::kInt,
          "0",
          0,
          1 << 20,
          {},
          "another call with the same parameters and other activations"};
}

struct Schema {
  std::string family;
  std::vector<KeySpec> keys;
};

struct Value {
  std::vector<std::int64_t> ints;  // kInt, kPair, kList
  double real = 0;
  std::string word;
  bool operator==(const Value&) const = default;
};

class Case {
 public:
  Case() = default;
  explicit Case(const Schema& schema);  // all defaults

  const std::string& family() const { return schema_->family; }
  const Schema& schema() const { return *schema_; }

  std::int64_t integer(std::string_view key) const { return value(key).ints.at(0); }
  double real(std::string_view key) const { return value(key).real; }
  const std::string& word(std::string_view key) const { return value(key).word; }
  std::int64_t first(std::string_view key) const { return value(key).ints.at(0); }
  std::int64_t second(std::string_view key) const { return value(key).ints.at(1); }
  const std::vector<std::int64_t>& list(std::string_view key) const { return value(key).ints; }

  // Error: names the key and what its value has to be.
  Expected<void> set(std::string_view key, std::string_view text);
  void set_list(std::string_view key, std::vector<std::int64_t> values) {
    value(key).ints = std::move(values);
  }
  void set_integer(std::string_view key, std::int64_t v) { value(key).ints = {v}; }
  void set_word(std::string_view key, std::string word) { value(key).word = std::move(word); }

  std::string print() const;
  bool operator==(const Case& other) const { return schema_ == other.schema_ && values_ == other.values_; }

 private:
  const Value& value(std::string_view key) const;
  Value& value(std::string_view key);

  const Schema* schema_ = nullptr;
  std::vector<Value> values_;  // in schema order
};

// The family is the first word. Error: names the family, key or value that is wrong, with the nearest known
// name.
Expected<Case> parse_case(std::string_view line, const std::vector<const Schema*>& schemas);

}  // namespace assay::num
