// Which mappings (interpreter, target, what corresponds to what) the user has confirmed: asked for once, until one changes.
#pragma once

#include <string>

#include "base/error.h"

namespace assay {

// A file below the user's state folder ($XDG_STATE_HOME, else ~/.local/state): lines "SUBJECT<tab>MAPPING<tab>HOW".
class MappingStore {
 public:
  explicit MappingStore(std::string folder = "");  // empty: the user's state folder

  // "confirmed by the user", "assumed", "not confirmed", or "changed since it was confirmed". `subject` says what the mapping is
  // about: the interpreter and the local trees by name.
  std::string state(const std::string& subject, const std::string& mapping) const;
  Expected<void> confirm(const std::string& subject, const std::string& mapping, const std::string& how);

 private:
  std::string file_;
};

}  // namespace assay
