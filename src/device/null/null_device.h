// A device that computes nothing and counts everything: planner tests need no hardware.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace numbus {

struct NullCounts {
  int64_t allocations = 0, frees = 0;
  int64_t launches = 0;
  int64_t read_bytes = 0, written_bytes = 0;  // as the launches declare them
  int64_t copies = 0, copied_bytes = 0;
  int64_t synchronizations = 0;
};

// Blocks are addresses in a range of 16 TiB that is reserved but not readable: a test that touches
// them by mistake crashes at once. A copy to the host gives zeros.
class NullDevice final : public Device {
 public:
  NullDevice();
  ~NullDevice() override;

  std::string name() const override { return "null"; }
  void free(void* block, size_t bytes) noexcept override;
  void copy_from_host(void* dst, const void* src, size_t bytes) override;
  void copy_to_host(void* dst, const void* src, size_t bytes) override;
  void copy_within(void* dst, const void* src, size_t bytes) override;
  void fill_bytes(void*, unsigned char, size_t, Queue*) override { ++counts_.launches; }
  void synchronize() override { ++counts_.synchronizations; }
  MemoryStats memory_stats() const override { return stats_; }
  void reset_peak() override { stats_.peak_bytes = stats_.used_bytes; }
  void set_memory_limit(size_t bytes) override;
  void trim() override {}

  // What an executor calls in place of running a kernel.
  void launch(int64_t read_bytes, int64_t written_bytes);

  const NullCounts& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 protected:
  void* take(size_t bytes) override;

 private:
  char* range_ = nullptr;
  char* next_ = nullptr;
  size_t range_bytes_ = 0;
  NullCounts counts_;
  MemoryStats stats_;
};

// The one behind null_device().
NullDevice& null_device_counts();

}  // namespace numbus
