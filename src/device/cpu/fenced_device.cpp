// A device for tests: the CPU's cores, with memory that code outside of the device's own work
// cannot touch. What would crash with a GPU's memory crashes here, too, where there is no GPU.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace numbus {
namespace {

constexpr size_t kRange = size_t{1} << 36, kPage = 4096, kAlign = 256;

size_t rounded(size_t bytes) { return (std::max<size_t>(bytes, 1) + kAlign - 1) / kAlign * kAlign; }

class FencedDevice final : public Device {
 public:
  FencedDevice() : Device(DeviceKind::Cpu) {
    fenced_ = true;
    void* raw =
        mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) raise(ErrorKind::Memory, "[fenced] no address space left to reserve");
    range_ = static_cast<char*>(raw);
  }

  std::string name() const override { return "the CPU, with memory of its own"; }

  void free(void* block, size_t bytes) noexcept override {
    if (block == nullptr) return;
    std::lock_guard guard(lock_);
    // Whoever still has the address of what was spilled meets neither its elements nor others'.
    if (limit_ != kRange) {
      if (depth_ == 0) protect(PROT_READ | PROT_WRITE);
      std::memset(block, 0xa5, bytes);
      if (depth_ == 0) protect(PROT_NONE);
    }
    free_[rounded(bytes)].push_back(static_cast<char*>(block));
    stats_.used_bytes -= rounded(bytes);
  }

  void copy_from_host(void* dst, const void* src, size_t bytes) override { move(dst, src, bytes); }
  void copy_to_host(void* dst, const void* src, size_t bytes) override { move(dst, src, bytes); }
  void copy_within(void* dst, const void* src, size_t bytes) override { move(dst, src, bytes); }
  void fill_bytes(void* dst, unsigned char value, size_t bytes, Queue*) override {
    const DeviceWork work(*this);
    if (bytes != 0) std::memset(dst, value, bytes);
  }
  void synchronize() override {}

  void begin_work() override {
    std::lock_guard guard(lock_);
    if (depth_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void end_work() noexcept override {
    std::lock_guard guard(lock_);
    if (--depth_ == 0) protect(PROT_NONE);
  }

  MemoryStats memory_stats() const override {
    std::lock_guard guard(lock_);
    MemoryStats s = stats_;
    s.pooled_bytes = end_ - s.used_bytes;
    s.limit = limit_;
    return s;
  }
  void reset_peak() override {
    std::lock_guard guard(lock_);
    stats_.peak_bytes = stats_.used_bytes;
  }
  void set_memory_limit(size_t bytes) override {
    std::lock_guard guard(lock_);
    limit_ = bytes ? std::min(bytes, kRange) : kRange;
  }
  void trim() override {}

 protected:
  void* take(size_t bytes) override {
    if (relief.always) relief.make_room(*this, bytes);
    std::lock_guard guard(lock_);
    const size_t size = rounded(bytes);
    const size_t room = limit_ - std::min(limit_, stats_.used_bytes);
    if (size > room) raise_out_of_memory(bytes, room);
    std::vector<char*>& known = free_[size];
    char* block = nullptr;
    if (!known.empty()) {
      block = known.back();
      known.pop_back();
    } else {
      if (size > kRange - end_) raise_out_of_memory(bytes, kRange - end_);
      block = range_ + end_;
      end_ += size;
      if (depth_ > 0) protect(PROT_READ | PROT_WRITE);
    }
    stats_.used_bytes += size;
    stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.used_bytes);
    return block;
  }

 private:
  void move(void* dst, const void* src, size_t bytes) {
    const DeviceWork work(*this);
    if (bytes != 0) std::memmove(dst, src, bytes);
  }
  void protect(int how) noexcept { mprotect(range_, (end_ + kPage - 1) / kPage * kPage, how); }

  mutable std::mutex lock_;
  char* range_ = nullptr;
  size_t end_ = 0, limit_ = kRange;  // the limit of what is used
  int depth_ = 0;
  std::map<size_t, std::vector<char*>> free_;
  MemoryStats stats_;
};

}  // namespace

Device& fenced_device() {
  static auto* device = new FencedDevice;
  return *device;
}

}  // namespace numbus
