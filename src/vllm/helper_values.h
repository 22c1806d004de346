// Values in the abstract, and the expressions that give them: the half of helper_run.cc that knows nothing of
// statements.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vllm/place.h"

namespace assay {

struct AbstractNames;

// What is known of a value.
struct Abstract {
  enum class Kind : uint8_t { kUnknown, kNone, kText, kBool, kPlace, kCode, kList };
  Kind kind = Kind::kUnknown;
  bool from_call = false;          // it owes something to the arguments of the call under examination
  bool truth = false;              // kBool
  std::string text;                // kText
  Place place;                     // kPlace
  const Module* module = nullptr;  // kCode; else where the expression stands that gave the value
  Node node;
  AbstractNames* closure = nullptr;  // kCode
  std::vector<Abstract> items;       // kList
};

Abstract abstract_text(std::string text);

// The names of one call, and of the functions around it.
struct AbstractNames {
  std::map<std::string, Abstract, std::less<>> names;
  AbstractNames* outer = nullptr;

  const Abstract* find(std::string_view name) const;
};

class AbstractValues {
 public:
  explicit AbstractValues(Semantics& semantics) : semantics_(semantics) {}
  virtual ~AbstractValues() = default;

 protected:
  using Env = AbstractNames;

  Abstract eval(const Module& module, Node expression, Env* env);
  Truth truth(const Module& module, Node condition, Env* env);
  Abstract member(const Abstract& object, std::string_view attribute_name);
  Abstract code(const Module& module, Node definition, Env* closure);
  // Kept until the run ends: functions hold on to the names around them.
  Env* new_env(Env* outer);
  virtual Abstract call(const Module& module, Node call, Env* env) = 0;
  bool exhausted() const { return steps_ > kMostSteps; }
  bool step() { return ++steps_ <= kMostSteps; }

  Semantics& semantics_;

 private:
  static constexpr int kDeepest = 200;     // expressions that wait for one another, over all calls
  static constexpr int kMostSteps = 3000;  // statements and expressions of one run

  Abstract eval_here(const Module& module, Node expression, Env* env);
  Abstract of_place(Place place, const Module& module, Node node);
  // What the engine knows of an expression that depends on nothing local.
  Abstract outside(const Module& module, Node node);
  Abstract literal(const Module& module, Node node, Env* env);
  Abstract name(const Module& module, Node e, Env* env);
  Abstract attribute(const Module& module, Node e, Env* env);
  Abstract string(const Module& module, Node e, Env* env);
  Abstract boolean(const Module& module, Node e, Env* env);
  Abstract sum(const Module& module, Node e, Env* env);
  Truth truth_here(const Module& module, Node condition, Env* env);
  static Truth truth_of_value(const Abstract& v);
  Truth comparison(const Module& module, Node e, Env* env);

  std::deque<Env> envs_;
  int depth_ = 0;
  int steps_ = 0;
};

}  // namespace assay
