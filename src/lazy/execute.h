// Runs one launch on the CPU: the domain cut into units that do not depend on the number of threads.
#pragma once

#include "lazy/plan.h"

namespace numbus {

// results: where each reduction of the step stores its (first) result.
void execute(KernelStep& step, bool native, char* const* results);

}  // namespace numbus
