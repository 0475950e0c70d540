// Convolutions on the CPU as sums of shifted planes.
#pragma once

#include "vendor/convolution.h"

namespace numbus::vendor {

// float32 and float64; operands as those of convolve_cpu. False where it is not the way for such
// shapes, or for what is infinite or no number among the operands of a derivative by weights.
bool convolve_direct(const Convolution& c, const char* a, const char* b, char* out);

}  // namespace numbus::vendor
