#include "cases/sim_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "cases/sim_arith.h"
#include "formats/small_float.h"

namespace assay::num {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::int64_t kGuardRows = 4;

// The attention of one query row over a part of the keys.
struct Partial {
  float top = -kInf, sum = 0;
  std::vector<float> acc;
};

class Kernel {
 public:
  Kernel(const AttentionCase& c, const AttentionContract& k, AttentionBug bug)
      : p_(c.problem),
        k_(k),
        bug_(bug),
        tokens_(p_.q.shape()[0]),
        heads_(p_.q.shape()[1]),
        qk_(p_.q.shape()[2]),
        vd_(p_.kv.v.shape()[3]),
        kv_heads_(p_.kv.k.shape()[2]),
        block_(p_.kv.k.shape()[1]),
        q_lens_(p_.q_lens) {
    DType type = p_.kv.k.type();
    if (dtype_bits(type) <= 16) v_meaning_ = decoded_patterns(type);
    if (is(AttentionBug::kFnuzAsFn) && type == DType::kE4m3fnuz) type = DType::kE4m3fn;
    if (dtype_bits(type) <= 16) k_meaning_ = decoded_patterns(type);
    for (std::int64_t i = 0; i < tokens_ * heads_ * qk_; ++i)
      q_.push_back(static_cast<float>(p_.q.load(p_.q.offset() + i)));
    const auto requests = static_cast<std::int64_t>(q_lens_.size());
    if (bug != AttentionBug::kUniformBatch || requests == 0) return;
    const std::int64_t each = (tokens_ + requests - 1) / requests;
    for (std::int64_t r = 0; r < requests; ++r)
      q_lens_[r] = std::clamp<std::int64_t>(tokens_ - r * each, 0, each);
  }

  std::vector<Actual> run() {
    out_ = {"out", k_.out, {tokens_, heads_, vd_}, std::vector<double>(tokens_ * heads_ * vd_, 0.0)};
    lse_ = {"lse", DType::kF32, {heads_, tokens_}, std::vector<double>(tokens_ * heads_, 0.0)};
    std::int64_t token = 0;
    for (std::size_t r = 0; r < q_lens_.size(); token += q_lens_[r++])
      for (std::int64_t h = 0; h < kv_heads_; ++h) request(r, h, token);
    if (is(AttentionBug::kLseLayout)) transpose_lse();
    if (is(AttentionBug::kLseMissing)) std::fill(lse_.value.begin(), lse_.value.end(), 0.0);
    Actual guard{"guard", k_.out, {kGuardRows, heads_}, std::vector<double>(kGuardRows * heads_, 0.5)};
    if (is(AttentionBug::kPaddedRowsWritten)) std::fill_n(guard.value.begin(), heads_, 0.0);
    std::vector<Actual> all = {out_, guard};
    if (k_.writes_lse) all.push_back(lse_);
    return all;
  }

 private:
  bool is(AttentionBug b) const { return bug_ == b; }

  // ---- addresses
  // ------------------------------------------------------------------------------------------------
  std::int64_t block_of(std::size_t r, std::int64_t page) const {
    const auto& table = p_.kv.table[r];
    if (table.empty()) return 0;
    std::int64_t block = table[std::min<std::int64_t>(page, static_cast<std::int64_t>(table.size()) - 1)];
    const auto pages = static_cast<std::int64_t>(table.size());
    if (is(AttentionBug::kWrongPage) && page == pages / 2 && pages > 1) block = table[(page + 1) % pages];
    if (is(AttentionBug::kPage16Bit)) block &= 0xffff;
    return block;
  }

  // Of the first element of a row.
  std::int64_t address(const TensorView& t, std::int64_t block, std::int64_t slot, std::int64_t head) const {
    std::int64_t stride = t.strides()[0];
    if (is(AttentionBug::kBlockStride)) stride = block_ * kv_heads_ * t.shape()[3];
    return t.offset() + block * stride + slot * t.strides()[1] + head * t.strides()[2];
  }

