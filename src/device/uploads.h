// Copies to a device that begin before a program asks for them, beside the device's work and the
// host's.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"

namespace numbus {

struct HostPiece {
  void* to;  // fresh memory of the device
  const void* from;
  size_t bytes;
};

class Upload {
 public:
  virtual ~Upload() = default;
  // Waits until the host's memory has been read. Work of the device that is queued from now on
  // comes after the copies. Raises what the copies have met. Needs no lock of Python's.
  virtual void join() = 0;
};

// Begins to copy. Neither side may be changed, or go, before join() has returned. Little, and what
// goes to a device that has no copies beside its work, is copied now.
std::unique_ptr<Upload> upload_ahead(Device& device, std::vector<HostPiece> pieces);

}  // namespace numbus
