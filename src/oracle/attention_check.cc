#include <fmt/format.h>

#include <cmath>
#include <set>

#include "oracle/arguments.h"
#include "oracle/attention.h"

namespace assay::num {
namespace {

Expected<void> check_cache(const AttentionProblem& p, const char* name, const TensorView& view) {
  if (view.shape().size() != 4)
    return fail(fmt::format("{}: rank {} where 4 is needed", name, view.shape().size()));
  if (view.shape()[2] != p.kv.k.shape()[2])
    return fail(fmt::format("{}: its key heads differ from k's", name));
  if (view.shape()[0] != p.kv.k.shape()[0] || view.shape()[1] != p.kv.k.shape()[1])
    return fail(fmt::format("{}: its blocks differ from k's", name));
  return {};
}

Expected<void> check_pages(const AttentionProblem& p) {
  const std::int64_t blocks = p.kv.k.shape()[0], size = p.kv.k.shape()[1];
  for (std::size_t r = 0; r < p.kv_lens.size(); ++r) {
    const std::int64_t needed = size == 0 ? 0 : (p.kv_lens[r] + size - 1) / size;
    if (size == 0 && p.kv_lens[r] > 0) return fail("block: a block of no slots");
    if (p.kv.table.empty()) {
      if (needed > blocks) return fail(fmt::format("kv_lens[{}]: {} blocks of {}", r, needed, blocks));
      continue;
    }
    const auto& pages = p.kv.table[r];
    if (needed > static_cast<std::int64_t>(pages.size()))
      return fail(fmt::format("block_table[{}]: {} pages where {} are needed", r, pages.size(), needed));
    for (std::int64_t i = 0; i < needed; ++i)
      if (pages[i] < 0 || pages[i] >= blocks)
        return fail(fmt::format("block_table[{}][{}]: page {} of {}", r, i, pages[i], blocks));
  }
  return {};
}

Expected<void> check_lengths(const AttentionProblem& p, std::int64_t tokens) {
  if (p.q_lens.size() != p.kv_lens.size())
    return fail(fmt::format("kv_lens: {} requests where q_lens has {}", p.kv_lens.size(), p.q_lens.size()));
  std::int64_t sum = 0;
  for (std::size_t r = 0; r < p.q_lens.size(); ++r) {
    if (p.q_lens[r] < 0) return fail(fmt::format("q_lens[{}]: {}", r, p.q_lens[r]));
    if (p.kv_lens[r] < 0) return fail(fmt::format("kv_lens[{}]: {}", r, p.kv_lens[r]));
    sum += p.q_lens[r];
  }
  if (sum != tokens) return fail(fmt::format("q_lens: their sum is {}, q has {} tokens", sum, tokens));
  if (!p.kv.table.empty() && p.kv.table.size() != p.kv_lens.size())
    return fail(fmt::format("block_table: {} rows for {} requests", p.kv.table.size(), p.kv_lens.size()));
  if (!p.causal.empty() && p.causal.size() != p.q_lens.size())
    return fail(fmt::format("causal: {} entries for {} requests", p.causal.size(), p.q_lens.size()));
  if (!p.selected.empty() && static_cast<std::int64_t>(p.selected.size()) != tokens)
    return fail(fmt::format("indices: {} rows for {} tokens", p.selected.size(), tokens));
  return {};
}

Error input_error(std::string message) { return {ErrorKind::kInput, std::move(message)}; }

// The first element of a row that isn't finite, or -1.
std::int64_t first_bad(const TensorView& t, std::initializer_list<std::int64_t> row, std::int64_t dims) {
  std::vector<double> values(static_cast<std::size_t>(dims));
  if (dims > 0) t.load_row(row, dims, values.data());
  for (std::int64_t d = 0; d < dims; ++d)
    if (!std::isfinite(values[d])) return d;
  return -1;
}

Expected<void> check_scales(const char* name, const CacheScale& scale, std::int64_t kv_heads) {
  if (!std::isfinite(scale.tensor))
    return fail(fmt::format("{}: {} is no finite number", name, scale.tensor));
  if (!scale.head.empty())
    if (auto ok = expect_count(name, scale.head.size(), kv_heads); !ok) return ok;
  return expect_finite(name, scale.head);
}

}  // namespace

Error not_finite(const AttentionProblem& p, std::int64_t request, std::int64_t token, std::int64_t head) {
  const std::int64_t qk = p.q.shape()[2], vd = p.kv.v.shape()[3], size = p.kv.k.shape()[1],
                     kv_head = head / (p.q.shape()[1] / p.kv.k.shape()[2]);
  if (const auto d = first_bad(p.q, {token, head, 0}, qk); d >= 0)
    return input_error(fmt::format("q[token {}][head {}][dim {}]: {} is no finite number", token, head, d,
                                   p.q.at({token, head, d})));
  // Any key of the request that some row sees: rows are worked on together, and zero times NaN is NaN.
  std::set<std::int64_t> positions;
  if (!p.selected.empty()) positions.insert(p.selected[token].begin(), p.selected[token].end());
  const bool causal = p.causal.empty() ? p.mask.causal : p.causal[request] != 0;
  for (std::int64_t i = 0; i < p.q_lens[request] && p.selected.empty(); ++i) {
    const KeyRange seen = visible_keys(p.mask, causal, p.q_lens[request], p.kv_lens[request], i);
    for (std::int64_t j = seen.first; j < seen.last; ++j) positions.insert(j);
  }
  for (std::int64_t j : positions) {
    if (j < 0 || j >= p.kv_lens[request]) continue;
    const std::int64_t block = p.kv.table.empty() ? j / size : p.kv.table[request][j / size], slot = j % size;
    const auto name = [&](const char* tensor, std::int64_t d) {
      return fmt::format("{}[request {}][position {}][head {}][dim {}]: no finite number", tensor, request, j,
                         kv_head, d);
    };
    if (const auto d = first_bad(p.kv.k, {block, slot, kv_head, 0}, qk); d >= 0)
      return input_error(name("k", d));
    if (const auto d = first_bad(p.kv.v, {block, slot, kv_head, 0}, vd); d >= 0)
      return input_error(name("v", d));
  }
  return input_error(
      fmt::format("scale: the scores of token {}, head {} are no finite numbers", token, head));
}

Expected<void> check(const AttentionProblem& p) {
  if (p.q.shape().size() != 3) return fail(fmt::format("q: rank {} where 3 is needed", p.q.shape().size()));
  if (auto ok = check_cache(p, "k", p.kv.k); !ok) return ok;
  if (auto ok = check_cache(p, "v", p.kv.v); !ok) return ok;
  const std::int64_t heads = p.q.shape()[1], kv_heads = p.kv.k.shape()[2];
  if (kv_heads == 0 || heads % kv_heads != 0)
    return fail(fmt::format("heads: {} query heads are no multiple of {} key heads", heads, kv_heads));
  if (p.q.shape()[2] != p.kv.k.shape()[3])
    return fail(fmt::format("dim: q has {}, k has {}", p.q.shape()[2], p.kv.k.shape()[3]));
  if (!(p.softcap >= 0)) return fail("softcap: negative or NaN");
  if (!std::isfinite(p.scale)) return fail(fmt::format("scale: {} is no finite number", p.scale));
  if (auto ok = check_scales("k_scale", p.kv.k_scale, kv_heads); !ok) return ok;
  if (auto ok = check_scales("v_scale", p.kv.v_scale, kv_heads); !ok) return ok;
  if (!p.alibi.empty() && static_cast<std::int64_t>(p.alibi.size()) != heads)
    return fail(fmt::format("alibi: {} slopes for {} heads", p.alibi.size(), heads));
  if (!p.sink.empty() && static_cast<std::int64_t>(p.sink.size()) != heads)
    return fail(fmt::format("sink: {} logits for {} heads", p.sink.size(), heads));
  if (auto ok = expect_finite("alibi", p.alibi); !ok) return ok;
  for (std::size_t h = 0; h < p.sink.size(); ++h)
    if (!(p.sink[h] < INFINITY)) return fail(fmt::format("sink[{}]: {}", h, p.sink[h]));
  if (auto ok = check_lengths(p, p.q.shape()[0]); !ok) return ok;
  return check_pages(p);
}

}  // namespace assay::num
