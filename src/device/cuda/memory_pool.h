// A caching pool over large device segments: best fit, blocks split on use and merge when freed.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "device/cuda/driver_api.h"
#include "device/device.h"
#include "device/idle.h"

namespace numbus::cuda {

// Where segments come from: the driver, or a test.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  // Zero when there is not enough memory; other failures throw.
  virtual DevicePointer acquire(size_t bytes) = 0;
  virtual void release(DevicePointer segment) noexcept = 0;
  virtual size_t total_bytes() const = 0;
  virtual size_t free_bytes() const = 0;
};

// Freed blocks are reused at once, while the GPU may still work on them: every use is queued on the
// device's main stream, so the new owner's work comes after the old owner's. Blocks that a side
// stream uses are freed once that work is done, or the main stream waits for it.
// What lies unused goes back to the source by IdlePolicy, and all of it when memory runs out.
class SegmentPool {
 public:
  using Time = IdlePolicy::Time;

  // `look_at` is asked for a call of look() at that time or later.
  explicit SegmentPool(std::unique_ptr<SegmentSource> source,
                       std::function<void(Time)> look_at = {});
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  DevicePointer allocate(size_t bytes);  // aligned to 256 bytes
  void free(DevicePointer block) noexcept;

  MemoryStats stats() const;
  void reset_peak();
  void set_limit(size_t bytes);  // 0: all memory of the device
  void trim();
  // The device has done all its work.
  void synchronised(Time now = IdlePolicy::Clock::now());
  void look(Time now = IdlePolicy::Clock::now());

  static size_t rounded_size(size_t bytes);

 private:
  // Small and medium blocks share segments with their like, so that they do not pin pieces of
  // large ones; a large block has a segment of its own.
  enum Kind { kSmall, kMedium, kLarge };
  struct Block {
    DevicePointer address;
    size_t bytes;
    Kind kind;
    bool free = false;
    IdlePolicy::Stamp idle{};   // since when it is free
    Block* previous = nullptr;  // neighbours in the segment
    Block* next = nullptr;
  };
  struct BySize {
    bool operator()(const Block* a, const Block* b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
    }
  };
  using FreeBlocks = std::set<Block*, BySize>;

  static Kind kind_of(size_t bytes);
  Block* find_block(size_t bytes);
  Block* take_free(size_t bytes, Kind kind, size_t at_most);
  Block* try_segment(size_t segment, Kind kind);
  void split(Block* block, size_t bytes);
  Block* merge(Block* block) noexcept;
  void release_unused() noexcept;
  void give_back_idle(Time now);
  void ask_for_look(Time at);
  bool holds_too_much(Time now) const { return reserved_ - used_ > policy_.kept(now); }
  size_t largest_possible() const;

  std::unique_ptr<SegmentSource> source_;
  std::function<void(Time)> look_at_;
  // Held while segments that are no longer counted go back, and taken before the other one: the
  // driver waits for the work that uses them.
  std::mutex giving_back_;
  mutable std::mutex mutex_;
  IdlePolicy policy_;
  bool look_is_due_ = false;
  FreeBlocks free_[3];
  std::unordered_map<DevicePointer, Block*> used_blocks_;
  size_t used_ = 0, peak_ = 0, reserved_ = 0, limit_ = 0;
  size_t blocks_ = 0;
};

}  // namespace numbus::cuda
