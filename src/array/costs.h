// What operations and copies cost on a CPU and on a GPU, as placement.h compares them: models with
// figures measured on an NVIDIA H200 beside 16 cores (docs/performance.md, "Devices chosen by
// cost").
#pragma once

#include "array/array.h"

namespace numbus::placement {

// Microseconds that an operation takes on each side once all of its operands lie there.
struct Cost {
  double near = 0, far = 0;
};

// Fixed costs are multiplied by it, so that tests see at a thousand bytes what others see at a
// million.
void scale_fixed_costs(double factor);

// Of a product of stacks of matrices, which reads and writes so many bytes.
Cost cost_of_product(int64_t stack, int64_t rows, int64_t inner, int64_t cols, DType t);
// Of a routine, launches and all.
Cost cost_of_routine(double near, double far);
// Of a window: the bytes that its kernels move, and what they compute.
Cost cost_of(const Window& w);

// Microseconds that a copy to the other side takes.
double price_of_copy(int64_t bytes, bool to_far);
// Microseconds that the host waits for one element of the GPU's memory.
double price_of_read();

}  // namespace numbus::placement
