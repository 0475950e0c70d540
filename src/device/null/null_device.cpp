// Hands out addresses and counts.
#include "device/null/null_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace numbus {
namespace {

constexpr size_t kRange = size_t{1} << 44;

size_t rounded(size_t bytes) { return std::max<size_t>((bytes + 63) / 64, 1) * 64; }

}  // namespace

NullDevice::NullDevice() : Device(DeviceKind::Null) {
  stats_.limit = kRange;
  // Smaller where the address space is limited (ulimit -v, sanitizers).
  for (size_t size = kRange; range_ == nullptr; size /= 2) {
    void* raw = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED && size > (size_t{1} << 20)) continue;
    if (raw == MAP_FAILED) raise(ErrorKind::Memory, "[null] no address space left to reserve");
    range_ = next_ = static_cast<char*>(raw);
    stats_.limit = size;
  }
  range_bytes_ = stats_.limit;
}

NullDevice::~NullDevice() { munmap(range_, range_bytes_); }

void* NullDevice::take(size_t bytes) {
  size_t room = stats_.limit - std::min(stats_.limit, stats_.used_bytes);
  if (bytes > range_bytes_ || rounded(bytes) > room) raise_out_of_memory(bytes, room);
  size_t size = rounded(bytes);
  // Addresses are not reused until all are through, so that two live blocks rarely coincide.
  if (next_ + size > range_ + range_bytes_) next_ = range_;
  void* block = next_;
  next_ += size;
  ++counts_.allocations;
  stats_.used_bytes += size;
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.used_bytes);
  return block;
}

void NullDevice::free(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  ++counts_.frees;
  stats_.used_bytes -= rounded(bytes);
}

void NullDevice::copy_from_host(void*, const void*, size_t bytes) {
  ++counts_.copies;
  counts_.copied_bytes += static_cast<int64_t>(bytes);
}

void NullDevice::copy_to_host(void* dst, const void*, size_t bytes) {
  if (bytes != 0) std::memset(dst, 0, bytes);
  ++counts_.copies;
  counts_.copied_bytes += static_cast<int64_t>(bytes);
}

void NullDevice::copy_within(void*, const void*, size_t bytes) {
  ++counts_.copies;
  counts_.copied_bytes += static_cast<int64_t>(bytes);
}

void NullDevice::set_memory_limit(size_t bytes) {
  stats_.limit = bytes ? std::min(bytes, range_bytes_) : range_bytes_;
}

void NullDevice::launch(int64_t read_bytes, int64_t written_bytes) {
  ++counts_.launches;
  counts_.read_bytes += read_bytes;
  counts_.written_bytes += written_bytes;
}

NullDevice& null_device_counts() {
  static auto* device = new NullDevice;
  return *device;
}

Device& null_device() { return null_device_counts(); }

}  // namespace numbus