  // The number that the bits of one element mean, 0 outside of the buffer.
  float element(const TensorView& t, std::int64_t at) const {
    const std::int64_t held = static_cast<std::int64_t>(t.bytes().size()) * 8 / dtype_bits(t.type());
    if (at < 0 || at >= held) return 0;
    const std::byte* bytes = t.bytes().data();
    switch (dtype_bits(t.type())) {
      case 4:
        if (is(AttentionBug::kNibbleSwapped) && &t == &p_.kv.k) at ^= 1;
        return meaning(t)[static_cast<std::size_t>(bytes[at / 2] >> (at % 2 * 4)) & 15];
      case 8:
        return meaning(t)[static_cast<std::size_t>(bytes[at])];
      case 16:
        return meaning(t)[bits_at<std::uint16_t>(bytes + 2 * at)];
      default:
        return bits_at<float>(bytes + 4 * at);
    }
  }

  const float* meaning(const TensorView& t) const { return &t == &p_.kv.k ? k_meaning_ : v_meaning_; }

  template <class T>
  static T bits_at(const std::byte* from) {
    T bits;
    std::memcpy(&bits, from, sizeof bits);
    return bits;
  }

  // One row of a key or value.
  void load_row(const TensorView& t, std::int64_t at, std::int64_t dims, float* to) const {
    const std::int64_t stride = t.strides()[3], bytes = static_cast<std::int64_t>(t.bytes().size());
    const bool inside = stride == 1 && at >= 0 && !is(AttentionBug::kOffset32Bit);
    const std::byte* from = t.bytes().data();
    if (inside && t.type() == DType::kBf16 && (at + dims) * 2 <= bytes) {
      for (std::int64_t d = 0; d < dims; ++d)
        to[d] = bf16_to_float(bits_at<std::uint16_t>(from + 2 * (at + d)));
    } else if (inside && dtype_bits(t.type()) == 8 && at + dims <= bytes) {
      for (std::int64_t d = 0; d < dims; ++d) to[d] = meaning(t)[static_cast<std::size_t>(from[at + d])];
    } else {
      for (std::int64_t d = 0; d < dims; ++d) to[d] = element(t, wrapped(at + d * stride));
    }
  }

  std::int64_t wrapped(std::int64_t at) const {
    return is(AttentionBug::kOffset32Bit) ? at & 0x7fffffff : at;
  }

  float cache_scale(const CacheScale& s, bool dropped, std::size_t r, std::int64_t block, std::int64_t slot,
                    std::int64_t head, std::int64_t d) const {
    float f = dropped ? 1.0f : static_cast<float>(s.tensor);
    if (!s.head.empty())
      f *= static_cast<float>(s.head[is(AttentionBug::kHeadScale) ? (head + 1) % kv_heads_ : head]);
    if (!s.token.shape().empty()) {
      const std::int64_t other = (slot + 1) % std::max<std::int64_t>(1, std::min(block_, p_.kv_lens[r]));
      f *= static_cast<float>(s.token.at({block, is(AttentionBug::kNeighbourScale) ? other : slot, head}));
    }
    if (!s.group.shape().empty()) {
      const std::int64_t groups = s.group.shape()[3], g = d / s.group_size;
      const bool wrong = is(AttentionBug::kBlockScaleNeighbour) && &s == &p_.kv.k_scale;
      f *= static_cast<float>(s.group.at({block, slot, head, wrong ? (g + 1) % groups : g}));
    }
    return f;
  }

