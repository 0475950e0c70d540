// Expansion of rows over complex operands into real steps on their parts.
#pragma once

#include "ir/kernel.h"

namespace numbus {

ir::Val real_part(ir::Builder& b, ir::Val z);
ir::Val imag_part(ir::Builder& b, ir::Val z);
ir::Val make_complex(ir::Builder& b, ir::Val re, ir::Val im);
ir::Val expand_complex(ir::Builder& b, Op op, ir::Val x, ir::Val y);

// Whether the row has a complex expansion; those without raise NotImplementedError when recorded.
bool has_complex_expansion(Op op);

}  // namespace numbus
