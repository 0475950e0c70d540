// Elements at given ranks of lines, by device kernels.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::routines {

// out[line, k]: the element that would be at ranks[k] if the line were sorted, each rank of
// [0, n); NaN is the largest, and keeps no sign. Operands are dense and do not overlap; nothing
// waits for the device.
void select_gpu(Device& device, DType t, const char* in, int64_t lines, int64_t n,
                std::span<const int64_t> ranks, char* out);

}  // namespace numbus::routines
