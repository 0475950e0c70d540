// Reports of GPU kernels that the host looks at later.
#pragma once

#include <memory>

#include "device/cuda/cuda_device.h"
#include "lazy/late.h"

namespace numbus {

// Null where all places for them are taken, or `words` are too many.
std::unique_ptr<LateWords> gpu_late_words(cuda::CudaDevice& device, size_t words);

// How many runs that have such words are in the device's queue, or were; and that so many have
// ended, as what came after them in the queue tells.
int64_t gpu_late_runs(cuda::CudaDevice& device);
void gpu_late_runs_ended(cuda::CudaDevice& device, int64_t count);

}  // namespace numbus
