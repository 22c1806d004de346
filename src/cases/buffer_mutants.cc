#include "cases/buffer_mutants.h"

#include <algorithm>

#include "base/once.h"

namespace assay::num {
namespace {

using Build = std::function<Expected<std::unique_ptr<Workload>>(const Case&)>;

class BufferWorkload : public Workload {
 public:
  BufferWorkload(Build build, const Case& line, std::unique_ptr<Workload> now, std::size_t own_mutants)
      : build_(std::move(build)), line_(line), now_(std::move(now)), own_mutants_(own_mutants) {}

  std::vector<Input> inputs() const override { return now_->inputs(); }
  Expected<std::vector<Reference>> reference(std::size_t contract) const override {
    return now_->reference(contract);
  }
  Expected<std::vector<std::vector<Reference>>> references(std::size_t contracts) const override {
    return now_->references(contracts);
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const override {
    if (mutant <= own_mutants_) return now_->simulate(contract, mutant, fine);
    auto before = earlier().simulate(contract, 0, fine);
    if (mutant == own_mutants_ + 1) return before;
    auto made = now_->simulate(contract, 0, fine);
    const auto half = static_cast<std::ptrdiff_t>(made[0].value.size() / 2);
    std::copy(before[0].value.begin() + half, before[0].value.end(), made[0].value.begin() + half);
    return made;
  }

 private:
  const Workload& earlier() const {
    made_.run([this] {
      const auto& keys = line_.schema().keys;
      const bool has_call =
          std::any_of(keys.begin(), keys.end(), [](const KeySpec& key) { return key.name == "call"; });
      const char* differs = has_call ? "call" : "seed";
      Case line = line_;
      line.set_integer(differs, line.integer(differs) + 1);
      auto built = build_(line);
      ASSAY_CHECK(built.has_value(), "the earlier call of " + line_.print());
      earlier_ = std::move(*built);
    });
    return *earlier_;
  }

  const Build build_;
  const Case line_;
  const std::unique_ptr<Workload> now_;
  const std::size_t own_mutants_;
  mutable Once made_;
  mutable std::unique_ptr<Workload> earlier_;
};

}  // namespace

void add_buffer_mutants(Family& family) {
  const std::size_t own = family.mutants.size();
  // Integers and sets of indices leave no tolerance to hide in.
  const bool exact = family.name == "indexer.topk" || family.name == "index.convert";
  family.mutants.push_back({"previous-output", "output of the previous call returned", exact});
  family.mutants.push_back({"stale-buffer", "second half of the output not written", exact});
  family.build = [build = std::move(family.build),
                  own](const Case& line) -> Expected<std::unique_ptr<Workload>> {
    auto now = build(line);
    if (!now) return now;
    return std::make_unique<BufferWorkload>(build, line, std::move(*now), own);
  };
}

}  // namespace assay::num
