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

}  // namespace numbus::routines
