// Size classes, spans, the cache of large mappings.
#include "device/cpu/memory.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "base/error.h"
#include "device/cpu/cpu_info.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
// Under ASan a pooled block is poisoned, and a block in use ends where the request ended.
#define NUMBUS_POISON(address, bytes) __asan_poison_memory_region(address, bytes)
#define NUMBUS_UNPOISON(address, bytes) __asan_unpoison_memory_region(address, bytes)
#else
#define NUMBUS_POISON(address, bytes) (void)0
#define NUMBUS_UNPOISON(address, bytes) (void)0
#endif

namespace numbus {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kHugePage = 2 * kMiB;
constexpr size_t kLargestClass = 2 * kMiB;
constexpr size_t kLargestSmall = 64 << 10;
constexpr size_t kSmallSpan = 2 * kMiB, kMediumSpan = 16 * kMiB;

int class_of(size_t bytes) {
  if (bytes <= 512) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 64);
  size_t last = bytes - 1;
  int exponent = 63 - std::countl_zero(last);
  return 8 + (exponent - 9) * 8 + static_cast<int>((last >> (exponent - 3)) & 7);
}

constexpr size_t class_bytes(int index) {
  if (index < 8) return static_cast<size_t>(index + 1) * 64;
  int exponent = 9 + (index - 8) / 8;
  return static_cast<size_t>((index - 8) % 8 + 9) << (exponent - 3);
}

size_t span_bytes(size_t block) { return block <= kLargestSmall ? kSmallSpan : kMediumSpan; }

// Blocks begin after the span's header; those of whole pages at a page.
size_t header_bytes(size_t block) { return block <= kLargestSmall ? 64 : 4096; }

size_t round_up(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

// Whole huge pages where that loses at most 12.5 %, else the tail is in small pages.
size_t large_bytes(size_t bytes) {
  size_t rounded = round_up(bytes, kHugePage);
  return rounded - bytes <= bytes / 8 ? rounded : round_up(bytes, 64 << 10);
}

// A mapping aligned to `alignment`, or null.
char* map_aligned(size_t bytes, size_t alignment) {
  size_t padded = bytes + alignment;
  if (padded < bytes) return nullptr;
  void* raw = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* start = static_cast<char*>(raw);
  char* block = reinterpret_cast<char*>(round_up(reinterpret_cast<uintptr_t>(start), alignment));
  if (block > start) munmap(start, block - start);
  char* end = block + bytes;
  if (start + padded > end) munmap(end, start + padded - end);
  return block;
}

}  // namespace

// At the start of its memory, found from a block's address by masking.
struct MemoryPool::Span {
  Span *previous, *next;
  void* free_list;  // freed blocks, each holding the next
  char* fresh;      // the first block never given out
  char* end;
  uint32_t live;
  int32_t index;

  bool has_block(size_t size) const { return free_list || fresh + size <= end; }
};

MemoryPool::MemoryPool() {
  set_limit(0);
  set_cache_limit(0);
}

MemoryPool::~MemoryPool() {
  trim();
  for (auto* list : {&open_, &full_}) {
    for (Span* span : *list) {
      while (span != nullptr) {
        Span* next = span->next;
        size_t size = span_bytes(class_bytes(span->index));
        NUMBUS_UNPOISON(span, size);
        munmap(span, size);
        span = next;
      }
    }
  }
}

size_t MemoryPool::rounded_size(size_t bytes) {
  return bytes <= kLargestClass ? class_bytes(class_of(bytes)) : large_bytes(bytes);
}

template <class Span>
static void unlink(Span** head, Span* span) {
  if (span->previous) span->previous->next = span->next;
  if (span->next) span->next->previous = span->previous;
  if (*head == span) *head = span->next;
}

template <class Span>
static void link_front(Span** head, Span* span) {
  span->previous = nullptr;
  span->next = *head;
  if (*head) (*head)->previous = span;
  *head = span;
}

