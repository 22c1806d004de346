#include "judge/accumulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::num {

double depth(const Accumulation& a, double terms) {
  constexpr double kSecondOrder = 1 + 0x1p-4;
  if (a.order == Accumulation::Order::kFp8) return 33 * std::ceil(terms / 32) * 0x1p11 * kSecondOrder;
  return a.unknown_factor * terms * kSecondOrder;
}

double accumulation_error(const Accumulation& a, std::span<const double> terms) {
  const auto n = static_cast<std::int64_t>(terms.size());
  double sum = 0, error = 0;
  switch (a.order) {
    case Accumulation::Order::kUnknown:
    case Accumulation::Order::kFp8:
      for (double z : terms) sum += std::fabs(z);
      return depth(a, static_cast<double>(n)) * kU32 * sum;
    case Accumulation::Order::kChain:
      for (double z : terms) error += std::fabs(sum += z);
      return error * kU32 * (1 + 0x1p-10);
    case Accumulation::Order::kMma:
      for (std::int64_t t = 0; t < n; t += a.block) {
        double largest = std::fabs(sum);
        for (std::int64_t i = t; i < std::min(n, t + a.block); ++i) {
          largest = std::max(largest, std::fabs(terms[i]));
          sum += terms[i];
        }
        error += (a.block + 1) * std::ldexp(largest, -a.fraction_bits) + 0x1p-23 * std::fabs(sum);
      }
      return error * (1 + 0x1p-10);
  }
  return error;
}

double drift(const Accumulation& a, std::span<const double> terms) {
  if (a.order != Accumulation::Order::kMma) return 0;
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    sum += terms[i];
    if ((i + 1) % static_cast<std::size_t>(a.block) == 0 || i + 1 == terms.size()) total += std::fabs(sum);
  }
  return 0x1p-24 * total;
}

std::string describe(const Accumulation& a) {
  switch (a.order) {
    case Accumulation::Order::kChain:
      return "fp32 chain";
    case Accumulation::Order::kMma:
      return fmt::format("matrix unit of {} terms, {} fraction bits", a.block, a.fraction_bits);
    case Accumulation::Order::kFp8:
      return "14-bit accumulators, order unknown";
    case Accumulation::Order::kUnknown:
      break;
  }
  return fmt::format("order unknown ({} roundings a term)", a.unknown_factor);
}

}  // namespace assay::num
