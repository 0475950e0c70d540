// GPU code at hand: loaded in this process, on disk, or made now.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/recent.h"
#include "device/cuda/cuda_device.h"

namespace numbus::compile {

struct GpuCode {
  cuda::Function function;  // the entry "k", which keeps its module
  enum From { Memory, Disk, Compiler } from = Memory;
  double milliseconds = 0;
};

// The modules that were used last. What is in use stays loaded when it is dropped here.
class GpuModules {
 public:
  explicit GpuModules(size_t limit) : modules_(limit) {}
  // `identity` is all that tells the code from other code; build(sm, ptx) gives its PTX or machine
  // code.
  GpuCode code(cuda::CudaDevice& d, const std::string& identity,
               const std::function<std::string(int, int)>& build);

 private:
  std::mutex lock_;
  Recent<std::shared_ptr<cuda::Module>> modules_;
};

// From the modules of the process.
GpuCode gpu_code(cuda::CudaDevice& d, const std::string& identity,
                 const std::function<std::string(int, int)>& build);

}  // namespace numbus::compile
