// For families whose inputs are a handful of dense tensors: the bytes by name, and the two functions that
// differ.
#pragma once

#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "cases/family.h"
#include "formats/small_float.h"

namespace assay::num {

class InputSet {
 public:
  // Fills a contiguous tensor with value(i), rounded into the type, and returns what the stored bytes mean.
  const std::vector<double>& add(std::string name, DType type, Shape shape,
                                 const std::function<double(std::int64_t)>& value) {
    Held& h = held_.emplace_back();
    const std::int64_t count = *element_count(shape);
    h.bytes.resize(static_cast<std::size_t>((count * dtype_bits(type) + 7) / 8));
    h.values.resize(static_cast<std::size_t>(count));
    const auto view = TensorView::make(h.bytes, type, {count}, {1});
    ASSAY_CHECK(view.has_value(), "input " + name);
    for (std::int64_t i = 0; i < count; ++i) {
      view->store_bits(i, encode(type, value(i)));
      h.values[i] = view->load(i);
    }
    h.input = {std::move(name), type, shape, contiguous_strides(shape), 0, h.bytes};
    return h.values;
  }

  // The same tensor as a view, for oracles that read strided bytes.
  TensorView view(const std::string& name) {
    for (Held& h : held_)
      if (h.input.name == name)
        return *TensorView::make(h.bytes, h.input.type, h.input.shape, h.input.strides);
    bug(__FILE__, __LINE__, "no input " + name);
  }

  std::vector<Input> list() const {
    std::vector<Input> all;
    for (const Held& h : held_) all.push_back(h.input);
    return all;
  }

 private:
  struct Held {
    std::vector<std::byte> bytes;
    std::vector<double> values;
    Input input;
  };
  std::deque<Held> held_;
};

// State is a struct with a member `InputSet set`, and member functions `references(contract)` and
// `simulate(contract, mutant, fine)`.
template <class State>
class SimpleWorkload : public Workload {
 public:
  explicit SimpleWorkload(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::vector<Input> inputs() const override { return state_->set.list(); }
  Expected<std::vector<Reference>> reference(std::size_t contract) const override {
    return state_->references(contract);
  }
  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const override {
    return state_->simulate(contract, mutant, fine);
  }

 private:
  std::shared_ptr<State> state_;
};

// A family's build function from State's `static Expected<std::shared_ptr<State>> make(const Case&)`.
template <class State>
auto builder() {
  return [](const Case& line) -> Expected<std::unique_ptr<Workload>> {
    auto state = State::make(line);
    if (!state) return tl::unexpected(state.error());
    return std::make_unique<SimpleWorkload<State>>(std::move(*state));
  };
}

// Elements of one tensor of a workload, which holds them as binary64 as well.
constexpr double kMostHeld = 0x1p28;

// Error: names the keys whose product is too large. The factors are counts, so no product of theirs
// overflows.
inline Expected<void> expect_few(const std::string& keys, std::initializer_list<std::int64_t> factors,
                                 double most = kMostHeld) {
  double product = 1;
  for (std::int64_t x : factors) product *= static_cast<double>(x);
  if (product <= most) return {};
  return fail(keys + ": more than 2^" + std::to_string(std::ilogb(most)) + " elements");
}

// a[m][k]·w[k][n], small enough to be held and to be worked out.
inline Expected<void> expect_gemm(std::int64_t m, std::int64_t k, std::int64_t n) {
  if (auto ok = expect_few("m, k, n", {m, k, n}, 0x1p33); !ok) return ok;
  for (const auto& [keys, x, y] : {std::tuple{"m, k", m, k}, {"k, n", k, n}, {"m, n", m, n}})
    if (auto ok = expect_few(keys, {x, y}); !ok) return ok;
  return {};
}

// For values that the schema's bounds guarantee.
inline void set_key(Case& c, const char* key, const std::string& text) {
  auto ok = c.set(key, text);
  ASSAY_CHECK(ok.has_value(), ok ? "" : ok.error().message);
}

inline Reference exact_reference(std::string name, DType type, Shape shape, std::vector<std::string> axes,
                                 std::vector<double> value) {
  Reference r;
  r.name = std::move(name);
  r.type = type;
  r.shape = std::move(shape);
  r.axes = std::move(axes);
  r.value = std::move(value);
  return r;
}

}  // namespace assay::num
