// What the layers above know of a device: memory, copies, synchronisation, statistics.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "device/host_memory.h"
#include "device/stream_order.h"

namespace numbus {

enum class DeviceKind { Cpu, Cuda, Null };

// Bytes as the device counts them, that is after rounding to its size classes.
struct MemoryStats {
  size_t used_bytes = 0;      // handed out and not yet freed
  size_t pooled_bytes = 0;    // taken from the system, free for the next request
  size_t peak_bytes = 0;      // highest used_bytes so far, or since reset_peak()
  size_t overhead_bytes = 0;  // bookkeeping: span headers and block tables
  size_t limit = 0;           // used + pooled never exceed this
};

class Device;

// A stream beside a device's own one: what is queued in it runs in order, and beside what is queued
// elsewhere, except where uses of memory conflict. On a CPU all is done when a call returns.
class Queue {
 public:
  explicit Queue(Device& device) : device_(device) {}
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;

  Device& device() const { return device_; }
  virtual int number() const { return 1; }             // tells the device's queues apart; never 0
  virtual std::uintptr_t handle() const { return 0; }  // the driver's
  virtual int priority() const { return 0; }
  virtual void synchronize() {}
  virtual bool done() { return true; }

 private:
  Device& device_;
};

struct QueueOptions {
  bool independent = false;     // of the legacy default stream, too
  int priority = 0;             // lower is sooner; beyond the device's range is its nearest
  std::uintptr_t existing = 0;  // another library's stream, which stays its own
};

// A point in a queue, for waiting and for timing. A null queue is the device's own.
class Marker {
 public:
  virtual ~Marker() = default;
  virtual void record(Queue* queue) = 0;
  virtual void hold(Queue* queue) = 0;  // what is queued there from now on comes after this point
  virtual void synchronize() = 0;
  virtual bool done() = 0;
  // From a marker of the same kind; both were made with timing and have happened.
  virtual double milliseconds_since(Marker& start) = 0;
  virtual std::uintptr_t handle() const { return 0; }
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual std::string name() const = 0;
  DeviceKind kind() const { return kind_; }
  virtual int ordinal() const { return 0; }
  // "cpu", "null", "cuda:0": what selects it.
  std::string label() const;

  // What the layers above ask instead of the kind.
  // Its memory is the host's own: code of the host reads and writes it where nothing is pending.
  bool host_readable() const { return kind() == DeviceKind::Cpu && !fenced_; }
  // Its kernels and routines are code of the host, which may touch its memory during DeviceWork.
  bool runs_on_host() const { return kind() == DeviceKind::Cpu; }
  // It counts launches and bytes and computes nothing.
  bool counts_only() const { return kind() == DeviceKind::Null; }
  // Kernels reach it as PTX; it is a cuda::CudaDevice.
  bool runs_ptx() const { return kind() == DeviceKind::Cuda; }
  // It has memory of its own whose blocks can wait in the host's while there is no room.
  bool spills() const { return !host_readable() && !counts_only(); }
  // A scatter that runs alone writes its points in order: of equal indices the last one holds.
  bool scatters_in_order() const { return kind() == DeviceKind::Cpu; }

  // Pooled memory, aligned to 64 bytes (256 on a GPU), contents undefined. Zero bytes give a valid
  // pointer. Raises ErrorKind::Memory and leaves every other block intact, after `relief`.
  void* allocate(size_t bytes) {
    try {
      return take(bytes);
    } catch (const Error& e) {
      return allocate_after(e, bytes);
    }
  }
  // `bytes` is what allocate() was asked for. The memory may still be read by work that is queued
  // on the device's own stream: reuse is stream-ordered.
  virtual void free(void* block, size_t bytes) noexcept = 0;

  // The source may be changed as soon as copy_from_host returns; the target is complete when
  // copy_to_host returns. copy_within is stream-ordered and its ranges must not overlap.
  virtual void copy_from_host(void* dst, const void* src, size_t bytes) = 0;
  virtual void copy_to_host(void* dst, const void* src, size_t bytes) = 0;
  virtual void copy_within(void* dst, const void* src, size_t bytes) = 0;

  // Around work of the device that code of the host does; they nest (see DeviceWork).
  virtual void begin_work() {}
  virtual void end_work() noexcept {}

  // Waits for all queues.
  virtual void synchronize() = 0;

  // Work that was queued did not end as it should, as where another rank of a program has died:
  // whoever reads what the device has computed, or waits for it, is told `why`, a whole message,
  // until it is cleared. Any thread.
  void distrust(const std::string& why);
  void check_trusted() const {
    if (distrusted_.load(std::memory_order_acquire)) [[unlikely]]
      raise_distrust();
  }

  // Work from now on follows what is queued on another library's stream, given by its handle.
  virtual void wait_for_stream(std::uintptr_t) {}

