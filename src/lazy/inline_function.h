// The steps of a user's function among those of a kernel.
#pragma once

#include <functional>

#include "ir/function.h"
#include "ir/kernel.h"

namespace numbus {

// The conjunction of two predicates, either of which may be none.
ir::Val both(ir::Builder& to, ir::Val x, ir::Val y);

// The value of the function, its steps in place. `operand` gives its parameters in their types.
// Lanes that `where` leaves out take no part in its loops.
ir::Val inline_function(ir::Builder& to, const ir::Function& f,
                        const std::function<ir::Val(int, DType)>& operand, ir::Val where);

}  // namespace numbus
