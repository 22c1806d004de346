// The formulas of docs/numerics.md with their proofs in short. Symbols as there: s_j score, p_j weight, o
// output, v_jd value, G_j = scale·Σ|q·k_j|, M the largest score, l = Σ exp(s_j - M), n the keys. A sink is
// one more key with v = 0 and G = 0.
#include "judge/attention_budget.h"

#include <algorithm>
#include <cmath>

#include "formats/small_float.h"
#include "formats/vectorize.h"

namespace assay::num {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kExp = 0x1p-22;  // relative error of one fast exponential in binary32
enum Term : std::uint8_t { kScores, kWeights, kSums, kValues, kPartials, kOutput };

// Constants of a contract that every row needs.
struct Roundings {
  double p, p_floor;  // u_P and η_P
  double v, v_floor;  // u_V and η_V
  double part, part_floor;
  double out, out_floor;
  double operand;
};

Roundings roundings_of(const AttentionContract& c) {
  Roundings r{};
  const double cut = c.p_truncated ? 2 : 1;
  if (c.p != DType::kF32) r.p = cut * unit_roundoff(c.p);
  r.p_floor = 0x1p-126;
  if (c.p == DType::kF16) r.p_floor = cut * 0x1p-25;
  if (c.p == DType::kE4m3fn) r.p_floor = cut * std::ldexp(1.0, -10 - c.p_offset);
  if (c.v_type != DType::kF64) {
    r.v = unit_roundoff(c.v_type);
    r.v_floor = subnormal_roundoff(c.v_type);
  }
  if (c.splits > 1 && c.partial != DType::kF32) {
    r.part = unit_roundoff(c.partial);
    r.part_floor = subnormal_roundoff(c.partial);
  }
  r.out = unit_roundoff(c.out);
  r.out_floor =
      std::max(0x1p-126, subnormal_roundoff(c.out));  // binary32 subnormals may be flushed on the way
  r.operand = unit_roundoff(c.operand);
  return r;
}

// How often the running maximum rises, at most, in one pass over the keys in steps of `tile`.
double rises(const AttendedRow& row, const AttentionContract& c) {
  if (c.tile <= 0 || row.keys <= c.tile) return 1;
  double top = -kInf, count = 0;
  for (std::int64_t j = 0; j < row.keys; j += c.tile) {
    const std::int64_t end = std::min(row.keys, j + c.tile);
    const double in_step = *std::max_element(row.score + j, row.score + end);
    // The kernel's own scores differ a little from the exact ones: near ties count as rises.
    if (in_step > top - 0x1p-6 * (1 + std::fabs(top))) ++count;
    top = std::max(top, in_step);
  }
  return count;
}

// acc[scale·q·k_j] of the declared order.
double dot_error(const AttendedRow& row, const AttentionContract& c, std::int64_t j,
                 std::vector<double>& terms) {
  if (c.scores.order == Accumulation::Order::kUnknown || c.scores.order == Accumulation::Order::kFp8)
    return depth(c.scores, static_cast<double>(row.qk_dim)) * kU32 * row.spread[j];
  for (std::int64_t d = 0; d < row.qk_dim; ++d) terms[d] = row.q[d] * row.key(j, d);
  return std::fabs(row.scale) * accumulation_error(c.scores, terms);
}

// δ_j, the absolute error of a score inside the exponential.
//
// Proof. The dot product errs by acc and, through the folded scale, by a few u32·G. The exponent fma(x,
// scale·log2e, -m·log2e) errs by 4u32|s - m| + u32|m|, and each rescale of an online softmax multiplies all
// earlier keys, in numerator and denominator, by (1 ± 2^-22): hence the number of rises. The maxima's steps
// telescope into M - s_j. A softcap only shrinks relative errors, since y·sech²y <= tanh y. Each extra
// rounding of an operand or a score adds its own u.
class ScoreErrors {
 public:
  ScoreErrors(const AttendedRow& row, const AttentionContract& c, bool softcapped_or_alibi, double softcap)
      : row_(row),
        c_(c),
        bent_(softcapped_or_alibi),
        softcap_(softcap),
        r_(roundings_of(c)),
        terms_(row.qk_dim) {
    common_ = (1 + rises(row, c)) * kExp;
    if (c.splits > 1)
      common_ += kExp + 4 * kU32 * (1 + std::log(static_cast<double>(std::max<std::int64_t>(2, row.keys))));
    if (c.operand == DType::kF16 && (c.q_scaled_rounded || c.k_rounded))
      for (std::int64_t d = 0; d < row.qk_dim; ++d) q_size_ += std::fabs(row.q[d]);
  }

