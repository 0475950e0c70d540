// What the time of kernels and copies adds up to, and how many kernels of users' own ran.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "device/device.h"

namespace numbus {

struct WorkCounts {
  std::atomic<int64_t> user_launches{0}, kernel_ns{0}, transfer_ns{0};
  std::atomic<double> compile_ms{0};  // of those kernels
  std::atomic<bool> timing{false};    // of kernels: each is waited for
};
WorkCounts& work_counts();

// A kernel, from its launch to its end; does nothing unless timing is asked for.
class KernelTimer {
 public:
  explicit KernelTimer(Device& d, Queue* queue = nullptr);
  ~KernelTimer();
  KernelTimer(const KernelTimer&) = delete;

 private:
  Queue* queue_;
  std::unique_ptr<Marker> begin_, end_;
};

// A copy between the host and a device, which is over when this ends.
class CopyTimer {
 public:
  CopyTimer() : begin_(std::chrono::steady_clock::now()) {}
  ~CopyTimer() {
    work_counts().transfer_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now() - begin_)
                                     .count();
  }
  CopyTimer(const CopyTimer&) = delete;

 private:
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace numbus
