// Reports of GPU kernels that the host looks at later.
#pragma once

#include <memory>

#include "device/cuda/cuda_device.h"
#include "lazy/late.h"

namespace numbus {

// Null where all places for them are taken, or `words` are too many.
std::unique_ptr<LateWords> gpu_late_words(cuda::CudaDevice& device, size_t words);

}  // namespace numbus
