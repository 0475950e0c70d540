// Arrays that wait in the host's memory while their device has no room for them.
#pragma once

#include <vector>

#include "device/host_memory.h"
#include "lazy/base.h"

namespace numbus {

// While it lives, arrays whose addresses data_of() gives on this thread stay where they are.
class InPlace {
 public:
  InPlace();
  ~InPlace();
  InPlace(const InPlace&) = delete;

  // Has a base's elements lie on its device, and stay there.
  void add(Base& b);
  static void note(Base& b);

 private:
  InPlace* before_;
  std::vector<Base*> held_;
};

namespace spill {

// Frees memory of the device: the array that was used least recently goes to the host, of those
// that nothing outside, no stream and no call holds, pending ones last. False: there is none, or
// all of them together are too small.
bool make_room(Device& d, size_t bytes);
// The bytes of all that could go so.
size_t movable_bytes(Device& d);

// Copies elements to memory of the host, which is pinned where the device does that, and back.
HostBlock save(Device& d, const char* data, size_t bytes);
void load(Device& d, char* data, const HostBlock& block, size_t bytes);
// They are no longer needed.
void forget(Device& d, const HostBlock& block, size_t bytes) noexcept;

// A base's elements lie on its device again.
void bring_back(Base& b);
// They are no longer needed; does nothing where they are not away.
void drop(Base& b) noexcept;

// The bytes of a device's arrays that wait on the host.
size_t waiting_bytes(const Device& d);
// Gives memory back that is kept for the next arrays to wait in.
void trim(Device& d) noexcept;

}  // namespace spill
}  // namespace numbus
