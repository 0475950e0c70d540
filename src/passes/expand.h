// Expansion of table rows into primitive real steps of the kernel IR.
#pragma once

#include <functional>

#include "ir/kernel.h"

namespace numbus {

// The value of `op` applied to operands that all have the loop's type; emits only primitive steps.
ir::Val expand(ir::Builder& b, Op op, ir::Val x, ir::Val y = ir::kNone);

// Conversion between any two element types.
ir::Val convert(ir::Builder& b, ir::Val v, DType to);

// The value of an elementwise instruction of `nin` operands, whose loop has type `loop` and whose
// result is stored as `out`: an operation of the table, a cast, a select, or a part of a complex
// number. `operand` gives an operand in a type.
ir::Val map_value(ir::Builder& b, Op op, DType loop, DType out, int nin,
                  const std::function<ir::Val(int, DType)>& operand);

// cond ? x : y for any type.
ir::Val choose(ir::Builder& b, ir::Val cond, ir::Val x, ir::Val y);

}  // namespace numbus
