// Operations that are computed in many steps.
#pragma once

#include "ops/table.h"

namespace numbus {

// Such as exp, or a user's function.
inline bool is_function(Op op) { return op < Op::select ? !row(op).primitive : op == Op::apply; }

}  // namespace numbus
