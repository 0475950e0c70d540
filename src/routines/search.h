// numpy.searchsorted.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace numbus::routines {

// For each of m values, how many of the n elements of `sorted` are smaller (`right`: not larger),
// in NumPy's order, where NaN comes last and equals NaN. With `sorter`, element i is
// sorted[sorter[i]]; an index out of range raises a ValueError. Where the elements are not sorted,
// the results are some numbers in [0, n].
void search(DType t, const char* sorted, int64_t n, const char* values, int64_t m,
            const int64_t* sorter, bool right, int64_t* out);

// out[i]: the value at x[i] of the lines between the points (xp, fp), of which there is at least
// one and xp does not decrease; `before` the first point and `after` the last one. As numpy.interp.
void interp(const double* x, int64_t n, const double* xp, const double* fp, int64_t points,
            double before, double after, double* out);

}  // namespace numbus::routines
