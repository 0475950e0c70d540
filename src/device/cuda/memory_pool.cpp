// Segments, best fit, split and merge.
#include "device/cuda/memory_pool.h"

#include <algorithm>
#include <vector>

namespace numbus::cuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kAlignment = 256;
constexpr size_t kLargestSmall = 1 * kMiB;
constexpr size_t kSmallSegment = 8 * kMiB;
constexpr size_t kMediumSegment = 32 * kMiB;
constexpr size_t kLargestMedium = 16 * kMiB;
constexpr size_t kSegmentStep = 2 * kMiB;
// What a large block leaves over is split off only when it can hold something large.
constexpr size_t kSmallestLargeRest = 1 * kMiB;

size_t round_up(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

}  // namespace

SegmentPool::SegmentPool(std::unique_ptr<SegmentSource> source, std::function<void(Time)> look_at)
    : source_(std::move(source)), look_at_(std::move(look_at)), limit_(source_->total_bytes()) {}

SegmentPool::~SegmentPool() {
  release_unused();
  for (auto& [address, block] : used_blocks_) delete block;
  for (FreeBlocks& blocks : free_) {
    for (Block* block : blocks) delete block;
  }
}

size_t SegmentPool::rounded_size(size_t bytes) {
  return round_up(std::max<size_t>(bytes, 1), kAlignment);
}

SegmentPool::Kind SegmentPool::kind_of(size_t bytes) {
  return bytes <= kLargestSmall ? kSmall : bytes <= kLargestMedium ? kMedium : kLarge;
}

DevicePointer SegmentPool::allocate(size_t requested) {
  std::unique_lock<std::mutex> lock(mutex_);
  // The first test keeps the rounding below from overflowing.
  Block* block = requested > limit_ ? nullptr : find_block(rounded_size(requested));
  if (block == nullptr && requested <= limit_) {
    lock.unlock();
    {
      const std::lock_guard<std::mutex> given_back(giving_back_);
    }
    lock.lock();
    block = find_block(rounded_size(requested));
  }
  if (block == nullptr) raise_out_of_memory(requested, largest_possible());
  split(block, rounded_size(requested));
  block->free = false;
  used_blocks_.emplace(block->address, block);
  used_ += block->bytes;
  peak_ = std::max(peak_, used_);
  policy_.use(used_, IdlePolicy::Clock::now());
  return block->address;
}

// A free block that fits well, else a new segment, else any free block, else a segment after giving
// back what lies unused, in the end one of the bare size.
SegmentPool::Block* SegmentPool::find_block(size_t bytes) {
  Kind kind = kind_of(bytes);
  size_t bare = round_up(bytes, kSegmentStep);
  size_t whole = kind == kSmall ? kSmallSegment : kind == kMedium ? kMediumSegment : bare;
  // A large block much above the request is left alone while there is other memory: splitting it
  // would cost a new segment when its own size is asked for again.
  size_t fits_well = kind == kLarge ? bytes + bytes / 4 : SIZE_MAX;
  if (Block* block = take_free(bytes, kind, fits_well)) return block;
  if (Block* block = try_segment(whole, kind)) return block;
  for (Kind other : {kind, kMedium, kLarge}) {
    if (Block* block = other < kind ? nullptr : take_free(bytes, other, SIZE_MAX)) return block;
  }
  release_unused();
  if (Block* block = try_segment(whole, kind)) return block;
  if (Block* block = whole == bare ? nullptr : try_segment(bare, kind)) return block;
  return try_segment(bytes, kind);
}

SegmentPool::Block* SegmentPool::take_free(size_t bytes, Kind kind, size_t at_most) {
  Block wanted{0, bytes, kind};
  auto found = free_[kind].lower_bound(&wanted);
  if (found == free_[kind].end() || (*found)->bytes > at_most) return nullptr;
  Block* block = *found;
  free_[kind].erase(found);
  return block;
}

SegmentPool::Block* SegmentPool::try_segment(size_t segment, Kind kind) {
  if (segment > limit_ || reserved_ > limit_ - segment) return nullptr;
  DevicePointer address = source_->acquire(segment);
  if (address == 0) return nullptr;
  reserved_ += segment;
  ++blocks_;
  return new Block{address, segment, kind};
}

// What an error may promise: the largest free block or what the device still has.
size_t SegmentPool::largest_possible() const {
  size_t largest = std::min(limit_ - std::min(limit_, reserved_), source_->free_bytes());
  for (const FreeBlocks& blocks : free_) {
    if (!blocks.empty()) largest = std::max(largest, (*blocks.rbegin())->bytes);
  }
  return largest;
}

