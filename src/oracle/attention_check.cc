#include <fmt/format.h>

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

}  // namespace

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
  if (!(p.scale == p.scale)) return fail("scale: NaN");
  if (!p.alibi.empty() && static_cast<std::int64_t>(p.alibi.size()) != heads)
    return fail(fmt::format("alibi: {} slopes for {} heads", p.alibi.size(), heads));
  if (!p.sink.empty() && static_cast<std::int64_t>(p.sink.size()) != heads)
    return fail(fmt::format("sink: {} logits for {} heads", p.sink.size(), heads));
  if (auto ok = check_lengths(p, p.q.shape()[0]); !ok) return ok;
  return check_pages(p);
}

}  // namespace assay::num
