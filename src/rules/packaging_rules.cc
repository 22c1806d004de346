// not-packaged: data files that the code reads and the distribution leaves out.
#include "rules/rules.h"

namespace assay {

void check_packaging(RuleContext&) {}

}  // namespace assay
