// Code for a GPU, counted in the statistics of what was compiled.
#pragma once

#include <functional>
#include <string>

#include "device/cuda/cuda_device.h"
#include "lazy/runtime.h"

namespace numbus {

// The entry of a module that this process has, that the disk has, or that build(sm, ptx) makes.
cuda::Function load_code(Runtime& rt, cuda::CudaDevice& d, const std::string& identity,
                         const std::function<std::string(int, int)>& build);

}  // namespace numbus
