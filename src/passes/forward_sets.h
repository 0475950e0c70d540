// Variables that are set once are the value they are set to.
#pragma once

#include "ir/function.h"

namespace numbus {

void forward_sets(ir::Function& f);

}  // namespace numbus
