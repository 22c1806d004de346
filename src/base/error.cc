#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace assay {

void bug(const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "assay: internal error at %s:%d: %s\n", file, line, message.c_str());
  std::fflush(nullptr);
  std::_Exit(101);
}

}  // namespace assay
