// The derivative of the largest elements of windows that lie side by side.
#pragma once

#include <span>

#include "array/array.h"

namespace numbus::program {

// Programs that depend on `x` are told that `y`, which instructions made that they did not see, is
// the largest element of each window of the last axes of `x`. `x`: (..., *space); windows have
// `extents` and begin where the last one ends, what is left over at an axis' end is in none. `y`:
// (..., *windows); `place`, of integers and y's shape: the number of the element in its window.
void enter_largest_of_tiles(const Array& x, const Array& y, const Array& place,
                            std::span<const int64_t> extents);

}  // namespace numbus::program
