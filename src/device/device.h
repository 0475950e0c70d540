// What the layers above know of a device: memory, copies, synchronisation, statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace numbus {

enum class DeviceKind { Cpu, Cuda, Null };

// Bytes as the device counts them, that is after rounding to its size classes.
struct MemoryStats {
  size_t used_bytes = 0;      // handed out and not yet freed
  size_t pooled_bytes = 0;    // taken from the system, free for the next request
  size_t peak_bytes = 0;      // highest used_bytes so far
  size_t overhead_bytes = 0;  // bookkeeping: span headers and block tables
  size_t limit = 0;           // used + pooled never exceed this
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual std::string name() const = 0;
  virtual DeviceKind kind() const = 0;
  virtual int ordinal() const { return 0; }

  // Pooled memory, aligned to 64 bytes (256 on a GPU), contents undefined. Zero bytes give a valid
  // pointer. Raises ErrorKind::Memory and leaves every other block intact.
  virtual void* allocate(size_t bytes) = 0;
  // `bytes` is what allocate() was asked for. The memory may still be read by work that is queued
  // on the device's own stream: reuse is stream-ordered.
  virtual void free(void* block, size_t bytes) noexcept = 0;

  // The source may be changed as soon as copy_from_host returns; the target is complete when
  // copy_to_host returns. copy_within is stream-ordered and its ranges must not overlap.
  virtual void copy_from_host(void* dst, const void* src, size_t bytes) = 0;
  virtual void copy_to_host(void* dst, const void* src, size_t bytes) = 0;
  virtual void copy_within(void* dst, const void* src, size_t bytes) = 0;

  virtual void synchronize() = 0;
  // Work from now on follows what is queued on another library's stream, given by its handle.
  virtual void wait_for_stream(std::uintptr_t) {}

  virtual MemoryStats memory_stats() const = 0;
  // Zero restores the default limit (the device's whole memory).
  virtual void set_memory_limit(size_t bytes) = 0;
  // Returns every pooled byte that can be returned to the system.
  virtual void trim() = 0;

 protected:
  Device() = default;
};

Device& cpu_device();
Device& null_device();
// Null when this GPU cannot be used; cuda_unavailable_reason() says why. The first call loads the
// driver, so it must not happen at import.
Device* cuda_device(int ordinal);
// The GPU that memory at this address is on, or null likewise.
Device* cuda_device_of(std::uintptr_t address);
std::string cuda_unavailable_reason();

// One wording for every device.
[[noreturn]] void raise_out_of_memory(size_t bytes, size_t at_most);

}  // namespace numbus