  void load_key(std::size_t r, std::int64_t j, std::int64_t head, float* k, float* v) const {
    const std::int64_t block = block_of(r, j / block_), slot = j % block_;
    const bool known = block < p_.kv.k.shape()[0];
    if (!known) {
      std::fill_n(k, qk_, 0.0f);
      std::fill_n(v, vd_, 0.0f);
      return;
    }
    load_row(p_.kv.k, address(p_.kv.k, block, slot, head), qk_, k);
    scale_row(p_.kv.k_scale, is(AttentionBug::kKScaleDropped), r, block, slot, head, qk_, k);
    if (k_.k_rounded)
      for (std::int64_t d = 0; d < qk_; ++d) k[d] = round_to_f32(k_.operand, k[d]);
    std::int64_t at = address(p_.kv.v, block, slot, head);
    if (is(AttentionBug::kValueDimPadded) && qk_ != vd_)
      at += (block_ == 1 ? block : slot) * kv_heads_ * (qk_ - vd_);
    load_row(p_.kv.v, at, vd_, v);
    scale_row(p_.kv.v_scale, is(AttentionBug::kVScaleDropped), r, block, slot, head, vd_, v);
    if (k_.v_type != DType::kF64)
      for (std::int64_t d = 0; d < vd_; ++d) v[d] = round_to_f32(k_.v_type, v[d]);
  }

  void scale_row(const CacheScale& s, bool dropped, std::size_t r, std::int64_t block, std::int64_t slot,
                 std::int64_t head, std::int64_t dims, float* row) const {
    const bool by_group = !s.group.shape().empty();
    float f = cache_scale(s, dropped, r, block, slot, head, 0);
    for (std::int64_t d = 0; d < dims; ++d) {
      if (by_group && d % s.group_size == 0) f = cache_scale(s, dropped, r, block, slot, head, d);
      row[d] *= f;
    }
  }

  // ---- which keys
  // -----------------------------------------------------------------------------------------------
  bool visible(std::size_t r, std::int64_t i, std::int64_t j, std::int64_t n) const {
    const std::int64_t q_len = q_lens_[r];
    bool causal = p_.causal.empty() ? p_.mask.causal : p_.causal[r];
    if (is(AttentionBug::kCausalIgnored)) causal = false;
    bool upper_left = p_.mask.corner == Corner::kUpperLeft;
    if (is(AttentionBug::kCausalCorner)) upper_left = !upper_left;
    const std::int64_t here = upper_left ? i : n - q_len + i;
    if (causal && j > here) return false;
    if (is(AttentionBug::kWindowIgnored)) return true;
    std::int64_t left = p_.mask.window_left;
    if (left >= 0 && is(AttentionBug::kWindowShort)) --left;
    if (left >= 0 && is(AttentionBug::kWindowLong)) ++left;
    if (p_.mask.window_left >= 0 && here - j > left) return false;
    return p_.mask.window_right < 0 || j - here <= p_.mask.window_right;
  }

  // Positions in the order in which the kernel walks over them; -1 stands for a zero key.
  std::vector<std::int64_t> keys_of(std::size_t r, std::int64_t i, std::int64_t token) const {
    std::vector<std::int64_t> keys = p_.selected.empty() ? dense_keys(r, i) : selected_keys(r, token);
    if (is(AttentionBug::kLastKeyDropped) && !keys.empty()) keys.pop_back();
    if (is(AttentionBug::kFirstKeyDropped) && !keys.empty()) keys.erase(keys.begin());
    if (is(AttentionBug::kPastEnd) && !keys.empty() && keys.size() % 2 == 1) keys.push_back(-1);
    return keys;
  }

  std::vector<std::int64_t> dense_keys(std::size_t r, std::int64_t i) const {
    std::int64_t n = p_.kv_lens[r];
    if (is(AttentionBug::kCapturedLength)) n = std::min(n, p_.kv_lens[0]);
    std::vector<std::int64_t> keys;
    for (std::int64_t j = 0; j < n; ++j)
      if (visible(r, i, j, n)) keys.push_back(j);
    return keys;
  }

  std::vector<std::int64_t> selected_keys(std::size_t r, std::int64_t token) const {
    const std::int64_t n = p_.kv_lens[r];
    std::vector<std::int64_t> keys;
    std::set<std::int64_t> seen;
    for (std::int64_t j : p_.selected[token]) {
      const bool hole = j < 0 || j >= n;
      if (hole && is(AttentionBug::kHoleEnds)) break;
      if (hole && is(AttentionBug::kHoleIsPage0) && n > 0) keys.push_back(0);
      if (hole && is(AttentionBug::kHoleOnlyMinusOne) && j >= n && n > 0) keys.push_back(n - 1);
      if (hole) continue;
      if (is(AttentionBug::kDuplicateOnce) && !seen.insert(j).second) continue;
      keys.push_back(j);
    }
    return keys;
  }