  virtual std::unique_ptr<Queue> create_queue(const QueueOptions& options);
  virtual std::unique_ptr<Marker> create_marker(bool timing);
  // Whether there is or was work beside the device's own queue. While there is, all work is queued
  // between queues_before() and queues_after() (see Ordered), which know its conflicts.
  bool has_queues() const { return has_queues_.load(std::memory_order_relaxed); }
  virtual void queues_before(Queue*, std::span<const Use>) {}
  virtual void queues_after(Queue*, std::span<const Use>) {}
  // Whether work in another queue than the device's own still uses this memory.
  virtual bool in_use_beside(const void*, size_t) { return false; }
  // The device's own queue is about to write to memory, in work that is queued at once.
  virtual void claim(const void*, size_t) {}
  // Copies in a queue. Where the host's memory is pinned they are only queued: it must not be
  // changed, or read, before the queue has got there. Otherwise as above.
  virtual void upload(void* dst, const void* src, size_t bytes, Queue& queue);
  virtual void download(void* dst, const void* src, size_t bytes, Queue& queue);
  // Sets every byte; a null queue is the device's own.
  virtual void fill_bytes(void* dst, unsigned char value, size_t bytes, Queue* queue) = 0;

  // Memory of the host that the device knows: pinned for its copies, or in reach of its kernels.
  // Goes back when all work that was queued with it is done.
  virtual HostBlock allocate_host(size_t bytes, HostKind kind, bool write_combined);
  virtual void free_host(const HostBlock& block) noexcept;
  // The same for memory that is there; unregister_host waits for the work. An empty block: it
  // cannot be pinned, and copies take the longer way.
  virtual HostBlock register_host(void* memory, size_t bytes, HostKind kind);
  virtual void unregister_host(const HostBlock& block);

  // What the layers above do where there is not enough memory, under Python's lock or not: whether
  // they freed some, so that asking again is worth it; and what they add to the error.
  struct Relief {
    bool (*make_room)(Device&, size_t bytes) = nullptr;
    std::string (*advice)(const Device&) = nullptr;
    bool always = false;  // for tests: devices that spill make room before each request
  };
  static constinit Relief relief;

  virtual MemoryStats memory_stats() const = 0;
  // peak_bytes begins anew from what is used now.
  virtual void reset_peak() = 0;
  // Zero restores the default limit (the device's whole memory).
  virtual void set_memory_limit(size_t bytes) = 0;
  // Returns every pooled byte that can be returned to the system.
  virtual void trim() = 0;

 protected:
  explicit Device(DeviceKind kind) : kind_(kind) {}
  // As allocate(), once.
  virtual void* take(size_t bytes) = 0;
  [[gnu::cold]] void* allocate_after(Error failure, size_t bytes);
  std::atomic<bool> has_queues_ = false;
  bool fenced_ = false;  // a CPU whose memory is out of the host's reach but during DeviceWork

  friend class DeviceWork;

 private:
  [[noreturn, gnu::cold]] void raise_distrust() const;
  const DeviceKind kind_;
  std::atomic<bool> distrusted_ = false;
};

// While it lives, code of the host may touch the memory of a device that runs on the host.
class DeviceWork {
 public:
  explicit DeviceWork(Device& device) : device_(device.fenced_ ? &device : nullptr) {
    if (device_) device_->begin_work();
  }
  ~DeviceWork() {
    if (device_) device_->end_work();
  }
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

 private:
  Device* device_;
};

// Around the queueing of work that uses memory, in `queue` or, if that is null, in the device's
// own: it comes after work that conflicts with it, in whatever queue.
class Ordered {
 public:
  Ordered(Device& device, Queue* queue, std::span<const Use> uses)
      : device_(device), queue_(queue), uses_(uses), needed_(device.has_queues()) {
    if (needed_) device_.queues_before(queue_, uses_);
  }
  ~Ordered() {
    if (!needed_) return;
    try {
      device_.queues_after(queue_, uses_);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // The GPU is lost; whoever waits for it is told.
    }
  }
  Ordered(const Ordered&) = delete;

 private:
  Device& device_;
  Queue* queue_;
  std::span<const Use> uses_;
  bool needed_;
};

Device& cpu_device();
Device& null_device();
// For tests: a CPU whose memory code of the host can only reach where a GPU's work could.
Device& fenced_device();
// Null when this GPU cannot be used; cuda_unavailable_reason() says why. The first call loads the
// driver, so it must not happen at import.
Device* cuda_device(int ordinal);
// Whether there may be a usable GPU, by the driver's files: opens nothing, so that it costs
// nothing.
bool may_have_gpu();
// The GPU that memory at this address is on, or null likewise.
Device* cuda_device_of(std::uintptr_t address);
std::string cuda_unavailable_reason();

// One wording for every device.
[[noreturn]] void raise_out_of_memory(size_t bytes, size_t at_most);

}  // namespace numbus
