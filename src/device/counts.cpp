// Times of kernels, by markers of their device.
#include "device/counts.h"

namespace numbus {

WorkCounts& work_counts() {
  static WorkCounts counts;
  return counts;
}

KernelTimer::KernelTimer(Device& d, Queue* queue) : queue_(queue) {
  if (!work_counts().timing) return;
  begin_ = d.create_marker(true);
  end_ = d.create_marker(true);
  begin_->record(queue_);
}

KernelTimer::~KernelTimer() {
  if (!begin_) return;
  try {
    end_->record(queue_);
    end_->synchronize();
    work_counts().kernel_ns += static_cast<int64_t>(end_->milliseconds_since(*begin_) * 1e6);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // What is wrong with the kernel is told where its result is waited for.
  }
}

}  // namespace numbus
