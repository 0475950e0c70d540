// A ring of pinned host memory through which copies from and to pageable memory pass.
#pragma once

#include <array>
#include <mutex>
#include <optional>

#include "device/cuda/stream.h"

namespace numbus::cuda {

// Two halves: the host fills or empties one while the GPU's copy engine works on the other. The
// memory is pinned at the first copy, and only a little of it until a large copy comes: pinning
// takes about 0.2 ms per MiB. Without pinned memory the driver copies from pageable memory,
// correctly but slower.
class StagingRing {
 public:
  StagingRing(ContextHandle context, const Stream& main) : context_(context), main_(main) {}
  ~StagingRing();

  // The source may change when upload returns; the target is complete when download returns. One
  // stream uses the ring at a time: another one's copy waits for the uploads before it. `marked`:
  // others may come, so that each upload is to be followed by an event.
  void upload(DevicePointer dst, const void* src, size_t bytes, const Stream& stream, bool marked);
  void download(void* dst, DevicePointer src, size_t bytes, const Stream& stream);

  // A stream is about to go: its handle may come back as another's.
  void leave() noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    user_ = nullptr;
  }

  static constexpr size_t kLittle = size_t{64} << 10;  // bytes of a half at first
  static constexpr size_t kMuch = size_t{16} << 20;    // and after a copy larger than that

 private:
  struct Half {
    char* memory = nullptr;
    std::optional<Event> event;
    bool in_flight = false;  // the event says when the GPU has read it
  };

  bool prepare(size_t bytes);
  void release() noexcept;
  void enter(const Stream& stream);
  void settle();
  void next_half(const Stream& stream);

  ContextHandle context_;
  const Stream& main_;
  std::mutex mutex_;
  std::array<Half, 2> halves_;
  size_t half_bytes_ = 0;  // zero when nothing is pinned
  size_t refused_ = SIZE_MAX;
  int current_ = 0;
  size_t filled_ = 0;  // bytes of the current half already handed to the GPU
  StreamHandle user_ = nullptr;
  std::optional<Event> last_;  // after the last upload, if it is marked
  bool marked_ = false;
};

}  // namespace numbus::cuda
