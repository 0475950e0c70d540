// The last pass over a kernel's body: rows that were kept whole are expanded as their uses allow,
// and steps that nothing uses are left out.
#pragma once

#include "ir/kernel.h"

namespace numbus {

void expand_late(ir::Kernel& k);

}  // namespace numbus
