// Expansion of the rows and conversions in functions into primitive real steps.
#pragma once

#include "ir/function.h"

namespace numbus {

void expand(ir::Module& m);

}  // namespace numbus
