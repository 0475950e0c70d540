// Indices that cannot be negative need no counting from the end.
#pragma once

#include "ir/function.h"

namespace numbus {

void simplify_indices(ir::Module& m);

}  // namespace numbus
