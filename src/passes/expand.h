// Expansion of table rows into primitive real steps of the kernel IR.
#pragma once

#include "ir/kernel.h"

namespace numbus {

// The value of `op` applied to operands that all have the loop's type; emits only primitive steps.
ir::Val expand(ir::Builder& b, Op op, ir::Val x, ir::Val y = ir::kNone);

// Conversion between any two element types.
ir::Val convert(ir::Builder& b, ir::Val v, DType to);

// cond ? x : y for any type.
ir::Val choose(ir::Builder& b, ir::Val cond, ir::Val x, ir::Val y);

}  // namespace numbus
