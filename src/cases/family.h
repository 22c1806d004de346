// What every family of kernels offers to the suites: a grammar, input bytes, a reference per rounding
// contract, simulated kernels that keep those contracts, and mutants: the same kernels with one fault each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cases/case_line.h"
#include "formats/random.h"
#include "judge/verdict.h"

namespace assay::num {

struct Mutant {
  std::string name;        // "window-short"
  std::string looks_like;  // "window one short": the wording of a guessed cause
  // The fault shows as NaN, infinity, type, guard bytes or an exact integer, which no tolerance hides.
  bool exact_class = false;
};

// A tensor that a kernel is given. The bytes stay owned by the workload.
struct Input {
  std::string name;
  DType type = DType::kF32;
  Shape shape, strides;  // in elements
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
};

// One case made real: bytes, views, and everything that is judged.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::vector<Input> inputs() const = 0;
  // contract: index into Family::contracts.
  virtual Expected<std::vector<Reference>> reference(std::size_t contract) const = 0;
  // Those of the first `contracts` contracts, in one pass over the inputs where that saves work.
  virtual Expected<std::vector<std::vector<Reference>>> references(std::size_t contracts) const;
  // mutant: 0 is honest, else 1 + index into Family::mutants. fine: the same conventions and fault without
  // the contract's roundings, in binary32 or better: what the faulty formula means, for guessing causes.
  virtual std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine = false) const = 0;
};

// Up to here a random case is of everyday size; above, its keys or terms are some 32 k to `longest`.
constexpr std::int64_t kLong = 4096;

struct Family {
  std::string name;       // "attn.paged"
  std::string component;  // "attention": families that one kernel package implements together
  Schema schema;
  std::vector<std::string> contracts;  // the first is the usual one
  std::vector<Mutant> mutants;
  std::vector<std::string> smoke;    // case lines that kill every mutant
  std::vector<std::string> plain;    // plain random inputs, as tests elsewhere use them
  std::vector<std::string> longest;  // contexts of up to 131,072 keys, for the full suite
  // A random case line; its keys or inner dimension are below `longest`, and of that size above kLong.
  std::function<Case(const Schema&, Draw&, std::int64_t longest)> random;
  std::function<Expected<std::unique_ptr<Workload>>(const Case&)> build;
};

// All families, in the order in which reports list them.
const std::vector<Family>& families();

// Error: an unknown name, with the nearest known one.
Expected<const Family*> find_family(std::string_view name);

// Parses against all families. Error: as parse_case.
Expected<Case> parse_case(std::string_view line);

}  // namespace assay::num
