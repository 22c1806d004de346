#include "cases/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>

#include "base/parallel.h"
#include "cases/cause.h"
#include "cases/suite.h"

namespace assay::num {
namespace {

// The size of an output, so that a tolerance of 1e-2 means what its users think it means: the comparison is
// made as if the output had unit variance.
double deviation(const std::vector<double>& x) {
  double sum = 0, squares = 0, n = 0;
  for (double v : x) {
    if (!std::isfinite(v)) continue;
    sum += v;
    squares += v * v;
    ++n;
  }
  if (n == 0) return 0;
  if (n < 8) return std::sqrt(squares / n);  // of a few elements only the size is known
  return std::sqrt(squares / n - (sum / n) * (sum / n));
}

// One case, which is built once and shown to all contracts.
struct Job {
  const Family* family;
  std::string line;
  std::size_t contract = 0;  // of a guess; all other parts of the test go through all contracts
};

class SelfTest {
 public:
  SelfTest(const SelfTestOptions& options, std::vector<const Family*> families)
      : options_(options), families_(std::move(families)) {}

  SelfTestResult run() {
    const auto start = std::chrono::steady_clock::now();
    for (const Family* f : families_) result_.honest.push_back({f->name});
    smoke();
    choose_rows();
    if (options_.plain) plain();
    honest();
    guesses();
    summarise();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  int threads() const { return options_.threads > 0 ? options_.threads : default_threads(); }

  void each(const std::vector<Job>& jobs, const std::function<void(const Job&, const Workload&)>& fn) {
    parallel_for(jobs.size(), threads(), [&](std::size_t i) {
      const auto c = parse_case(jobs[i].line);
      if (!c) return note_error(jobs[i].line + ": " + c.error().message);
      const auto w = jobs[i].family->build(*c);
      if (!w) return note_error(jobs[i].line + ": " + w.error().message);
      fn(jobs[i], **w);
    });
  }

  void note_error(std::string text) {
    const std::lock_guard lock(mutex_);
    result_.errors.push_back(std::move(text));
  }

  // ---- mutants × smoke cases × contracts
  // ------------------------------------------------------------------------
  void smoke() {
    std::vector<Job> jobs;
    for (const Family* f : families_) {
      for (std::size_t m = 0; m < f->mutants.size(); ++m)
        for (std::size_t k = 0; k < f->contracts.size(); ++k) {
          MutantRow row;
          row.family = f->name;
          row.mutant = f->mutants[m].name;
          row.contract = f->contracts[k];
          row.exact_class = f->mutants[m].exact_class;
          pairs_.push_back(row);
        }
      for (const Case& c : suite(*f, options_.tier)) jobs.push_back({f, c.print()});
    }
    each(jobs, [this](const Job& job, const Workload& w) {
      const auto refs = w.references(job.family->contracts.size());
      if (!refs) return note_error(job.line + ": " + refs.error().message);
      for (std::size_t k = 0; k < refs->size(); ++k) smoke_case(job, w, k, (*refs)[k]);
    });
  }

  void smoke_case(const Job& job, const Workload& w, std::size_t contract,
                  const std::vector<Reference>& refs) {
    const auto honest = w.simulate(contract, 0);
    judge_honest(job, contract, refs, honest);
    for (std::size_t m = 1; m <= job.family->mutants.size(); ++m) {
      const auto made = w.simulate(contract, m);
      if (same_outputs(made, honest)) continue;
      const Verdict v = judge(refs, made);
      const std::lock_guard lock(mutex_);
      MutantRow& row = pair(*job.family, m - 1, contract);
      row.changed = true;
      for (int g = 0; g < kGates; ++g) row.by[g] += !v.gates[g].passed;
      if (v.passed()) continue;
      if (row.killed_cases++ == 0 || job.line < row.first) row.first = job.line;
      mask_of(row).push_back(mask(v));
    }
  }

  static unsigned mask(const Verdict& v) {
    unsigned bits = 0;
    for (int g = 0; g < kGates; ++g) bits |= v.gates[g].passed ? 0u : 1u << g;
    return bits;
  }

  std::vector<unsigned>& mask_of(const MutantRow& row) {
    return masks_[row.family + "/" + row.mutant + "/" + row.contract];
  }

  MutantRow& pair(const Family& f, std::size_t mutant, std::size_t contract) {
    std::size_t base = 0;
    for (const Family* other : families_) {
      if (other == &f) break;
      base += other->mutants.size() * other->contracts.size();
    }
    return pairs_[base + mutant * f.contracts.size() + contract];
  }

  // One row per mutant: the first contract on which the fault shows.
  void choose_rows() {
    std::size_t at = 0;
    for (const Family* f : families_)
      for (std::size_t m = 0; m < f->mutants.size(); ++m) {
        const auto first = pairs_.begin() + static_cast<std::ptrdiff_t>(at),
                   last = first + static_cast<std::ptrdiff_t>(f->contracts.size());
        auto chosen = std::find_if(first, last, [](const MutantRow& r) { return r.changed; });
        result_.rows.push_back(chosen == last ? *first : *chosen);
        at += f->contracts.size();
      }
  }

  // ---- plain inputs
  // ---------------------------------------------------------------------------------------------
  void plain() {
    std::vector<Job> jobs;
    for (const Family* f : families_)
      for (const std::string& line : f->plain) jobs.push_back({f, line});
    each(jobs, [this](const Job& job, const Workload& w) { plain_case(job, w); });
  }

  void plain_case(const Job& job, const Workload& w) {
    std::size_t at = 0;
    for (const Family* f : families_) {
      if (f == job.family) break;
      at += f->mutants.size();
    }
    std::map<std::size_t, std::vector<Actual>> honest;  // by contract
    for (std::size_t m = 1; m <= job.family->mutants.size(); ++m) {
      MutantRow& row = result_.rows[at + m - 1];
      {
        const std::lock_guard lock(mutex_);
        if (row.exact_class || !row.plain.empty()) continue;
      }
      const auto& names = job.family->contracts;
      const auto k =
          static_cast<std::size_t>(std::find(names.begin(), names.end(), row.contract) - names.begin());
      if (!honest.contains(k)) honest[k] = w.simulate(k, 0);
      const std::vector<Actual>& right = honest[k];
      const auto made = w.simulate(k, m);
      if (same_outputs(right, made) || !plain_test_passes(right, made)) continue;
      const std::lock_guard lock(mutex_);
      row.plain = job.line;
    }
  }

  // ---- honest kernels
  // -------------------------------------------------------------------------------------------
  void honest() {
    std::vector<Job> jobs;
    for (const Family* f : families_)
      for (std::int64_t i = 0; i < options_.honest_cases; ++i) {
        Draw draw(options_.seed, static_cast<std::uint64_t>(i) * 1000 + 17);
        // One in eight is long.
        const std::int64_t longest = i % 8 == 0 ? options_.longest : std::min(kLong, options_.longest);
        jobs.push_back({f, f->random(f->schema, draw, longest).print()});
      }
    each(jobs, [this](const Job& job, const Workload& w) {
      const auto refs = w.references(job.family->contracts.size());
      if (!refs) return note_error(job.line + ": " + refs.error().message);
      for (std::size_t k = 0; k < refs->size(); ++k) judge_honest(job, k, (*refs)[k], w.simulate(k, 0));
    });
  }

  void judge_honest(const Job& job, std::size_t contract, const std::vector<Reference>& refs,
                    const std::vector<Actual>& honest) {
    const Verdict v = judge(refs, honest);
    const std::lock_guard lock(mutex_);
    for (int g = 0; g < kGates; ++g) result_.nearest[g] = std::max(result_.nearest[g], v.gates[g].worst);
    if (!v.passed()) result_.alarms.push_back({job.line, job.family->contracts[contract], v.summary()});
    HonestCount& count = *std::find_if(result_.honest.begin(), result_.honest.end(),
                                       [&](const HonestCount& c) { return c.family == job.family->name; });
    const bool offset = job.line.find("fill=offset") != std::string::npos ||
                        job.line.find("fill=channel") != std::string::npos;
    const bool many_keys = is_long(*parse_case(job.line));
    for (HonestCount* c : {&count, &result_.total}) {
      ++c->cases;
      c->undecided += v.undecided();
      c->offset += offset;
      c->many_keys += many_keys;
    }
  }

  // ---- guessed causes
  // -------------------------------------------------------------------------------------------
  void guesses() {
    std::vector<Job> jobs;
    for (const Family* f : families_)
      for (std::int64_t i = 0; i < options_.guess_cases; ++i) {
        Draw draw(options_.seed + 1, static_cast<std::uint64_t>(i) * 1000 + 29);
        for (std::size_t k = 0; k < f->contracts.size(); ++k)
          jobs.push_back({f, f->random(f->schema, draw, 512).print(), k});
      }
    each(jobs, [this](const Job& job, const Workload& w) { guess_case(job, w); });
  }

  void guess_case(const Job& job, const Workload& w) {
    const auto refs = w.reference(job.contract);
    if (!refs) return note_error(job.line + ": " + refs.error().message);
    const CauseFinder causes(*job.family, w, job.contract, *refs);
    for (std::size_t m = 1; m <= job.family->mutants.size(); ++m) {
      const auto made = w.simulate(job.contract, m);
      if (judge(*refs, made).passed()) continue;
      const Guess g = causes.guess(made);
      const std::lock_guard lock(mutex_);
      if (g.mutant == m)
        ++result_.guesses_right;
      else if (g.mutant == 0)
        ++result_.guesses_unknown;
      else
        ++result_.guesses_wrong;
    }
  }

  // ---- summary
  // --------------------------------------------------------------------------------------------------
  void summarise() {
    for (const MutantRow& row : result_.rows) {
      ++result_.mutants;
      result_.killed += row.killed();
      const std::string name = row.family + "/" + row.mutant;
      if (!row.killed()) result_.survivors.push_back(name);
      if (options_.plain && !row.exact_class && row.plain.empty()) result_.easy.push_back(name);
      for (unsigned g = 0; g < kGates; ++g) {
        const auto& masks = mask_of(row);
        const bool alive =
            std::none_of(masks.begin(), masks.end(), [&](unsigned m) { return (m & ~(1u << g)) != 0; });
        if (alive && row.killed()) result_.without[g].push_back(name);
      }
    }
    for (const MutantRow& row : pairs_) {
      if (!row.changed) continue;
      ++result_.pairs;
      result_.pairs_killed += row.killed();
      if (!row.killed()) result_.pair_survivors.push_back(row.family + "/" + row.mutant + "/" + row.contract);
    }
    std::sort(result_.errors.begin(), result_.errors.end());
    std::sort(result_.alarms.begin(), result_.alarms.end(), [](auto& a, auto& b) { return a.line < b.line; });
  }

  const SelfTestOptions& options_;
  const std::vector<const Family*> families_;
  std::mutex mutex_;
  std::vector<MutantRow> pairs_;
  std::map<std::string, std::vector<unsigned>> masks_;
  SelfTestResult result_;
};

}  // namespace

bool same_outputs(const std::vector<Actual>& a, const std::vector<Actual>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (a[t].type != b[t].type || a[t].shape != b[t].shape || a[t].value.size() != b[t].value.size())
      return false;
    for (std::size_t i = 0; i < a[t].value.size(); ++i)
      if (!(a[t].value[i] == b[t].value[i] || (std::isnan(a[t].value[i]) && std::isnan(b[t].value[i]))))
        return false;
  }
  return true;
}

bool plain_test_passes(const std::vector<Actual>& honest, const std::vector<Actual>& made) {
  return allclose(made[0].value, honest[0].value, 1e-2, 1e-2 * deviation(honest[0].value));
}

Expected<SelfTestResult> self_test(const SelfTestOptions& options) {
  std::vector<const Family*> chosen;
  for (const std::string& name : options.families) {
    const auto f = find_family(name);
    if (!f) return tl::unexpected(f.error());
    chosen.push_back(*f);
  }
  if (chosen.empty())
    for (const Family& f : families()) chosen.push_back(&f);
  return SelfTest(options, chosen).run();
}

}  // namespace assay::num