  // ---- one request, one key head
  // --------------------------------------------------------------------------------
  void request(std::size_t r, std::int64_t kv_head, std::int64_t first_token) {
    const std::int64_t n = p_.kv_lens[r], group = heads_ / kv_heads_;
    std::vector<float> k(n * qk_), v(n * vd_);
    // A wrong index base shows where requests lie behind one another: request r then reads request 0.
    const std::size_t source = is(AttentionBug::kIndexGlobal) ? 0 : r;
    for (std::int64_t j = 0; j < n; ++j)
      load_key(source, j % std::max<std::int64_t>(1, p_.kv_lens[source]), kv_head, &k[j * qk_], &v[j * vd_]);
    for (std::int64_t i = 0; i < q_lens_[r]; ++i) {
      const auto keys = keys_of(r, i, first_token + i);
      for (std::int64_t h = 0; h < heads_; ++h) {
        if ((is(AttentionBug::kHeadMod) ? h % kv_heads_ : h / group) != kv_head) continue;
        row(r, i, first_token + i, h, keys, k.data(), v.data());
      }
    }
  }

  void row(std::size_t r, std::int64_t i, std::int64_t token, std::int64_t h,
           const std::vector<std::int64_t>& keys, const float* k, const float* v) {
    if (is(AttentionBug::kHeadDropped) && h == heads_ - 1) return;
    if (is(AttentionBug::kHeadCountLocal) && h >= (heads_ + 1) / 2) h -= (heads_ + 1) / 2;
    std::vector<float> q(qk_);
    for (std::int64_t d = 0; d < qk_; ++d) {
      q[d] = q_[(token * heads_ + h) * qk_ + d];
      if (k_.q_scaled_rounded) q[d] = round_to_f32(k_.operand, q[d] * scale());
    }
    const auto n = static_cast<std::int64_t>(keys.size());
    const std::int64_t part = std::max<std::int64_t>(1, (n + k_.splits - 1) / k_.splits);
    std::vector<Partial> parts;
    for (std::int64_t s = 0; s < k_.splits; ++s) {
      const std::int64_t from = std::min(n, s * part), end = std::min(n, from + part);
      parts.push_back(attend(r, i, h, q, {keys.data() + from, static_cast<std::size_t>(end - from)}, k, v,
                             s == 0 || is(AttentionBug::kSinkPerSplit)));
    }
    if (is(AttentionBug::kTailNan) && p_.kv_lens[r] % block_ != 0 && n > 0) poison_from_tail(r, h, parts[0]);
    write(token, h, parts);
  }

  // V of the slots behind the last key, multiplied by a weight of zero.
  void poison_from_tail(std::size_t r, std::int64_t h, Partial& part) const {
    const std::int64_t slot = p_.kv_lens[r] % block_, block = block_of(r, p_.kv_lens[r] / block_);
    std::vector<float> row(vd_);
    load_row(p_.kv.v, address(p_.kv.v, block, slot, h / (heads_ / kv_heads_)), vd_, row.data());
    for (std::int64_t d = 0; d < vd_; ++d) part.acc[d] += 0.0f * row[d];
  }

  float scale() const {
    const auto scale = static_cast<float>(p_.scale);
    if (is(AttentionBug::kScaleHigh)) return scale * 1.01f;
    if (is(AttentionBug::kScaleLow)) return scale * 0.99f;
    return is(AttentionBug::kQScaleTwice) ? scale * scale : scale;
  }

