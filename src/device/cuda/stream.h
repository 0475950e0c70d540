// Streams and events of the CUDA driver, as owners.
#pragma once

#include <utility>

#include "device/cuda/driver.h"

namespace numbus::cuda {

class Event;

class Stream {
 public:
  // Ordered with the legacy default stream in both directions, unless it is made independent.
  explicit Stream(ContextHandle context, bool independent = false, int priority = 0);
  // Another library's, which has to outlive this.
  Stream(ContextHandle context, StreamHandle existing)
      : context_(context), handle_(existing), owned_(false) {}
  ~Stream();
  Stream(Stream&& other) noexcept
      : context_(other.context_),
        handle_(std::exchange(other.handle_, nullptr)),
        owned_(other.owned_) {}
  Stream& operator=(Stream&&) = delete;

  ContextHandle context() const { return context_; }
  StreamHandle handle() const { return handle_; }
  bool owned() const { return owned_; }
  int priority() const;
  void synchronize() const;
  bool done() const;
  // Work queued from now on waits for the event.
  void wait(const Event& event) const;

 private:
  ContextHandle context_;
  StreamHandle handle_ = nullptr;
  bool owned_ = true;
};

class Event {
 public:
  explicit Event(ContextHandle context, bool timing = false);
  ~Event();
  Event(Event&& other) noexcept
      : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) = delete;

  ContextHandle context() const { return context_; }
  EventHandle handle() const { return handle_; }
  void record(const Stream& stream) const { record(stream.handle()); }
  void record(StreamHandle stream) const;
  void synchronize() const;
  bool done() const;
  // Unlike done() throws nothing: after a failure there is nothing to wait for.
  bool reached() const noexcept;
  // Milliseconds from `start` to this event; both were made with timing and have happened.
  float elapsed_since(const Event& start) const;

 private:
  ContextHandle context_;
  EventHandle handle_ = nullptr;
};

}  // namespace numbus::cuda