void SegmentPool::split(Block* block, size_t bytes) {
  size_t rest = block->bytes - bytes;
  if (rest < (block->kind == kSmall ? kAlignment : kSmallestLargeRest)) return;
  auto* tail = new Block{block->address + bytes, rest, block->kind};
  ++blocks_;
  tail->free = true;
  tail->idle = block->idle;
  tail->previous = block;
  tail->next = block->next;
  if (tail->next) tail->next->previous = tail;
  block->next = tail;
  block->bytes = bytes;
  free_[block->kind].insert(tail);
}

void SegmentPool::free(DevicePointer address) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = used_blocks_.find(address);
  if (found == used_blocks_.end()) return;
  Block* block = found->second;
  used_blocks_.erase(found);
  used_ -= block->bytes;
  const Time now = IdlePolicy::Clock::now();
  policy_.use(used_, now);
  block->free = true;
  block = merge(block);
  block->idle = policy_.stamp(now);
  free_[block->kind].insert(block);
  if (!look_is_due_ && holds_too_much(now)) ask_for_look(now + IdlePolicy::kPatience);
}

// Joins a freed block with its free neighbours; the result is in no list yet.
SegmentPool::Block* SegmentPool::merge(Block* block) noexcept {
  auto absorb_next = [this](Block* left) {
    Block* right = left->next;
    left->bytes += right->bytes;
    left->next = right->next;
    if (left->next) left->next->previous = left;
    delete right;
    --blocks_;
  };
  if (Block* next = block->next; next && next->free) {
    free_[block->kind].erase(next);
    absorb_next(block);
  }
  if (Block* previous = block->previous; previous && previous->free) {
    free_[block->kind].erase(previous);
    block = previous;
    absorb_next(block);
  }
  return block;
}

void SegmentPool::release_unused() noexcept {
  for (FreeBlocks& blocks : free_) {
    for (auto it = blocks.begin(); it != blocks.end();) {
      Block* block = *it;
      if (block->previous || block->next) {
        ++it;
        continue;
      }
      it = blocks.erase(it);
      reserved_ -= block->bytes;
      source_->release(block->address);
      delete block;
      --blocks_;
    }
  }
}

void SegmentPool::ask_for_look(Time at) {
  if (!look_at_) return;
  look_is_due_ = true;
  look_at_(at);
}

// Segments of which nothing is used, until the rest is what may stay.
void SegmentPool::give_back_idle(Time now) {
  std::vector<DevicePointer> over;
  const std::lock_guard<std::mutex> giving_back(giving_back_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Time next = Time::max();
    for (Kind kind : {kLarge, kMedium, kSmall}) {
      FreeBlocks& blocks = free_[kind];
      for (auto it = blocks.begin(); it != blocks.end() && holds_too_much(now);) {
        Block* block = *it;
        const bool whole = !block->previous && !block->next;
        if (whole && !policy_.is_over(block->idle, now))
          next = std::min(next, block->idle.time + IdlePolicy::kPatience);
        if (!whole || !policy_.is_over(block->idle, now)) {
          ++it;
          continue;
        }
        over.push_back(block->address);
        it = blocks.erase(it);
        reserved_ -= block->bytes;
        delete block;
        --blocks_;
      }
    }
    if (!look_is_due_ && next != Time::max() && holds_too_much(now)) ask_for_look(next);
  }
  for (DevicePointer segment : over) source_->release(segment);
}

void SegmentPool::synchronised(Time now) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    policy_.synchronised();
    if (!holds_too_much(now)) return;
  }
  give_back_idle(now);
}

void SegmentPool::look(Time now) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    look_is_due_ = false;
  }
  give_back_idle(now);
}

MemoryStats SegmentPool::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  size_t overhead = blocks_ * (sizeof(Block) + 4 * sizeof(void*)) +
                    used_blocks_.bucket_count() * sizeof(void*) + sizeof(*this);
  return {used_, reserved_ - used_, peak_, overhead, limit_};
}

void SegmentPool::reset_peak() {
  std::lock_guard<std::mutex> lock(mutex_);
  peak_ = used_;
}

void SegmentPool::set_limit(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  limit_ = bytes ? bytes : source_->total_bytes();
  if (reserved_ > limit_) release_unused();
}

void SegmentPool::trim() {
  std::lock_guard<std::mutex> lock(mutex_);
  release_unused();
}

}  // namespace numbus::cuda
