// Checks of indices: those that always hold are dropped, others are decided before a loop begins.
#pragma once

#include "ir/function.h"

namespace numbus {

// A loop whose checks can be decided from its range becomes two: one without these checks, run
// where all of them hold for the whole range, and the loop as it was.
void decide_bounds(ir::Module& m);

}  // namespace numbus