  // From q·k, or from (q·scale)·k where that product is what the kernel stores, to the score.
  float score(std::int64_t i, std::size_t r, std::int64_t h, float dot, std::int64_t j) const {
    float s = dot;
    const auto cap = static_cast<float>(p_.softcap);
    const bool bends = cap > 0 || !p_.alibi.empty();
    if (cap > 0 && is(AttentionBug::kSoftcapBeforeScale)) return cap * std::tanh(s / cap) * scale();
    if (!k_.q_scaled_rounded) s *= scale();
    if (bends)
      for (int n = 0; n < k_.score_roundings; ++n) s = round_to_f32(k_.operand, s);
    if (cap > 0 && !is(AttentionBug::kSoftcapOmitted)) s = cap * tanh_of(s / cap);
    if (!p_.alibi.empty()) s += alibi(i, r, h, j);
    if (!bends)
      for (int n = 0; n < k_.score_roundings; ++n) s = round_to_f32(k_.operand, s);
    return s;
  }

  float tanh_of(float x) const {
    // tanh.approx keeps about eleven bits.
    return k_.tanh == Tanh::kApprox ? round_to_f32(DType::kF16, std::tanh(x)) : std::tanh(x);
  }

  float alibi(std::int64_t i, std::size_t r, std::int64_t h, std::int64_t j) const {
    const std::int64_t here = p_.mask.corner == Corner::kUpperLeft ? i : p_.kv_lens[r] - q_lens_[r] + i;
    const auto slope = static_cast<float>(p_.alibi[is(AttentionBug::kAlibiHead) ? (h + 1) % heads_ : h]);
    const float bias = slope * static_cast<float>(std::abs(here - j));
    return is(AttentionBug::kAlibiSign) ? bias : -bias;
  }

  Partial attend(std::size_t r, std::int64_t i, std::int64_t h, const std::vector<float>& q,
                 std::span<const std::int64_t> keys, const float* k, const float* v, bool with_sink) const {
    Partial part;
    part.acc.assign(vd_, 0.0f);
    if (is(AttentionBug::kFiniteSentinel)) part.top = 0;
    if (with_sink && !p_.sink.empty() && !is(AttentionBug::kSinkDropped)) {
      const auto sink = static_cast<float>(p_.sink[is(AttentionBug::kSinkHead) ? (h + 1) % heads_ : h]);
      if (sink > -kInf) {
        part.top = std::max(part.top, sink);
        part.sum = std::exp(sink - part.top);
      }
    }
    const auto n = static_cast<std::int64_t>(keys.size());
    const std::int64_t tile = k_.tile > 0 ? k_.tile : std::max<std::int64_t>(1, n);
    const std::vector<float> zero(std::max(qk_, vd_), 0.0f);
    std::vector<float> scores(static_cast<std::size_t>(std::min(n, tile)));
    std::vector<const float*> key_rows, value_rows;
    for (std::int64_t t = 0; t < n; t += tile) {
      const std::int64_t end = std::min(n, t + tile);
      key_rows.clear();
      value_rows.clear();
      for (std::int64_t a = t; a < end; ++a) {
        key_rows.push_back(keys[a] < 0 ? zero.data() : k + keys[a] * qk_);
        value_rows.push_back(keys[a] < 0 ? zero.data() : v + keys[a] * vd_);
      }
      scores.resize(static_cast<std::size_t>(end - t));
      dots_in_order(k_.scores, q.data(), key_rows.data(), end - t, qk_, scores.data());
      for (std::int64_t a = t; a < end; ++a)
        scores[a - t] = score(i, r, h, scores[a - t], std::max<std::int64_t>(keys[a], 0));
      step(part, scores, value_rows);
    }
    return part;
  }

  // One tile of the running softmax.
  void step(Partial& part, const std::vector<float>& scores, const std::vector<const float*>& rows) const {
    constexpr float kLog2e = 1.44269504088896340736f;
    const float top = std::max(part.top, *std::max_element(scores.begin(), scores.end()));
    if (part.top > -kInf) {
      const float shrink = std::exp2((part.top - top) * kLog2e);
      part.sum *= shrink;
      for (float& a : part.acc) a *= shrink;
    }
    part.top = top;
    std::vector<float> weights(scores.size());
    for (std::size_t a = 0; a < scores.size(); ++a) {
      const float exact = std::exp2((scores[a] - top) * kLog2e);
      weights[a] = rounded_weight(exact);
      part.sum += k_.sum_from_rounded_p ? weights[a] : exact;
    }
    accumulate(part.acc, weights, rows);
  }

