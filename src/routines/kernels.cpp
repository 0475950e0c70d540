// The registry of device kernels, and their launches.
#include "routines/kernels.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

#include "base/error.h"
#include "device/cuda/cuda_device.h"

namespace numbus::routines {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::pair<std::string, DType>, DeviceKernel> kernels;
  std::map<std::pair<Device*, GridKernel*>, int64_t> resident;
};

Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

}  // namespace

void add_device_kernel(const std::string& name, DType t, const DeviceKernel& kernel) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.kernels.try_emplace({name, t}, kernel);
}

bool has_device_kernel(const std::string& name, DType t) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return r.kernels.contains({name, t});
}

DeviceKernel device_kernel(const std::string& name, DType t) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.kernels.find({name, t});
  if (it == r.kernels.end())
    raise(ErrorKind::Runtime, name, "the device kernel was not loaded",
          "the type " + std::string(numbus::name(t)), "numbus.primitives.load() before its use");
  return it->second;
}

KernelLaunch& KernelLaunch::array(const void* begin, int64_t count, int64_t itemsize,
                                  bool written) {
  auto address = reinterpret_cast<std::uintptr_t>(begin);
  words_.insert(words_.end(), {static_cast<int64_t>(address), 0, count, itemsize});
  if (count > 0)
    uses_.push_back({address, address + static_cast<std::uintptr_t>(count * itemsize), written});
  return *this;
}

KernelLaunch& KernelLaunch::real(double value) { return number(std::bit_cast<int64_t>(value)); }

void KernelLaunch::run(const std::array<int64_t, 3>& blocks, int64_t threads,
                       int64_t shared_bytes) {
  if (blocks[0] == 0) return;
  kernel_.launch(
      device_, compile::Geometry{{blocks[0], blocks[1], blocks[2]}, {threads, 1, 1}, shared_bytes},
      words_, nullptr, nullptr,
      device_.has_queues() ? std::span<const Use>(uses_) : std::span<const Use>());
}

int64_t resident_blocks(Device& device, const std::string& name, DType t, int64_t threads) {
  if (!device.runs_ptx()) return 4;
  GridKernel& kernel = *device_kernel(name, t).kernel;
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  int64_t& known = r.resident[{&device, &kernel}];
  if (!known) {
    int64_t each = kernel.report(device, static_cast<int>(threads), 0).blocks_per_multiprocessor;
    known = std::max<int64_t>(each, 1) *
            static_cast<cuda::CudaDevice&>(device).properties().multiprocessors;
  }
  return known;
}

}  // namespace numbus::routines
