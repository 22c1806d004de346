// Content hashes: XXH3-128 as 32 hexadecimal digits. Not for secrets: for telling contents apart.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace assay {

std::string content_hash(std::string_view bytes);

// The same hash over bytes that come in pieces.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  void add(std::string_view bytes);
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
