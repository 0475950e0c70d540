// Devices are made at first use and live to the end of the process.
#include "device/cuda/cuda_device.h"

#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"

namespace numbus::cuda {
namespace {

DevicePointer address(const void* block) { return reinterpret_cast<DevicePointer>(block); }

class DriverSegments final : public SegmentSource {
 public:
  DriverSegments(ContextHandle context, size_t total) : context_(context), total_(total) {}

  DevicePointer acquire(size_t bytes) override {
    ContextScope scope(context_);
    DevicePointer segment = 0;
    Result result = driver().cuMemAlloc(&segment, bytes);
    if (result == kErrorOutOfMemory) return 0;
    if (result != kSuccess) {
      raise_driver_error(result, "cuMemAlloc",
                         "allocating " + std::to_string(bytes) + " bytes on the GPU");
    }
    return segment;
  }

  // The driver waits for the work that uses the segment. A failure means that the GPU or the
  // process is at its end, and the memory with it.
  void release(DevicePointer segment) noexcept override {
    if (!cuda_available()) return;
    try {
      ContextScope scope(context_);
      driver().cuMemFree(segment);
    } catch (const Error&) {
    }
  }

  size_t total_bytes() const override { return total_; }

  size_t free_bytes() const override {
    ContextScope scope(context_);
    size_t free = 0, total = 0;
    return driver().cuMemGetInfo(&free, &total) == kSuccess ? free : 0;
  }

 private:
  ContextHandle context_;
  size_t total_;
};

std::mutex devices_mutex;
// Never deleted: arrays may outlive static destructors, and the driver frees everything at exit.
std::map<int, CudaDevice*>* devices = new std::map<int, CudaDevice*>;
std::string last_reason;

std::string why_unusable(int ordinal) {
  DriverInfo info = driver_info();
  if (!info.reason.empty()) return info.reason;
  if (ordinal < 0 || ordinal >= info.devices) {
    return "there is no GPU " + std::to_string(ordinal) + "; the driver sees " +
           std::to_string(info.devices);
  }
  return "";
}

}  // namespace

CudaDevice::CudaDevice(int ordinal)
    : ordinal_(ordinal),
      properties_(device_properties(ordinal)),
      context_(retain_context(ordinal)),
      stream_(context_),
      pool_(std::make_unique<DriverSegments>(context_, properties_.total_memory)),
      staging_(context_, stream_) {}

ContextHandle CudaDevice::retain_context(int ordinal) {
  auto doing = [&] { return "opening GPU " + std::to_string(ordinal); };
  DeviceHandle handle = 0;
  ContextHandle context = nullptr;
  NUMBUS_CUDA(doing(), cuDeviceGet, &handle, ordinal);
  NUMBUS_CUDA(doing(), cuDevicePrimaryCtxRetain, &context, handle);
  return context;
}

void* CudaDevice::allocate(size_t bytes) { return reinterpret_cast<void*>(pool_.allocate(bytes)); }

void CudaDevice::free(void* block, size_t) noexcept {
  if (block != nullptr) pool_.free(address(block));
}

void CudaDevice::copy_from_host(void* dst, const void* src, size_t bytes) {
  staging_.upload(address(dst), src, bytes);
}

void CudaDevice::copy_to_host(void* dst, const void* src, size_t bytes) {
  staging_.download(dst, address(src), bytes);
}

void CudaDevice::copy_within(void* dst, const void* src, size_t bytes) {
  if (bytes == 0) return;
  ContextScope scope(context_);
  NUMBUS_CUDA("copying " + std::to_string(bytes) + " bytes on the GPU", cuMemcpyDtoDAsync,
              address(dst), address(src), bytes, stream_.handle());
}

void CudaDevice::fill_bytes(void* dst, unsigned char value, size_t bytes) {
  if (bytes == 0) return;
  ContextScope scope(context_);
  NUMBUS_CUDA("filling " + std::to_string(bytes) + " bytes on the GPU", cuMemsetD8Async,
              address(dst), value, bytes, stream_.handle());
}

void CudaDevice::wait_for_stream(std::uintptr_t stream) {
  Event done(context_);
  done.record(reinterpret_cast<StreamHandle>(stream));
  stream_.wait(done);
}

void CudaDevice::trim() {
  synchronize();
  pool_.trim();
}

CudaDevice* device(int ordinal) {
  std::lock_guard<std::mutex> turn(devices_mutex);
  last_reason = why_unusable(ordinal);
  if (!last_reason.empty()) return nullptr;
  CudaDevice*& known = (*devices)[ordinal];
  if (known == nullptr) {
    try {
      known = new CudaDevice(ordinal);
    } catch (const Error& error) {
      last_reason = error.what();
    }
  }
  return known;
}

void reset_for_tests() {
  std::lock_guard<std::mutex> turn(devices_mutex);
  static auto* dead = new std::vector<std::map<int, CudaDevice*>>;
  dead->push_back(std::move(*devices));
  devices->clear();
  last_reason.clear();
  reset_driver_for_tests();
}

}  // namespace numbus::cuda

namespace numbus {

Device* cuda_device(int ordinal) { return cuda::device(ordinal); }

Device* cuda_device_of(std::uintptr_t address) {
  Device* first = cuda_device(0);
  if (first == nullptr || address == 0) return first;
  int ordinal = 0;
  NUMBUS_CUDA("asking where memory is", cuPointerGetAttribute, &ordinal,
              cuda::kPointerDeviceOrdinal, static_cast<cuda::DevicePointer>(address));
  return cuda_device(ordinal);
}

std::string cuda_unavailable_reason() {
  std::lock_guard<std::mutex> turn(cuda::devices_mutex);
  if (cuda::last_reason.empty()) return cuda::driver_info().reason;
  return cuda::last_reason;
}

}  // namespace numbus
