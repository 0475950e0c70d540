// The context's limit on stacks, which other libraries share.
#include "device/cuda/stacks.h"

#include <algorithm>

#include "base/error.h"

namespace numbus::cuda {
namespace {

constexpr size_t kStep = 1024, kPartOfMemory = 8;

}  // namespace

Stacks::Stacks(ContextHandle context, const DeviceProperties& properties) : context_(context) {
  auto threads = static_cast<size_t>(std::max(properties.multiprocessors, 1)) *
                 static_cast<size_t>(std::max(properties.max_threads_per_multiprocessor, 1));
  wanted_ = std::min(kWanted, properties.total_memory / kPartOfMemory / threads / kStep * kStep);
}

size_t Stacks::limit() const {
  size_t bytes = 0;
  NUMBUS_CUDA("asking for the size of stacks", cuCtxGetLimit, &bytes, kLimitStackSize);
  return bytes;
}

size_t Stacks::for_recursion() {
  std::lock_guard<std::mutex> lock(mutex_);
  ContextScope scope(context_);
  const size_t now = limit();
  for (size_t bytes = wanted_; bytes > now; bytes = bytes / 2 / kStep * kStep) {
    Result result = driver().cuCtxSetLimit(kLimitStackSize, bytes);
    if (result == kErrorOutOfMemory) continue;
    if (result != kSuccess)
      raise_driver_error(result, "cuCtxSetLimit",
                         "giving threads stacks of " + std::to_string(bytes) + " bytes");
    if (!before_) before_ = now;
    break;
  }
  return limit();
}

bool Stacks::give_back() noexcept {
  if (!cuda_available()) return false;
  try {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!before_) return false;
    ContextScope scope(context_);
    driver().cuCtxSetLimit(kLimitStackSize, before_);
    before_ = 0;
    return true;
  } catch (const std::exception&) {
    return false;  // the GPU is lost, or the process at its end
  }
}

}  // namespace numbus::cuda