  double at(std::int64_t j) {
    const double s = std::fabs(row_.score[j]), g = row_.spread[j];
    double e =
        dot_error(row_, c_, j, terms_) + 4 * kU32 * g + 6 * kU32 * (s + row_.max - row_.score[j]) + common_;
    const double u = r_.operand;
    if (c_.q_scaled_rounded) e += u * g;
    if (c_.k_rounded) e += u * g;
    if (c_.operand == DType::kF16) e += f16_floor(j);
    e += c_.score_roundings * u * (bent_ ? g : s);
    if (softcap_ > 0 && c_.tanh == Tanh::kFromExp) e += 8 * kU32 * softcap_;
    // Before ALiBi: |cap·tanh(x / cap)| is at most |x| and at most the cap.
    if (softcap_ > 0 && c_.tanh == Tanh::kApprox) e += 0x1p-11 * std::min(std::fabs(row_.raw[j]), softcap_);
    return e;
  }

  double of_sink() const { return 6 * kU32 * (std::fabs(row_.sink) + row_.max - row_.sink) + common_; }

 private:
  // Operands rounded to binary16 can fall among its subnormals.
  double f16_floor(std::int64_t j) const {
    double e = 0;
    if (c_.q_scaled_rounded)
      for (std::int64_t d = 0; d < row_.qk_dim; ++d) e += 0x1p-25 * std::fabs(row_.key(j, d));
    if (c_.k_rounded) e += 0x1p-25 * std::fabs(row_.scale) * q_size_;
    return e;
  }

