// Device memory for the time of a library call.
#pragma once

#include <cstddef>
#include <utility>

#include "device/device.h"

namespace numbus::vendor {

// What is queued on the device's stream may still read it after it is freed.
class Scratch {
 public:
  Scratch(Device& device, size_t bytes) : device_(device), bytes_(bytes) {
    if (bytes > 0) data_ = static_cast<char*>(device.allocate(bytes));
  }
  ~Scratch() {
    if (data_ != nullptr) device_.free(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const { return data_; }  // null where no bytes were asked for

 private:
  Device& device_;
  size_t bytes_;
  char* data_ = nullptr;
};

}  // namespace numbus::vendor
