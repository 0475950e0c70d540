// Storage behind arrays: one Base may be seen through many views and is allocated only when a plan
// stores to it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace numbus {

struct Live;
struct Mask;
struct Suspicion;
struct Twin;
class Window;

// Reference counted under the Python GIL.
struct Base {
  Device* device;
  int64_t nbytes;
  char* data = nullptr;       // null while virtual
  int32_t refs = 0;           // handles and windows
  int32_t handles = 0;        // arrays that can still reach it
  int32_t shared = 0;         // outside parties that can reach the storage
  Window* window = nullptr;   // a pending window that uses it, the first one that did
  int32_t slot = -1;          // its number there
  int32_t other_windows = 0;  // pending windows of other threads that read it
  int32_t flights = 0;        // detached windows that use it and are being carried out
  // Its value number: equal for bases that hold equal elements by the look of how these are
  // computed.
  uint64_t value = new_value();
  // What tells it from every other base, also after its end.
  const uint64_t id = value;
  std::shared_ptr<const Error> failure;  // what stopped what should have written it
  // Checks of a device that its elements depend on and whose outcome nobody has looked at
  // (lazy/late.h).
  std::shared_ptr<std::vector<Suspicion>> suspicions;
  bool pinned = false;
  bool owned = true;     // data comes from the device's pool
  bool exposed = false;  // its address was given away for good
  bool away = false;     // without data: its elements wait in the host's memory (lazy/spill.h)
  void (*release)(void*) = nullptr;  // gives foreign storage back
  void* owner = nullptr;
  // Where devices are chosen by cost (array/placement.h): `pinned`, the user named this one;
  // microseconds that were lost because it lies there (less than none: gained); a copy on another
  // device, of the elements that `twin_value` numbers.
  double lost = 0;
  std::unique_ptr<Twin> twin;
  uint64_t twin_value = 0;
  std::unique_ptr<Live> live;  // of one that is large (lazy/live.h); null: it is small
  Mask* mask = nullptr;        // the live snapshot of this base as a boolean mask, if any (weak)

  static Base* create(Device& device, int64_t nbytes);
  // A value number that nothing else has.
  static uint64_t new_value();
  // Elements are written otherwise than by a recorded instruction, or may have been.
  void changed() { value = new_value(); }
  void ref() { ++refs; }
  void unref() {
    if (--refs == 0) destroy();
  }
  void ensure_data();
  bool pending() const { return window || other_windows > 0 || flights > 0; }
  bool has_elements() const { return data || away; }
  // Whether something outside knows its address, which has to stay.
  bool outside() const { return shared > 0 || exposed; }

  Base();
  ~Base();
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;

 private:
  void destroy();
};

// An array's or scalar's hold on a base: what makes a value "held" when a window is flushed.
class Handle {
 public:
  Handle() = default;
  explicit Handle(Base* b) : b_(b) { take(); }
  Handle(const Handle& o) : b_(o.b_) { take(); }
  Handle(Handle&& o) noexcept : b_(o.b_) { o.b_ = nullptr; }
  Handle& operator=(Handle o) noexcept {
    std::swap(b_, o.b_);
    return *this;
  }
  ~Handle() {
    if (!b_) return;
    --b_->handles;
    b_->unref();
  }
  Base* get() const { return b_; }
  Base* operator->() const { return b_; }

 private:
  void take() {
    if (!b_) return;
    ++b_->handles;
    b_->ref();
  }
  Base* b_ = nullptr;
};

// Keeps the copy of a base on another device.
struct Twin {
  Handle base;
};

}  // namespace numbus
