// A lock for sections of a few nanoseconds; it yields the core when the holder is slow.
#pragma once

#include <sched.h>

#include <atomic>

namespace numbus {

class SpinLock {
 public:
  void lock() {
    for (int i = 0; locked_.exchange(true, std::memory_order_acquire); ++i) {
      if (i < 100) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      } else {
        sched_yield();
      }
    }
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace numbus