void* MemoryPool::allocate(size_t bytes) {
  if (bytes > kLargestClass) return allocate_large(bytes);
  int index = class_of(bytes);
  std::unique_lock<SpinLock> guard(lock_);
  if (open_[index] == nullptr || open_[index]->free_list == nullptr) index = touched_class(index);
  size_t size = class_bytes(index);
  while (true) {
    Span* span = open_[index];
    if (__builtin_expect(span == nullptr, 0)) {
      add_span(index, bytes, guard);
      continue;
    }
    void* block = span->free_list;
    if (__builtin_expect(block != nullptr, 1)) {
      NUMBUS_UNPOISON(block, std::max(bytes, sizeof(void*)));
      span->free_list = *static_cast<void**>(block);
      NUMBUS_POISON(block, sizeof(void*));
    } else if (reserved_ + size > limit_) {
      make_room(size, bytes, guard);
      continue;
    } else {
      block = span->fresh;
      span->fresh += size;
      reserved_ += size;
    }
    NUMBUS_UNPOISON(block, bytes);
    ++span->live;
    count_use(size);
    if (!span->has_block(size)) {
      unlink(&open_[index], span);
      link_front(&full_[index], span);
    }
    return block;
  }
}

void MemoryPool::free(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  if (bytes > kLargestClass) return free_large(block);
  const size_t mapped = span_bytes(class_bytes(class_of(bytes)));
  auto address = reinterpret_cast<uintptr_t>(block) & ~(mapped - 1);
  Span* span = reinterpret_cast<Span*>(address);
  const int index = span->index;  // which may be a larger class than that of the request
  const size_t size = class_bytes(index);
  std::lock_guard<SpinLock> guard(lock_);
  bool was_full = !span->has_block(size);
  NUMBUS_UNPOISON(block, sizeof(void*));
  *static_cast<void**>(block) = span->free_list;
  NUMBUS_POISON(block, size);
  span->free_list = block;
  --span->live;
  used_ -= size;
  if (was_full) {
    unlink(&full_[index], span);
    link_front(&open_[index], span);
  }
}

// Memory that has been written to costs nothing, a new page a microsecond and more. So a class
// without a freed block takes one of a class up to twice as large, if that has one.
int MemoryPool::touched_class(int index) const {
  constexpr size_t kPage = 4096;
  const size_t size = class_bytes(index);
  if (size < kPage) return index;
  for (int larger = index + 1; larger < kClasses; ++larger) {
    const size_t other = class_bytes(larger);
    if (other > 2 * size || span_bytes(other) != span_bytes(size)) break;
    if (open_[larger] && open_[larger]->free_list) return larger;
  }
  return index;
}

// Maps a span without holding the lock and opens it.
void MemoryPool::add_span(int index, size_t requested, std::unique_lock<SpinLock>& guard) {
  size_t size = class_bytes(index), mapped = span_bytes(size);
  // The first blocks of a class are in small pages: zeroing 2 MiB takes 0.2 ms, too much for the
  // one array of a size that a script may have.
  size_t plain = span_count_[index] == 0 && size < (256 << 10) ? kHugePage : 0;
  guard.unlock();
  char* memory = map_aligned(mapped, mapped);
  if (memory == nullptr) {
    trim();
    memory = map_aligned(mapped, mapped);
  }
  if (memory != nullptr && plain < mapped) madvise(memory + plain, mapped - plain, MADV_HUGEPAGE);
  guard.lock();
  if (memory == nullptr) {
    size_t at_most = limit_ - std::min(limit_, used_);
    guard.unlock();
    raise_out_of_memory(requested, at_most);
  }
  size_t first = header_bytes(size);
  Span* span = new (memory) Span{};
  span->fresh = memory + first;
  span->end = memory + mapped;
  span->index = index;
  NUMBUS_POISON(memory + first, mapped - first);
  headers_ += first;
  ++span_count_[index];
  link_front(&open_[index], span);
}

void MemoryPool::release_empty_spans() noexcept {
  for (int index = 0; index < kClasses; ++index) {
    size_t size = class_bytes(index), first = header_bytes(size), mapped = span_bytes(size);
    for (Span *span = open_[index], *next; span != nullptr; span = next) {
      next = span->next;
      if (span->live != 0) continue;
      unlink(&open_[index], span);
      --span_count_[index];
      headers_ -= first;
      reserved_ -= span->fresh - (reinterpret_cast<char*>(span) + first);
      NUMBUS_UNPOISON(span, mapped);
      munmap(span, mapped);
    }
  }
}

