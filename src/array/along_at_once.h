// Elements that an index along one axis names, as PyTorch's gather and scatter have them: the index
// has as many axes as the array, and stands in place of the coordinate of one. Indices from the end
// are wrong.
#pragma once

#include <optional>

#include "array/array.h"

namespace numbus {

// An array of the index's shape; nothing where it has to be recorded. Raises for wrong indices.
std::optional<Array> pick_along_at_once(const Array& a, int axis, const Array& index);
// `value`, a number or an array at least as large as the index, stored or added in the index's
// order. False: it has to be recorded, and nothing was written, as where a wrong index raises.
bool store_along_at_once(const Array& to, int axis, const Array& index, const Arg& value,
                         bool adds);

}  // namespace numbus
