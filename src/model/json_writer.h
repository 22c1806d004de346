// Writes JSON straight into a string, one space of indent per level: a report over a large tree is not first
// built up in memory as a document.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class JsonWriter {
 public:
  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }

  // Of the value that follows.
  void key(std::string_view name);

  // Bytes that are not UTF-8 become U+FFFD.
  void text(std::string_view value);
  void number(uint64_t value);
  void seconds(double value);  // to the microsecond
  void null();

  void field(std::string_view name, std::string_view value) { key(name), text(value); }
  void field(std::string_view name, uint64_t value) { key(name), number(value); }
  // A member that is an array of strings.
  void texts(std::string_view name, const std::vector<std::string>& values);
  // A member that is an array of objects, each filled by `write`.
  template <class T>
  void list(std::string_view name, const std::vector<T>& values, void (*write)(JsonWriter&, const T&));

  std::string take() { return std::move(out_) + "\n"; }

 private:
  void begin(char bracket);
  void end(char bracket);
  void before_value();  // separator and indent, unless a key stands before it
  void new_line();

  std::string out_;
  size_t depth_ = 0;
  bool empty_ = true;  // nothing yet in the innermost object or array
  bool after_key_ = false;
};

template <class T>
void JsonWriter::list(std::string_view name, const std::vector<T>& values, void (*write)(JsonWriter&, const T&)) {
  key(name);
  begin_array();
  for (const T& value : values) {
    begin_object();
    write(*this, value);
    end_object();
  }
  end_array();
}

}  // namespace assay