void* MemoryPool::allocate_large(size_t bytes) {
  std::unique_lock<SpinLock> guard(lock_);
  if (bytes > limit_) {
    size_t at_most = limit_ - std::min(limit_, used_);
    guard.unlock();
    raise_out_of_memory(bytes, at_most);
  }
  size_t size = large_bytes(bytes);
  char* block = nullptr;
  auto found = cached_.lower_bound({size, 0});
  if (found != cached_.end() && found->first.first <= size + size / 8) {
    size = found->first.first;
    block = found->second;
    cached_.erase(found);
    cached_bytes_ -= size;
  } else {
    make_room(size, bytes, guard);
    reserved_ += size;
    guard.unlock();
    block = map_aligned(size, kHugePage);
    if (block == nullptr) {
      trim();
      block = map_aligned(size, kHugePage);
    }
    if (block != nullptr) madvise(block, size, MADV_HUGEPAGE);
    guard.lock();
    if (block == nullptr) {
      reserved_ -= size;
      size_t at_most = limit_ - std::min(limit_, used_);
      guard.unlock();
      raise_out_of_memory(bytes, at_most);
    }
  }
  large_.emplace(block, size);
  count_use(size);
  NUMBUS_UNPOISON(block, bytes);
  NUMBUS_POISON(block + bytes, size - bytes);
  return block;
}

void MemoryPool::free_large(void* block) noexcept {
  std::unique_lock<SpinLock> guard(lock_);
  auto found = large_.find(block);
  size_t size = found->second;
  large_.erase(found);
  used_ -= size;
  NUMBUS_POISON(block, size);
  cached_.emplace(std::pair{size, ~++clock_}, static_cast<char*>(block));
  cached_bytes_ += size;
  while (cached_bytes_ > cache_limit_) release_oldest(guard);
}

// Unmaps the block that has been free longest, without holding the lock meanwhile.
bool MemoryPool::release_oldest(std::unique_lock<SpinLock>& guard) noexcept {
  if (cached_.empty()) return false;
  auto oldest = cached_.begin();
  for (auto it = cached_.begin(); it != cached_.end(); ++it) {
    if (it->first.second > oldest->first.second) oldest = it;
  }
  size_t size = oldest->first.first;
  char* block = oldest->second;
  cached_.erase(oldest);
  cached_bytes_ -= size;
  reserved_ -= size;
  guard.unlock();
  NUMBUS_UNPOISON(block, size);
  munmap(block, size);
  guard.lock();
  return true;
}

// Makes reserved_ + bytes fit the limit. Cached blocks go earlier, at 7/8 of it: pooled memory must
// not be what drives the machine out of memory.
void MemoryPool::make_room(size_t bytes, size_t requested, std::unique_lock<SpinLock>& guard) {
  size_t soft = limit_ - limit_ / 8;
  while (reserved_ + bytes > soft && release_oldest(guard)) {
  }
  if (reserved_ + bytes <= limit_) return;
  release_empty_spans();
  if (reserved_ + bytes <= limit_) return;
  size_t at_most = limit_ - std::min(limit_, used_);
  guard.unlock();
  raise_out_of_memory(requested, at_most);
}

void MemoryPool::trim() noexcept {
  std::unique_lock<SpinLock> guard(lock_);
  while (release_oldest(guard)) {
  }
  release_empty_spans();
}

MemoryStats MemoryPool::stats() const {
  std::lock_guard<SpinLock> guard(lock_);
  size_t tables = cached_.size() * (sizeof(*cached_.begin()) + 4 * sizeof(void*)) +
                  large_.size() * (sizeof(*large_.begin()) + sizeof(void*)) +
                  large_.bucket_count() * sizeof(void*);
  return {used_, reserved_ - used_, peak_, headers_ + tables + sizeof(*this), limit_};
}

void MemoryPool::reset_peak() {
  std::unique_lock<SpinLock> guard(lock_);
  peak_ = used_;
}

void MemoryPool::set_limit(size_t bytes) {
  size_t limit = bytes ? bytes : available_memory();
  std::unique_lock<SpinLock> guard(lock_);
  limit_ = limit;
  while (reserved_ > limit_ && release_oldest(guard)) {
  }
  if (reserved_ > limit_) release_empty_spans();
}

void MemoryPool::set_cache_limit(size_t bytes) {
  size_t limit = bytes ? bytes : available_memory() / 2;
  std::unique_lock<SpinLock> guard(lock_);
  cache_limit_ = limit;
  while (cached_bytes_ > cache_limit_) release_oldest(guard);
}

MemoryPool& cpu_memory_pool() {
  // Never destroyed: arrays of the last Python objects may outlive static destructors.
  static MemoryPool* pool = [] {
    auto* made = new MemoryPool;
    pthread_atfork([] { cpu_memory_pool().lock(); }, [] { cpu_memory_pool().unlock(); },
                   [] { cpu_memory_pool().unlock(); });
    return made;
  }();
  return *pool;
}

}  // namespace numbus
