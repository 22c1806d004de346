#include "model/json_writer.h"

#include <fmt/format.h>

namespace assay {

namespace {

// Bytes of the UTF-8 character at text[at]; 0 where there is none.
size_t character_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint8_t{0};
  };
  auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    bool overlong = lead == 0xF0 && byte(1) < 0x90;
    bool too_large = lead == 0xF4 && byte(1) >= 0x90;
    return continues(1) && continues(2) && continues(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  }
}

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' &&
         c != '\\';
}

void append_text(std::string& out, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t plain = at;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out.append(text, at, plain - at);
    at = plain;
    if (at == text.size()) break;
    size_t length = character_length(text, at);
    if (length == 1)
      append_escaped(out, text[at]);
    else if (length == 0)
      out += "\uFFFD";
    else
      out.append(text, at, length);
    at += length == 0 ? 1 : length;
  }
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  before_value();
  out_ += '"';
  append_text(out_, name);
  out_ += "\": ";
  after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  before_value();
  out_ += '"';
  append_text(out_, value);
  out_ += '"';
}

void JsonWriter::number(uint64_t value) {
  before_value();
  out_ += fmt::format("{}", value);
}

void JsonWriter::seconds(double value) {
  before_value();
  out_ += fmt::format("{:.6f}", value);
}

void JsonWriter::null() {
  before_value();
  out_ += "null";
}

void JsonWriter::begin(char bracket) {
  before_value();
  out_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!empty_) new_line();
  out_ += bracket;
  empty_ = false;
}

void JsonWriter::before_value() {
  bool named = after_key_;
  after_key_ = false;
  if (named) return;
  if (!empty_) out_ += ',';
  if (depth_ > 0) new_line();
  empty_ = false;
}

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(depth_, ' ');
}

void JsonWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  key(name);
  begin_array();
  for (const std::string& value : values) text(value);
  end_array();
}

}  // namespace assay
