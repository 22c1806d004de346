// Counter-based random numbers: value i of a stream depends on (seed, stream, i) alone, so any part of a
// tensor can be made by itself, in any order, with the same bytes on every machine. Only integer arithmetic
// and exact operations are used. Source of the mixing function: the SplitMix64 finaliser (Steele, Lea, Flood
// 2014).
#pragma once

#include <cstdint>

namespace assay::num {

class Random {
 public:
  constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : key_(mix(mix(seed) + kStep * stream)) {}

  constexpr std::uint64_t bits(std::uint64_t i) const { return mix(key_ + kStep * (i + 1)); }

  // Uniform in [0, 1), a multiple of 2^-53.
  constexpr double uniform(std::uint64_t i) const { return static_cast<double>(bits(i) >> 11) * 0x1p-53; }

  // Close to a standard normal: the sum of four uniforms (|x| < 3.47), mean 0 and variance 1 up to 2^-32.
  constexpr double normal(std::uint64_t i) const {
    const std::uint64_t b = bits(i);
    const auto sum =
        static_cast<std::int64_t>((b & 0xffff) + ((b >> 16) & 0xffff) + ((b >> 32) & 0xffff) + (b >> 48));
    return static_cast<double>(2 * sum - 4 * 65535) * (0x1.bb67ae8584caap-1 / 65536.0);
  }

  // Uniform in [low, high].
  constexpr std::int64_t between(std::uint64_t i, std::int64_t low, std::int64_t high) const {
    return low + static_cast<std::int64_t>(bits(i) % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t key_;
};

// Draws one number after another from a stream; for choices, where only the order matters.
class Draw {
 public:
  constexpr explicit Draw(std::uint64_t seed, std::uint64_t stream = 0) : random_(seed, stream) {}
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    return random_.between(next_++, low, high);
  }
  constexpr double uniform() { return random_.uniform(next_++); }
  constexpr double normal() { return random_.normal(next_++); }
  constexpr bool chance(double p) { return uniform() < p; }
  template <class T, std::size_t N>
  constexpr const T& pick(const T (&from)[N]) {
    return from[between(0, static_cast<std::int64_t>(N) - 1)];
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

}  // namespace assay::num
