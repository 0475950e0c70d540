// Graphs of a GPU for runs that come again.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "lazy/replay.h"

namespace numbus {

// One launch of a kernel; no function: there is nothing to do.
struct GpuLaunch {
  const cuda::Function* function = nullptr;
  cuda::Dim3 grid, block;
  std::vector<int64_t> words;

  // One pointer a word, as the driver takes them.
  void** parameters() {
    pointers_.clear();
    for (int64_t& w : words) pointers_.push_back(&w);
    return pointers_.data();
  }
  void start(const cuda::Stream& stream) { function->launch(grid, block, 0, stream, parameters()); }

 private:
  std::vector<void*> pointers_;
};

// What makes launches of steps.
class GpuLaunches {
 public:
  virtual void prepare(Runtime&, cuda::CudaDevice&, KernelStep&, GpuLaunch&) = 0;
  // Where blocks of reductions exchange states.
  virtual const char* scratch(cuda::CudaDevice&) = 0;

 protected:
  ~GpuLaunches() = default;
};

// Null where the driver has no graphs.
std::unique_ptr<Replay> make_gpu_replay(cuda::CudaDevice& device, GpuLaunches& launches);
// Gives back the memory of all graphs of a device; false: there was none.
bool drop_gpu_replays(cuda::CudaDevice& device);

}  // namespace numbus