  const AttendedRow& row_;
  const AttentionContract& c_;
  const bool bent_;
  const double softcap_;
  const Roundings r_;
  std::vector<double> terms_;
  double common_ = 0, q_size_ = 0;
};

// Sums over the keys that the formulas need, per output dimension.
struct Sums {
  std::vector<double> hull;     // max |v - o|
  std::vector<double> shift;    // Σ p(e^δ - 1)|v - o|
  std::vector<double> spread;   // Σ p|v - o|
  std::vector<double> size;     // A = Σ p|v|, widened by e^δ where scores are rough
  std::vector<double> plain;    // Σ|v|
  std::vector<double> far;      // Σ|v - o|
  std::vector<double> running;  // acc[p·v]
  std::vector<double> largest;  // max |v|
  explicit Sums(std::size_t d)
      : hull(d), shift(d), spread(d), size(d), plain(d), far(d), running(d), largest(d) {}
};

// Adds one key to all sums. The hot loop of a budget: eight arrays of the value dim.
ASSAY_VECTORIZED void add_key(Sums& s, const double* __restrict v, const double* __restrict o,
                              std::int64_t dims, double p, double moved) {
  double* __restrict hull = s.hull.data();
  double* __restrict largest = s.largest.data();
  double* __restrict shift = s.shift.data();
  double* __restrict spread = s.spread.data();
  double* __restrict size = s.size.data();
  double* __restrict plain = s.plain.data();
  double* __restrict far = s.far.data();
  for (std::int64_t d = 0; d < dims; ++d) {
    const double a = std::fabs(v[d]), off = std::fabs(v[d] - o[d]);
    hull[d] = hull[d] > off ? hull[d] : off;
    largest[d] = largest[d] > a ? largest[d] : a;
    shift[d] += moved * off;
    spread[d] += p * off;
    size[d] += p * a;
    plain[d] += a;
    far[d] += off;
  }
}

// acc[p·v], by the declared order: chains and matrix units carry their running sums over all keys.
void value_sums(Sums& s, const AttendedRow& row, const AttentionContract& c) {
  const auto n = static_cast<double>(row.keys), splits = static_cast<double>(c.splits);
  const bool known =
      c.values.order == Accumulation::Order::kChain || c.values.order == Accumulation::Order::kMma;
  if (!known || c.fresh_register) {
    const double steps = c.tile > 0 ? std::ceil(n / static_cast<double>(c.tile)) : 1;
    const double c_acc = c.fresh_register
                             ? depth(c.values, std::min<double>(n, static_cast<double>(c.tile))) + 2 * steps
                             : depth(c.values, n);
    for (std::size_t d = 0; d < s.running.size(); ++d) s.running[d] = (c_acc + 2 * splits) * kU32 * s.size[d];
    return;
  }
  const std::int64_t part = c.splits > 1 ? (row.keys + c.splits - 1) / c.splits : row.keys;
  const std::int64_t tile = c.tile > 0 ? c.tile : row.keys;
  const std::int64_t block = c.values.order == Accumulation::Order::kMma ? c.values.block : 1;
  std::vector<double> a(s.running.size()), top(a.size());
  for (std::int64_t start = 0; start < row.keys; start += part) {
    std::fill(a.begin(), a.end(), 0.0);
    const std::int64_t end = std::min(row.keys, start + part);
    for (std::int64_t j = start; j < end; j += block) {
      const std::int64_t stop = std::min(end, j + block);
      const bool rescaled = (j - start) % tile < block;
      for (std::size_t d = 0; d < a.size(); ++d) top[d] = std::fabs(a[d]);
      for (std::int64_t i = j; i < stop; ++i)
        for (std::size_t d = 0; d < a.size(); ++d) {
          const double z = row.weight[i] * row.v[i * row.v_dim + static_cast<std::int64_t>(d)];
          if (rescaled && i == j) s.running[d] += kU32 * std::fabs(a[d]);
          top[d] = std::max(top[d], std::fabs(z));
          a[d] += z;
        }
      for (std::size_t d = 0; d < a.size(); ++d)
        s.running[d] += block == 1
                            ? kU32 * std::fabs(a[d])
                            : static_cast<double>(block + 1) * std::ldexp(top[d], -c.values.fraction_bits) +
                                  0x1p-23 * std::fabs(a[d]);
    }
  }
  for (std::size_t d = 0; d < a.size(); ++d) s.running[d] += 2 * splits * kU32 * s.size[d];
}

struct RowErrors {
  std::vector<double> delta;
  double largest = 0;
  double low = 0, high = 0;  // Σ p e^-δ and Σ p e^δ, the sink included
  double sink_delta = 0;
};

// Bounds of e^δ - 1 from above and e^-δ from below that need no exponential for the usual, small δ.
double upper_expm1(double delta) { return delta < 0x1p-8 ? delta * (1 + delta) : std::expm1(delta); }
double lower_exp(double minus_delta) {
  return minus_delta > -0x1p-8 ? 1 + minus_delta : std::exp(minus_delta);
}

RowErrors score_errors(const AttendedRow& row, const AttentionContract& c) {
  // A score that differs from its raw product was bent by a softcap or ALiBi.
  bool bent = false;
  for (std::int64_t j = 0; j < row.keys && !bent; ++j) bent = row.score[j] != row.raw[j];
  ScoreErrors errors(row, c, bent, row.softcap);
  RowErrors e;
  e.delta.resize(row.keys);
  for (std::int64_t j = 0; j < row.keys; ++j) {
    e.delta[j] = errors.at(j);
    e.largest = std::max(e.largest, e.delta[j]);
    e.low += row.weight[j] * lower_exp(-e.delta[j]);
    e.high += row.weight[j] * (1 + upper_expm1(e.delta[j]));
  }
  if (row.sink_weight > 0) {
    e.sink_delta = errors.of_sink();
    e.largest = std::max(e.largest, e.sink_delta);
    e.low += row.sink_weight * std::exp(-e.sink_delta);
    e.high += row.sink_weight * std::exp(e.sink_delta);
  }
  return e;
}

// The sums in binary32, sixteen dimensions at a time, for contracts that need only the hull, Σ p(e^δ - 1)|v -
// o| and Σ p|v|.
//
// They may only err upwards. Each of up to 256 additions in a row errs by 2^-24 of the sum, the operands by
// 2^-24 each: 2^-15 in all, paid for by the factor 1 + 2^-12. |v - o| is off by 2^-23(|v| + |o|) at most.
// Weights below binary32's range count as 2^-126.
constexpr std::int64_t kNarrowBlock = 256, kLanes = 16;
typedef float Sixteen __attribute__((vector_size(64)));
typedef float UnalignedSixteen __attribute__((vector_size(64), aligned(4)));
typedef std::int32_t SixteenBits __attribute__((vector_size(64)));
#define ASSAY_MAGNITUDE(x) (reinterpret_cast<Sixteen>(reinterpret_cast<SixteenBits>(x) & 0x7fffffff))

ASSAY_VECTORIZED void narrow_block(const float* v, std::int64_t dims, std::int64_t keys, const float* p,
                                   const float* moved, const float* o, float* hull, float* shift,
                                   float* size) {
  Sixteen h = {}, s = {}, a = {};
  const Sixteen middle = *reinterpret_cast<const UnalignedSixteen*>(o);
  for (std::int64_t j = 0; j < keys; ++j) {
    const Sixteen x = *reinterpret_cast<const UnalignedSixteen*>(v + j * dims);
    const Sixteen y = x - middle, off = ASSAY_MAGNITUDE(y);
    h = h > off ? h : off;
    s += moved[j] * off;
    a += p[j] * ASSAY_MAGNITUDE(x);
  }
  *reinterpret_cast<UnalignedSixteen*>(hull) = h;
  *reinterpret_cast<UnalignedSixteen*>(shift) = s;
  *reinterpret_cast<UnalignedSixteen*>(size) = a;
}

bool narrow_suffices(const AttentionContract& c) {
  return !c.sum_from_rounded_p && (c.p == DType::kF32 || c.p == DType::kBf16);
}

Sums narrow_sums(const AttendedRow& row, const RowErrors& e) {
  constexpr double kUp = 1 + 0x1p-12;
  const auto dims = static_cast<std::size_t>(row.v_dim);
  const std::int64_t whole = row.v_dim / kLanes * kLanes;
  Sums s(dims);
  std::vector<float> p(row.keys), moved(row.keys), o(dims);
  for (std::int64_t j = 0; j < row.keys; ++j) {
    p[j] = static_cast<float>(row.weight[j] + 0x1p-126);
    moved[j] = static_cast<float>(row.weight[j] * upper_expm1(e.delta[j]) + 0x1p-126);
  }
  for (std::size_t d = 0; d < dims; ++d) o[d] = static_cast<float>(row.out[d]);
  float hull[kLanes], shift[kLanes], size[kLanes];
  for (std::int64_t d = 0; d < whole; d += kLanes)
    for (std::int64_t j = 0; j < row.keys; j += kNarrowBlock) {
      narrow_block(row.v_narrow + j * row.v_dim + d, row.v_dim, std::min(kNarrowBlock, row.keys - j), &p[j],
                   &moved[j], &o[d], hull, shift, size);
      for (std::int64_t i = 0; i < kLanes; ++i) {
        s.hull[d + i] = std::max<double>(s.hull[d + i], hull[i]);
        s.shift[d + i] += shift[i];
        s.size[d + i] += size[i];
      }
    }
  for (std::int64_t d = whole; d < row.v_dim; ++d)
    for (std::int64_t j = 0; j < row.keys; ++j) {
      const double x = row.v[j * row.v_dim + d], off = std::fabs(x - row.out[d]);
      s.hull[d] = std::max(s.hull[d], off);
      s.shift[d] += moved[j] * off;
      s.size[d] += p[j] * std::fabs(x);
    }
  for (std::size_t d = 0; d < dims; ++d) {
    const double slack = 0x1p-23 * (row.v_largest[d] + std::fabs(row.out[d]));
    s.largest[d] = row.v_largest[d];
    s.plain[d] = static_cast<double>(row.keys) * row.v_largest[d];
    s.hull[d] = s.hull[d] * kUp + slack;
    s.shift[d] = s.shift[d] * kUp + slack * (e.high - 1 + 0x1p-40);
    s.size[d] *= kUp;
  }
  return s;
}

Sums sum_keys(const AttendedRow& row, const RowErrors& e, const AttentionContract& c) {
  const bool narrow = narrow_suffices(c);
  Sums s = narrow ? narrow_sums(row, e) : Sums(static_cast<std::size_t>(row.v_dim));
  for (std::int64_t j = 0; !narrow && j < row.keys; ++j)
    add_key(s, row.v + j * row.v_dim, row.out, row.v_dim, row.weight[j],
            row.weight[j] * upper_expm1(e.delta[j]));
  if (row.sink_weight > 0) {
    const std::vector<double> zero(static_cast<std::size_t>(row.v_dim), 0.0);
    add_key(s, zero.data(), row.out, row.v_dim, row.sink_weight, row.sink_weight * std::expm1(e.sink_delta));
  }
  return s;
}

// Scores so rough that weights change by more than a 64th: every |o| in the formulas is replaced by what the
// moved weights can make of it.
void widen(Sums& s, const AttendedRow& row, const RowErrors& e) {
  std::vector<double> moved(s.size.size());
  for (std::int64_t j = 0; j < row.keys; ++j)
    for (std::int64_t d = 0; d < row.v_dim; ++d)
      moved[d] += row.weight[j] * std::exp(e.delta[j]) * std::fabs(row.v[j * row.v_dim + d]);
  for (std::size_t d = 0; d < moved.size(); ++d) {
    s.size[d] = std::min(s.largest[d], moved[d] / e.low);
    s.spread[d] = 2 * s.size[d];
  }
}

// Depth of the sum of the weights: one chain over all keys, or one per step and one over the steps.
double sum_depth(const AttendedRow& row, const AttentionContract& c) {
  const auto n = static_cast<double>(row.keys + (row.sink_weight > 0 ? 1 : 0));
  return n + 2 * static_cast<double>(c.splits) + 5;
}

// Weights of so few units in the last place of their sum that adding them rounds in no random way: a sum that
// has grown swallows those below half a unit one and all. Each such addition errs by at most the weight
// itself, since the sum before it is one of the numbers to round to; so their total bounds the drift of l.
constexpr double kSwallowed = 16 * kU32;
double swallowed_weight(const AttendedRow& row) {
  double total = 0;
  for (std::int64_t j = 0; j < row.keys; ++j)
    if (row.weight[j] < kSwallowed) total += row.weight[j];
  return total;
}

// σ² of independent roundings, per dimension (docs/numerics.md, gate 3).
std::vector<double> sigmas(const AttendedRow& row, const AttentionContract& c, const Roundings& r) {
  std::vector<double> variance(static_cast<std::size_t>(row.v_dim)), squares(variance.size());
  const double per_sum = std::max(16.0, depth(c.values, static_cast<double>(row.keys)) / 6) * kU32 * kU32;
  double rough = 0;
  for (std::int64_t j = 0; j < row.keys; ++j) {
    const double p2 = row.weight[j] * row.weight[j], g = row.spread[j], s = std::fabs(row.score[j]);
    double score2 = 4 * kU32 * kU32 * g * g + 16 * kU32 * kU32 * (1 + s) * (1 + s) / 3;
    const int operands = (c.q_scaled_rounded ? 1 : 0) + (c.k_rounded ? 1 : 0);
    if (operands > 0) {
      double z2 = 0;
      for (std::int64_t d = 0; d < row.qk_dim; ++d) {
        const double z = row.scale * row.q[d] * row.key(j, d);
        z2 += z * z;
      }
      score2 += operands * r.operand * r.operand / 3 * z2;
    }
    score2 += c.score_roundings * r.operand * r.operand / 3 * s * s;
    rough += row.weight[j] * score2;
    const double in_sum = row.weight[j] < kSwallowed ? 1 : per_sum;
    for (std::int64_t d = 0; d < row.v_dim; ++d) {
      const double v = row.v[j * row.v_dim + d], off = v - row.out[d];
      const double p_base = c.sum_from_rounded_p ? off * off : v * v;
      squares[d] += p2 * v * v;
      variance[d] +=
          p2 * (r.p * r.p / 3 * p_base + r.v * r.v / 3 * v * v + in_sum * v * v + off * off * score2) +
          r.p_floor * r.p_floor / 3 * v * v / (row.sum * row.sum);
    }
  }
  const bool scores_rounded = c.score_roundings > 0 || c.q_scaled_rounded || c.k_rounded;
  const double swallowed = swallowed_weight(row);
  for (std::int64_t d = 0; d < row.v_dim; ++d) {
    const double o2 = row.out[d] * row.out[d];
    // The sum of the weights errs as well, by one factor for all dimensions.
    variance[d] += (std::max(16.0, sum_depth(row, c) / 6) * kU32 * kU32 + swallowed * swallowed) * o2;
    // The parts' own sums are unknown here; for independent zero-mean values their squares add up to about Σ
    // p²v².
    variance[d] +=
        r.part * r.part / 3 * (o2 + squares[d]) + r.out * r.out / 3 * o2 + r.out_floor * r.out_floor / 3;
    variance[d] = scores_rounded && rough > 0.01 ? 0 : std::sqrt(variance[d]);
  }
  return variance;
}

// Numerator and denominator share the weights p(1+η), |η| <= e^δ - 1, so o' - o = Σpη(v - o) / Σp(1+η); the
// result stays in the hull of the values.
double shifted(const Sums& s, const RowErrors& e, std::size_t d) {
  return std::min(s.hull[d], s.shift[d] / e.low);
}

// Rounded weights: the same identity with |ρ_j| <= u_P + η_P/(p_j·l) where the sum uses the rounded weights,
// else a plain error of the numerator.
double rounded_weights(const Sums& s, const AttentionContract& c, const Roundings& r, const AttendedRow& row,
                       std::size_t d) {
  if (!c.sum_from_rounded_p) return r.p * s.size[d] + r.p_floor * s.plain[d] / row.sum;
  const double divisor = 1 - r.p - r.p_floor * static_cast<double>(row.keys) / row.sum;
  if (divisor <= 0) return s.hull[d];
  return std::min(s.hull[d], (r.p * s.spread[d] + r.p_floor * s.far[d] / row.sum) / divisor);
}

double lse_budget(const AttendedRow& row, const AttentionContract& c, const Roundings& r, const RowErrors& e,
                  double c_l) {
  double b = std::max(std::log(e.high), -std::log(e.low)) + c_l * kU32 +
             4 * kU32 * (1 + std::fabs(row.max) + std::fabs(std::log(row.sum)));
  if (c.sum_from_rounded_p) {
    const double rest = 1 - r.p - r.p_floor * static_cast<double>(row.keys) / row.sum;
    b = rest <= 0 ? kInf : b - std::log(rest);
  }
  return b;
}

double likely_lse(const AttendedRow& row, double c_l) {
  double g = 0, s = 0;
  for (std::int64_t j = 0; j < row.keys; ++j) {
    g += row.weight[j] * row.spread[j];
    s += row.weight[j] * std::fabs(row.score[j]);
  }
  s += row.sink_weight > 0 ? row.sink_weight * std::fabs(row.sink) : 0;
  return 16 * kU32 * g + 0x1p-22 + kU32 * s + 4 * std::sqrt(c_l) * kU32 + swallowed_weight(row) +
         4 * kU32 * (1 + std::fabs(row.lse));
}

}  // namespace

