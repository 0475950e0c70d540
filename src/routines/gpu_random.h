// Random numbers of Philox, by device kernels. Arguments as in random.h, in a device's memory.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::routines {

void philox_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out);
void philox_normal_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out);

}  // namespace numbus::routines
