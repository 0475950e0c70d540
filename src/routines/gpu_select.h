// Elements at given ranks of lines, by device kernels.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::routines {

// out[line, k]: the element that would be at ranks[k] if the line were sorted; NaN is the largest,
// and keeps no sign. The ranks, each of [0, n), lie in the device's memory. Operands are dense and
// do not overlap; nothing waits for the device.
void select_gpu(Device& device, DType t, const char* in, int64_t lines, int64_t n,
                std::span<const int64_t> ranks, char* out);

}  // namespace numbus::routines
