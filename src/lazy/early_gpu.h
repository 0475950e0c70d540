// Values of a few bytes that a GPU writes to the host's memory while the graph that computed them
// goes on.
#pragma once

#include <memory>

#include "lazy/replay_gpu.h"

namespace numbus {

// One such value, of the launches of one graph.
class GpuEarlyValue : public EarlyValue {
 public:
  // The kernel that writes it, for the next launch of the graph: of `bytes` that lie at `data`.
  virtual GpuLaunch& next(const char* data, int64_t bytes) = 0;
};

// Null: there is no memory for one more.
std::shared_ptr<GpuEarlyValue> gpu_early_value(Runtime& rt, cuda::CudaDevice& device);

}  // namespace numbus
