// Functions of numbers without branches: both sides are computed, and what holds is selected. Loops
// stay, as `repeat`.
#pragma once

#include <optional>

#include "ir/function.h"

namespace numbus {

// Parameters, pure steps and one `give` of a function whose calls are inlined; only what the result
// needs. Complex numbers, which functions take and give as two, are one again: `params` and
// `result` are the user's types. Nothing where the function reads or writes memory, can fail, or
// has too many steps.
std::optional<ir::Function> straightened(const ir::Function& f, const std::vector<DType>& params,
                                         DType result);

}  // namespace numbus
