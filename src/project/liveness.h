// Which functions of the plugin can ever be called: those that code which itself can run names, from the top levels of the
// reached modules on. An import, an annotation or a definition alone calls nothing. It errs towards "can run".
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/once.h"
#include "project/reach.h"
#include "project/semantics.h"

namespace assay {

// What the rest of the program knows, and this room does not.
struct LivenessQuestions {
  // Dotted names of decorators that put a class or function where nothing takes it from.
  std::vector<std::string> idle_decorators;
  // Those of `names` that the target's text spells as whole words.
  std::function<std::vector<std::string_view>(const std::vector<std::string_view>& names)> spelled_by_target;
};

class Liveness {
 public:
  Liveness(const Project& project, const SourceTree& plugin, const Reachability& reach, LivenessQuestions questions);
  ~Liveness();
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;

  // Whether the code at the place can run once its module is imported; else `reason` says why not. A definition counts as
  // the body that it opens. Worked out on the first question, for all places; safe to ask from several threads.
  bool can_run(Semantics& semantics, const Module& module, Node place, std::string& reason) const;

 private:
  struct Unit;
  class Spread;
  const Project& project_;
  const SourceTree& plugin_;
  const Reachability& reach_;
  LivenessQuestions questions_;
  mutable Once built_;
  mutable std::map<std::pair<const Module*, NodeId>, std::unique_ptr<Unit>> units_;
};

}  // namespace assay
