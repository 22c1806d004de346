// The __init__ that a class decorator puts in the place of the written one.
#pragma once

#include "project/semantics.h"

namespace assay {

// `callable` was the constructor, without self; now `wrapper` is called, which may hand everything on to it.
void wrap(Callable& callable, Node wrapper);

}  // namespace assay
