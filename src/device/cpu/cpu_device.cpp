// The CPU as a device: pooled memory, copies on all threads.
#include <cstring>

#include "device/cpu/apart.h"
#include "device/cpu/cpu_info.h"
#include "device/cpu/memory.h"
#include "device/cpu/thread_pool.h"
#include "device/device.h"

namespace numbus {
namespace {

// Below this one core's memcpy is over before a second has begun.
constexpr size_t kParallelCopy = size_t{4} << 20;
constexpr int64_t kCopyChunk = int64_t{1} << 20;

void copy_bytes(void* dst, const void* src, size_t bytes) {
  if (bytes < kParallelCopy) {
    if (bytes != 0) std::memcpy(dst, src, bytes);
    return;
  }
  parallel_for_each(static_cast<int64_t>(bytes), kCopyChunk, [&](int64_t begin, int64_t end, int) {
    std::memcpy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin,
                static_cast<size_t>(end - begin));
  });
}

class CpuDevice final : public Device {
 public:
  CpuDevice() : Device(DeviceKind::Cpu) {}

  std::string name() const override { return cpu_name(); }

  void free(void* block, size_t bytes) noexcept override {
    if (abandoned_works.load(std::memory_order_acquire) != 0 && keep_for_work(block, bytes)) return;
    pool_.free(block, bytes);
  }

  void copy_from_host(void* dst, const void* src, size_t bytes) override {
    copy_bytes(dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes) override {
    copy_bytes(dst, src, bytes);
  }
  void copy_within(void* dst, const void* src, size_t bytes) override {
    copy_bytes(dst, src, bytes);
  }
  void fill_bytes(void* dst, unsigned char value, size_t bytes, Queue*) override {
    if (bytes != 0) std::memset(dst, value, bytes);
  }
  void synchronize() override {}

  MemoryStats memory_stats() const override { return pool_.stats(); }
  void reset_peak() override { pool_.reset_peak(); }
  void set_memory_limit(size_t bytes) override { pool_.set_limit(bytes); }
  void trim() override { pool_.trim(); }

 protected:
  void* take(size_t bytes) override { return pool_.allocate(bytes); }

 private:
  MemoryPool& pool_ = cpu_memory_pool();
};

}  // namespace

Device& cpu_device() {
  static auto* device = new CpuDevice;
  return *device;
}

}  // namespace numbus
