#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace assay {
namespace {

// The length of the UTF-8 sequence that starts at text[i], or 0 if there is no valid one.
size_t utf8_length(std::string_view text, size_t i) {
  auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  auto tail = [&](size_t k) { return k < text.size() && (byte(k) & 0xC0) == 0x80; };
  const unsigned char first = byte(i);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !tail(i + 1)) return 0;
  if (first < 0xE0) return 2;
  const unsigned char second = byte(i + 1);
  if (!tail(i + 2)) return 0;
  if (first < 0xF0) {
    if (first == 0xE0 && second < 0xA0) return 0;  // overlong
    if (first == 0xED && second > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (!tail(i + 3)) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return 4;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string_view trim(std::string_view text) {
  const char* space = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

// Sixteen places at a time are asked for the word's first, middle and last byte.
size_t find_text(std::string_view text, std::string_view what, size_t from) {
  using Block = unsigned char __attribute__((vector_size(16)));
  using Halves = unsigned long long __attribute__((vector_size(16)));
  constexpr size_t kBlock = sizeof(Block);
  if (what.size() < 2) return text.find(what, from);
  const size_t reach = what.size() - 1, middle = what.size() / 2;
  const Block first = Block{} + static_cast<unsigned char>(what.front());
  const Block second = Block{} + static_cast<unsigned char>(what[middle]);
  const Block last = Block{} + static_cast<unsigned char>(what.back());
  auto block = [&](size_t at) {
    Block out;
    std::memcpy(&out, text.data() + at, kBlock);
    return out;
  };
  size_t at = from;
  for (; at + reach + kBlock <= text.size(); at += kBlock) {
    const auto all = (block(at) == first) & (block(at + reach) == last) & (block(at + middle) == second);
    const auto halves = reinterpret_cast<Halves>(all);
    if ((halves[0] | halves[1]) == 0) continue;
    for (size_t i = 0; i < kBlock; ++i) {
      if (all[i] && std::memcmp(text.data() + at + i, what.data(), what.size()) == 0) return at + i;
    }
  }
  return text.find(what, at);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool valid_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    // Source files are nearly all ASCII: eight bytes at a time.
    uint64_t word;
    while (i + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + i, sizeof word);
      if (word & 0x8080808080808080u) break;
      i += sizeof word;
    }
    if (i == text.size()) return true;
    const size_t length = utf8_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const size_t length = utf8_length(text, i);
    // C1 control characters (U+0080…U+009F) drive some terminals too.
    const bool c1 = length == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (length == 0 || c < 0x20 || c == 0x7F || c1) {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", c);
      out += escape;
      if (c1) {
        std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[i + 1]));
        out += escape;
      }
    } else {
      out.append(text, i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  return out;
}

std::string without_credentials(std::string_view text) {
  std::string out;
  for (size_t scheme; (scheme = text.find("://")) != std::string_view::npos;) {
    const size_t begin = scheme + 3;
    // A password may itself hold an '@': the last one before the host's end counts.
    const size_t end = std::min(text.find_first_of("/?# \t\n'\"", begin), text.size());
    const size_t at = text.substr(0, end).rfind('@');
    out += text.substr(0, begin);
    if (at != std::string_view::npos && at >= begin) {
      out += "***";
      text.remove_prefix(at);
    } else {
      text.remove_prefix(begin);
    }
  }
  out += text;
  return out;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table; `older` serves the swaps.
  std::vector<size_t> older(b.size() + 1), old(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    older.swap(old);
    old.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({old[j] + 1, row[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], older[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  // A third of the letters may be wrong; more than that is another word.
  size_t best = std::max<size_t>(name.size() / 3, 1) + 1;
  const std::string* found = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate == name) continue;
    if (equal_without_case(candidate, name)) return candidate;
    const size_t shorter = std::min(candidate.size(), name.size());
    if (std::max(candidate.size(), name.size()) - shorter >= best || shorter == 0) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < shorter) {
      best = distance;
      found = &candidate;
    }
  }
  return found ? *found : std::string();
}

}  // namespace assay