  float rounded_weight(float p) const {
    if (k_.p == DType::kF32) return p;
    const float factor = std::ldexp(1.0f, k_.p_offset);
    const Rounding how = k_.p_truncated ? Rounding::kTowardZero : Rounding::kNearestEven;
    return round_to_f32(k_.p, p * factor, how) / factor;
  }

  void accumulate(std::vector<float>& acc, const std::vector<float>& weights,
                  const std::vector<const float*>& rows) const {
    const auto count = static_cast<std::int64_t>(rows.size());
    if (!k_.fresh_register)
      return add_rows_in_order(k_.values, weights.data(), rows.data(), count, vd_, acc.data());
    std::vector<float> fresh(acc.size(), 0.0f);
    add_rows_in_order(k_.values, weights.data(), rows.data(), count, vd_, fresh.data());
    for (std::size_t d = 0; d < acc.size(); ++d) acc[d] += fresh[d];
  }

  // ---- merge and output
  // -----------------------------------------------------------------------------------------
  void write(std::int64_t token, std::int64_t h, std::vector<Partial>& parts) {
    float top = -kInf;
    std::vector<float> lses;
    for (Partial& p : parts) {
      lses.push_back(p.sum > 0 ? p.top + std::log(p.sum) : -kInf);
      top = std::max(top, lses.back());
      for (float& a : p.acc) a = p.sum > 0 ? a / p.sum : 0.0f;
    }
    double* out = &out_.value[(token * heads_ + h) * vd_];
    double& lse = lse_.value[h * tokens_ + token];
    if (top == -kInf) {
      for (std::int64_t d = 0; d < vd_; ++d) out[d] = is(AttentionBug::kEmptyNan) ? std::nan("") : 0.0;
      lse = is(AttentionBug::kEmptyLseZero) ? 0.0 : k_.empty_lse;
      return;
    }
    float total = 0;
    std::vector<float> merged(vd_, 0.0f);
    for (std::size_t s = 0; s < parts.size(); ++s) {
      const float w = parts.size() == 1              ? 1.0f
                      : is(AttentionBug::kMergeBase) ? std::exp2(lses[s] - top)
                                                     : std::exp(lses[s] - top);
      total += w;
      for (std::int64_t d = 0; d < vd_; ++d)
        merged[d] += w * (parts.size() > 1 ? round_to_f32(k_.partial, parts[s].acc[d]) : parts[s].acc[d]);
    }
    for (std::int64_t d = 0; d < vd_; ++d) out[d] = round_to_f32(k_.out, merged[d] / total);
    float natural = top + std::log(total);
    const bool base2 = k_.lse_base2 != is(AttentionBug::kLseBase);
    lse = base2 ? natural * 1.44269504088896340736f : natural;
  }

  void transpose_lse() {
    std::vector<double> turned(lse_.value.size());
    for (std::int64_t h = 0; h < heads_; ++h)
      for (std::int64_t t = 0; t < tokens_; ++t) turned[t * heads_ + h] = lse_.value[h * tokens_ + t];
    lse_.value = turned;
  }

  const AttentionProblem& p_;
  const AttentionContract& k_;
  const AttentionBug bug_;
  const std::int64_t tokens_, heads_, qk_, vd_, kv_heads_, block_;
  std::vector<std::int64_t> q_lens_;
  const float *k_meaning_ = nullptr, *v_meaning_ = nullptr;  // of each bit pattern of the cache's type
  std::vector<float> q_;
  Actual out_, lse_;
};

}  // namespace

std::vector<Actual> simulate_attention(const AttentionCase& c, const AttentionContract& contract,
                                       AttentionBug bug) {
  return Kernel(c, contract, bug).run();
}

}  // namespace assay::num
