// GPU code at hand: loaded in this process, on disk, or made now.
#pragma once

#include <functional>
#include <string>

#include "device/cuda/cuda_device.h"

namespace numbus::compile {

struct GpuCode {
  cuda::Function function;  // the entry "k"
  enum From { Memory, Disk, Compiler } from = Memory;
  double milliseconds = 0;
};

// `identity` is all that tells the code from other code; build(sm, ptx) gives its PTX.
GpuCode gpu_code(cuda::CudaDevice& d, const std::string& identity,
                 const std::function<std::string(int, int)>& build);

}  // namespace numbus::compile