const std::vector<std::string>& attention_terms() {
  static const std::vector<std::string> names = {"the scores' errors",   "rounding of P",
                                                 "the sums in fp32",     "rounding of V",
                                                 "rounding of partials", "rounding of the output"};
  return names;
}

RowBudget row_budget(const AttendedRow& row, const AttentionContract& c, bool want_sigma) {
  const Roundings r = roundings_of(c);
  const RowErrors e = score_errors(row, c);
  Sums s = sum_keys(row, e, c);
  const bool rough = e.largest > 0x1p-6;
  if (rough) widen(s, row, e);
  value_sums(s, row, c);
  const double c_l = sum_depth(row, c);
  const double c_acc = depth(c.values, static_cast<double>(row.keys));
  const double moved = std::min(1.0, std::expm1(e.largest) + 2 * r.p + r.v);
  RowBudget b;
  b.out.resize(s.size.size());
  b.term.resize(s.size.size());
  b.coarse.resize(s.size.size());
  for (std::size_t d = 0; d < b.out.size(); ++d) {
    const double o = std::fabs(row.out[d]), a = s.size[d], w = shifted(s, e, d);
    double parts[6] = {};
    parts[kScores] = w;
    parts[kWeights] = rounded_weights(s, c, r, row, d);
    parts[kSums] = s.running[d] + c_acc * kU32 * moved * a + c_l * kU32 * (o + w) + 6 * kU32 * a;
    parts[kValues] = r.v * a + r.v_floor;
    parts[kPartials] = r.part * (a + w) + r.part_floor;
    parts[kOutput] = r.out * o + r.out_floor;
    double inner = 0;
    for (int t = kScores; t <= kPartials; ++t) inner += parts[t];
    // The output's rounding acts on the computed value, so it also sees the other errors.
    b.out[d] = (1 + 0x1p-6) * inner + parts[kOutput];
    b.coarse[d] = parts[kScores] + parts[kSums] > kCoarse * a;
    b.term[d] = static_cast<std::uint8_t>(std::max_element(parts, parts + 6) - parts);
  }
  b.lse = lse_budget(row, c, r, e, c_l);
  // A sink far above the keys makes one common error of all weights, which isn't independent between
  // dimensions.
  if (!want_sigma || row.sink_weight > 0.5) {
    if (want_sigma) b.sigma.assign(b.out.size(), 0.0);
    return b;
  }
  b.sigma = sigmas(row, c, r);
  const bool plain_scores =
      c.score_roundings == 0 && !c.q_scaled_rounded && !c.k_rounded && !c.sum_from_rounded_p;
  if (plain_scores) b.likely_lse = likely_lse(row, c_l);
  return b;
}

}  // namespace assay::num
