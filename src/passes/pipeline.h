// What a user's function goes through between the front end and code.
#pragma once

#include "ir/function.h"

namespace numbus {

void run_passes(ir::Module& m);

}  // namespace numbus
