// Which instructions of a kernel met the errors of floating-point numbers that its flags tell of.
#pragma once

#include "lazy/run.h"

namespace numbus {

// Called after a step of a run whose flags are set, while its storages are still there: computes
// its instructions again, one by one, where what they read has not been overwritten, and notes what
// NumPy may warn of.
void look_again(const Window& w, Run& run, KernelStep& step);

// The same of a step that has called a routine, whose operands are where the step found them.
void look_at_call(const Window& w, const KernelStep& step);

}  // namespace numbus
