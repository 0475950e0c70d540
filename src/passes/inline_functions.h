// Calls expanded in place.
#pragma once

#include <optional>

#include "ir/function.h"

namespace numbus {

// The function with all that it calls in its own body; nothing where a call is recursive.
std::optional<ir::Function> inlined(const ir::Module& m, const ir::Function& f);

}  // namespace numbus
