// Uploads fill the ring in order; downloads drain it before they return.
#include "device/cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "device/cpu/thread_pool.h"
#include "device/cuda/stop.h"

namespace numbus::cuda {
namespace {

// Small enough for the copy engine to start early, large enough to hide a launch's cost.
constexpr size_t kPiece = size_t{4} << 20;
constexpr size_t kSmallestPiece = size_t{512} << 10;

void copy_on_host(void* dst, const void* src, size_t bytes) {
  constexpr int64_t kChunk = 256 << 10;
  if (bytes <= 2 * kChunk) {
    std::memcpy(dst, src, bytes);
    return;
  }
  // One core copies at about 10 GB/s, a PCIe 5 link moves 50.
  parallel_for_each(static_cast<int64_t>(bytes), kChunk, [&](int64_t begin, int64_t end, int) {
    std::memcpy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin,
                static_cast<size_t>(end - begin));
  });
}

// Four pieces overlap well enough; beyond that they only cost calls.
size_t piece_bytes(size_t bytes, size_t most) {
  return std::clamp((bytes / 4 + 255) / 256 * 256, kSmallestPiece, most);
}

}  // namespace

StagingRing::~StagingRing() { release(); }

void StagingRing::release() noexcept {
  if (cuda_available()) {
    for (Half& half : halves_) {
      if (half.memory) driver().cuMemFreeHost(half.memory);
    }
  }
  halves_[0].memory = halves_[1].memory = nullptr;
  half_bytes_ = 0;
}

// Pins what a copy of this size deserves; false when the system refuses.
bool StagingRing::prepare(size_t bytes) {
  size_t wanted = bytes <= kLittle ? kLittle : kMuch;
  if (half_bytes_ >= wanted) return true;
  if (wanted >= refused_) return half_bytes_ != 0;
  settle();
  release();
  for (Half& half : halves_) {
    void* memory = nullptr;
    if (driver().cuMemHostAlloc(&memory, wanted, 0) != kSuccess) {
      release();
      refused_ = wanted;
      return false;
    }
    half.memory = static_cast<char*>(memory);
    half.in_flight = false;
    if (!half.event) half.event.emplace(context_);
  }
  half_bytes_ = wanted;
  current_ = 0;
  filled_ = 0;
  return true;
}

// Waits for the uploads that still read the ring.
void StagingRing::settle() {
  for (Half& half : halves_) {
    if (half.in_flight) half.event->synchronize();
    half.in_flight = false;
  }
  if (filled_ != 0) {
    if (marked_)
      last_->synchronize();
    else
      main_.synchronize();  // others' uploads are always marked
  }
  filled_ = 0;
}

void StagingRing::enter(const Stream& stream) {
  if (user_ != stream.handle()) settle();
  user_ = stream.handle();
}

void StagingRing::next_half(const Stream& stream) {
  Half& left = halves_[current_];
  left.event->record(stream);
  left.in_flight = true;
  current_ ^= 1;
  filled_ = 0;
  Half& entered = halves_[current_];
  if (entered.in_flight) entered.event->synchronize();
  entered.in_flight = false;
}

void StagingRing::upload(DevicePointer dst, const void* src, size_t bytes, const Stream& stream,
                         bool marked) {
  if (bytes == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  ContextScope scope(context_);
  enter(stream);
  auto doing = [&] { return "copying " + std::to_string(bytes) + " bytes to the GPU"; };
  if (!prepare(bytes)) {
    NUMBUS_CUDA(doing(), cuMemcpyHtoDAsync, dst, src, bytes, stream.handle());
    stream.synchronize();
    return;
  }
  const char* from = static_cast<const char*>(src);
  size_t piece = piece_bytes(bytes, kPiece);
  auto mark = [&](bool by_event) {
    marked_ = by_event;
    if (!by_event) return;
    if (!last_) last_.emplace(context_);
    last_->record(stream);
  };
  try {
    for (size_t done = 0; done < bytes;) {
      if (filled_ == half_bytes_) next_half(stream);
      size_t count = std::min({piece, bytes - done, half_bytes_ - filled_});
      char* staged = halves_[current_].memory + filled_;
      copy_on_host(staged, from + done, count);
      NUMBUS_CUDA(doing(), cuMemcpyHtoDAsync, dst + done, staged, count, stream.handle());
      done += count;
      filled_ = std::min(half_bytes_, (filled_ + count + 63) / 64 * 64);
    }
  } catch (const Error& e) {
    // Ctrl-C while the host copied: the pieces before still read the ring.
    if (e.kind() == ErrorKind::Interrupted) mark(true);
    throw;
  }
  mark(marked);
}

void StagingRing::download(void* dst, DevicePointer src, size_t bytes, const Stream& stream) {
  if (bytes == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  ContextScope scope(context_);
  enter(stream);
  auto doing = [&] { return "copying " + std::to_string(bytes) + " bytes from the GPU"; };
  if (!prepare(bytes)) {
    NUMBUS_CUDA(doing(), cuMemcpyDtoHAsync, dst, src, bytes, stream.handle());
    wait_interruptibly(stream);
    return;
  }
  // The stream's order puts these copies after all uploads that still read the ring.
  char* to = static_cast<char*>(dst);
  size_t piece = std::min(piece_bytes(bytes, kMuch), half_bytes_);
  size_t asked = 0;
  auto ask = [&](Half& half) {
    size_t count = std::min(piece, bytes - asked);
    if (count == 0) return;
    NUMBUS_CUDA(doing(), cuMemcpyDtoHAsync, half.memory, src + asked, count, stream.handle());
    half.event->record(stream);
    asked += count;
  };
  ask(halves_[0]);
  ask(halves_[1]);
  int which = 0;
  for (size_t done = 0; done < bytes; which ^= 1) {
    Half& half = halves_[which];
    size_t count = std::min(piece, bytes - done);
    try {
      wait_interruptibly(*half.event);
      copy_on_host(to + done, half.memory, count);
    } catch (const Error&) {
      // The copies may still come: the next user of the ring waits for them first.
      for (Half& h : halves_) h.in_flight = true;
      user_ = nullptr;
      throw;
    }
    done += count;
    ask(half);
  }
  // All that was queued before has happened: the whole ring is free.
  halves_[0].in_flight = halves_[1].in_flight = false;
  filled_ = 0;
}

}  // namespace numbus::cuda
