// What runs on lanes ends for all of them where one notes an error.
#pragma once

#include "ir/function.h"

namespace numbus {

// Branches that only note an error and leave: their notes end everything (number 1), so that no
// lane is left behind by them, and the branches that pass the status on go.
void end_together(ir::Function& f);

}  // namespace numbus
