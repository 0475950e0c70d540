// The CPU's memory pool: size-class spans for small blocks, cached huge-page mappings for large.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "device/cpu/spin_lock.h"
#include "device/device.h"

namespace numbus {

// Blocks up to 2 MiB are cut from spans, each of one size class (64 bytes apart up to 512, then
// eight classes per doubling, so at most 12.5 % is lost, but for blocks of a page and more that
// take over a freed one of up to twice their size). Larger ones are mappings of their own, aligned
// to 2 MiB; a freed mapping is kept and serves the next request it exceeds by at most 12.5 %.
//
// Why they are kept, measured on 2 Sapphire Rapids cores, 800 MB, THP at `madvise`:
//                           4 KiB pages           2 MiB pages
//   first touch, 1 thread   1.5 GB/s              9 GB/s
//   first touch, 2 threads  5 GB/s                17.9 GB/s
//   second write            12.3 | 24 GB/s        12.3 | 24 GB/s
//   munmap                  23 ms                 1.7 ms
// Faulting in beforehand with MADV_POPULATE_WRITE (9.4 | 18.4 GB/s) only adds a pass: populate and
// memset take 80 ms, memset alone 58. So the kernel that writes a block first also faults it in, on
// all threads, in 2 MiB steps.
class MemoryPool {
 public:
  MemoryPool();
  ~MemoryPool();  // all blocks up to 2 MiB end with it, used or not
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  void* allocate(size_t bytes);
  void free(void* block, size_t bytes) noexcept;

  MemoryStats stats() const;
  void reset_peak();
  void set_limit(size_t bytes);        // 0: all memory this process may use
  void set_cache_limit(size_t bytes);  // freed large blocks above this go back; 0: half of it
  void trim() noexcept;

  // The bytes a request takes of new memory.
  static size_t rounded_size(size_t bytes);

  // Held over a fork, so that the child finds the pool whole.
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  static constexpr int kClasses = 104;
  struct Span;
  int touched_class(int index) const;
  void add_span(int index, size_t requested, std::unique_lock<SpinLock>& guard);
  void release_empty_spans() noexcept;
  void* allocate_large(size_t bytes);
  void free_large(void* block) noexcept;
  bool release_oldest(std::unique_lock<SpinLock>& guard) noexcept;
  void make_room(size_t bytes, size_t requested, std::unique_lock<SpinLock>& guard);
  void count_use(size_t bytes) {
    used_ += bytes;
    if (used_ > peak_) peak_ = used_;
  }

  mutable SpinLock lock_;
  std::array<Span*, kClasses> open_{};  // spans with a block to give, per class
  std::array<Span*, kClasses> full_{};
  std::array<uint32_t, kClasses> span_count_{};

  // Freed large blocks by size, the youngest first among equals (its data is warm), and those in
  // use by address. `~age` in the key makes the order.
  std::map<std::pair<size_t, uint64_t>, char*> cached_;
  std::unordered_map<void*, size_t> large_;
  uint64_t clock_ = 0;

  size_t used_ = 0, peak_ = 0;
  size_t reserved_ = 0;      // used + pooled
  size_t cached_bytes_ = 0;  // in cached_
  size_t headers_ = 0;       // span headers
  size_t limit_ = 0, cache_limit_ = 0;
};

MemoryPool& cpu_memory_pool();

}  // namespace numbus
