#include "oracle/indexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/arguments.h"

namespace assay::num {
namespace {

Expected<void> check(const IndexerProblem& p) {
  struct Row {
    const char* name;
    std::span<const double> values;
    std::int64_t count;
  };
  for (const Row& row :
       {Row{"q", p.q, p.tokens * p.heads * p.dim}, Row{"k", p.k, p.keys * p.dim},
        Row{"w", p.w, p.tokens * p.heads}, Row{"k_scale", p.k_scale, p.k_scale.empty() ? 0 : p.keys}}) {
    if (auto ok = expect_count(row.name, row.values.size(), row.count); !ok) return ok;
    if (auto ok = expect_finite(row.name, row.values); !ok) return ok;
  }
  return expect_count("ranges", std::min(p.first.size(), p.last.size()), p.tokens);
}

}  // namespace

Expected<IndexerResult> indexer_logits(const IndexerProblem& p) {
  if (auto ok = check(p); !ok) return tl::unexpected(ok.error());
  IndexerResult r;
  r.logits.assign(p.tokens * p.keys, -std::numeric_limits<double>::infinity());
  r.dots.assign(p.tokens * p.keys, 0.0);
  r.weights.assign(p.tokens * p.keys, 0.0);
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    if (p.first[t] < 0 || p.last[t] > p.keys)
      return fail(fmt::format("ranges[{}]: {} to {} of {} keys", t, p.first[t], p.last[t], p.keys));
    for (std::int64_t j = p.first[t]; j < p.last[t]; ++j) {
      double logit = 0, sizes = 0, positive = 0;
      for (std::int64_t h = 0; h < p.heads; ++h) {
        const double* q = &p.q[(t * p.heads + h) * p.dim];
        double dot = 0, spread = 0;
        for (std::int64_t d = 0; d < p.dim; ++d) {
          const double z = q[d] * p.k[j * p.dim + d];
          dot += z;
          spread += std::fabs(z);
        }
        const double w = p.w[t * p.heads + h], relu = std::max(dot, 0.0);
        logit += w * relu;
        sizes += std::fabs(w) * spread;
        positive += std::fabs(w) * relu;
      }
      const double s = p.k_scale.empty() ? 1 : p.k_scale[j];
      r.logits[t * p.keys + j] = s * logit;
      r.dots[t * p.keys + j] = std::fabs(s) * sizes;
      r.weights[t * p.keys + j] = std::fabs(s) * positive;
    }
  }
  return r;
}

std::vector<std::int64_t> visible_ends(std::int64_t context_len, std::int64_t next_n) {
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 0; i < next_n; ++i)
    ends.push_back(std::max<std::int64_t>(0, context_len - next_n + i + 1));
  return ends;
}

std::optional<std::string> topk_fault(std::span<const double> scores, std::span<const double> slack,
                                      std::int64_t first, std::int64_t last, std::int64_t k,
                                      std::span<const std::int64_t> selected) {
  std::vector<double> sorted(scores.begin() + first, scores.begin() + std::max(first, last));
  const auto candidates = static_cast<std::int64_t>(sorted.size());
  const std::int64_t wanted = std::min(k, candidates);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i : selected)
    if (i != -1) chosen.push_back(i);
  if (static_cast<std::int64_t>(chosen.size()) != wanted)
    return fmt::format("{} selected where {} of {} keys are wanted", chosen.size(), wanted, candidates);
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] < first || chosen[i] >= last)
      return fmt::format("index {} outside of [{}, {})", chosen[i], first, last);
    if (i > 0 && chosen[i] == chosen[i - 1]) return fmt::format("index {} twice", chosen[i]);
  }
  if (wanted == 0) return std::nullopt;
  std::nth_element(sorted.begin(), sorted.begin() + (wanted - 1), sorted.end(), std::greater<>());
  const double kth = sorted[wanted - 1];
  double above = 0;
  for (std::int64_t i = first; i < last && !slack.empty(); ++i)
    if (scores[i] >= kth) above = std::max(above, slack[i]);
  for (std::int64_t i : chosen)
    if (scores[i] < kth - (slack.empty() ? 0 : slack[i]) - above)
      return fmt::format("index {} with score {:.9g} selected, the {}th is {:.9g}", i, scores[i], wanted,
                         kth);
  return std::nullopt;
}

}  // namespace assay::num
