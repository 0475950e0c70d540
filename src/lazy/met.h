// What reductions and routines met that NumPy warns of: where a result is infinite or no number,
// its line is computed again, element by element, and the processor's flags are read.
#pragma once

#include <vector>

#include "lazy/float_errors.h"

namespace numbus::float_errors {

// Adds what the instruction, a reduction or a call that has been carried out, met. Its operands are
// as they were; `in` are all of them.
void find_met(const Instr& i, const ViewRef* const* in, const ViewRef& out,
              std::vector<Finding>& found);

// The product of two lines, or of matrices of one, which is NumPy's to look at: its result is
// special. Which steps meet what depends on the library that NumPy uses. False: it is too large.
bool ask_product(const Instr& i, const ViewRef& x, const ViewRef& y, int64_t rows, int64_t terms,
                 int64_t columns, std::vector<Finding>& found);

}  // namespace numbus::float_errors
