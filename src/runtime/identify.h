// The identity of a callable, asked of the process that would call it.
#pragma once

#include <string>

#include "base/error.h"
#include "model/identity.h"
#include "runtime/worker.h"

namespace assay {

// `name` is a dotted name ("pkg.mod.f", "pkg.mod:C.f") or an operator ("ns::op", once what registers it is imported). What cannot
// be imported or found is an Identity with a fault; an Error only when there is no process.
Expected<Identity> identify(Worker& worker, const std::string& name);

}  // namespace assay
