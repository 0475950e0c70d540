// Short branches that only compute, as selects: for lanes, which would pay for the branch instead.
#pragma once

#include "ir/function.h"

namespace numbus {

void flatten_branches(ir::Function& f);

}  // namespace numbus
