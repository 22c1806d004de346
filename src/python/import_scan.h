// The import statements of a file and where they stand, read from its bytes without parsing: for questions about the
// imports of a whole target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class ImportPlace : uint8_t {
  kTop,       // runs when the module is imported
  kGuarded,   // in an if, a try, a loop … at module level
  kFunction,  // when somebody calls the function
  kTypesOnly  // under `if TYPE_CHECKING`
};

struct ScannedImport {
  bool from = false;
  std::string module;  // as written, leading dots included
  struct Name {
    std::string name;  // "*" for a star
    std::string as;    // empty: no `as`
  };
  std::vector<Name> names;  // of a from-import; else one whose name is empty
  ImportPlace place = ImportPlace::kTop;
  uint32_t line = 0;  // 1-based
};

// In source order.
std::vector<ScannedImport> scan_imports(std::string_view text);

}  // namespace assay
