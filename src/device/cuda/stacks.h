// The memory that each of a GPU's threads has for its stack.
#pragma once

#include <atomic>
#include <mutex>

#include "device/cuda/driver.h"

namespace numbus::cuda {

// The driver sizes stacks by what it knows of a kernel, and by a limit of the context where a
// kernel calls itself. It keeps memory of that size for every thread that the GPU can hold at once,
// so that the limit is raised by the first launch that needs it, and lowered when memory runs out.
class Stacks {
 public:
  // What recursion gets where the GPU's memory allows it: as deep as CPython goes, some 1,000
  // calls, with frames of 64 bytes.
  static constexpr size_t kWanted = size_t{64} << 10;

  Stacks(ContextHandle context, const DeviceProperties& properties);

  // Bytes that a kernel launched now may use; raises the limit to kWanted, or to what an eighth of
  // the GPU's memory allows, or to what can be had.
  size_t for_recursion();
  // Lowers the limit to what it was, and says whether it had been raised. No kernel with recursion
  // may be running or queued.
  bool give_back() noexcept;
  bool raised() const { return before_ != 0; }

 private:
  size_t limit() const;

  ContextHandle context_;
  size_t wanted_;
  std::mutex mutex_;
  std::atomic<size_t> before_ = 0;  // the limit that was raised; 0: it was not
};

}  // namespace numbus::cuda
