// The device kernels of the routines: written in the kernel language, found here by name and type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "device/device.h"
#include "launch/kernel.h"

namespace numbus::routines {

struct DeviceKernel {
  GridKernel* kernel;
  int64_t tile;  // elements that a block takes at a time, where the grid depends on it
  // Of a block, where the kernel says it: zero elsewhere.
  int64_t threads, shared_bytes;
};

// The kernel has to live as long as the process. A name and type that are known keep the first one.
void add_device_kernel(const std::string& name, DType t, const DeviceKernel& kernel);
bool has_device_kernel(const std::string& name, DType t);
// Raises ErrorKind::Runtime, with the name and the type, where none was added.
DeviceKernel device_kernel(const std::string& name, DType t);

// Memory of a device for the length of a scope. It goes back in stream order, so that launches may
// still use it.
class Scratch {
 public:
  Scratch(Device& device, int64_t bytes)
      : device_(device),
        bytes_(static_cast<size_t>(bytes)),
        data_(static_cast<char*>(device.allocate(bytes_))) {}
  ~Scratch() { device_.free(data_, bytes_); }
  Scratch(const Scratch&) = delete;

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Device& device_;
  size_t bytes_;
  char* data_;
};

// One launch in the device's own queue; arguments in the order of the kernel's parameters, arrays
// contiguous and of one axis.
class KernelLaunch {
 public:
  KernelLaunch(Device& device, const std::string& name, DType t)
      : device_(device), kernel_(*device_kernel(name, t).kernel) {}

  KernelLaunch& in(const void* begin, int64_t count, int64_t itemsize) {
    return array(begin, count, itemsize, false);
  }
  KernelLaunch& out(void* begin, int64_t count, int64_t itemsize) {
    return array(begin, count, itemsize, true);
  }
  KernelLaunch& number(int64_t value) {
    words_.push_back(value);
    return *this;
  }
  KernelLaunch& real(double value);
  // Does nothing where there are no blocks.
  void run(int64_t blocks, int64_t threads, int64_t shared_bytes = 0) {
    run({blocks, 1, 1}, threads, shared_bytes);
  }
  void run(const std::array<int64_t, 3>& blocks, int64_t threads, int64_t shared_bytes = 0);

 private:
  KernelLaunch& array(const void* begin, int64_t count, int64_t itemsize, bool written);

  Device& device_;
  GridKernel& kernel_;
  std::vector<int64_t> words_;
  std::vector<Use> uses_;
};

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

// How many blocks of a kernel the device runs at once: for launches whose blocks each walk over a
// part of the data. On a CPU a few.
int64_t resident_blocks(Device& device, const std::string& name, DType t, int64_t threads);

}  // namespace numbus::routines
