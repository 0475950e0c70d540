// Memory of the host that a GPU knows: making it, and giving it back once no stream uses it.
#include <algorithm>

#include "base/error.h"
#include "device/cuda/cuda_device.h"

namespace numbus::cuda {

HostBlock CudaDevice::allocate_host(size_t bytes, HostKind kind, bool write_combined) {
  sweep();
  ContextScope scope(context_);
  HostBlock block{0, bytes, kind, 0, true};
  size_t size = std::max<size_t>(bytes, 1);
  auto doing = [&] {
    return "allocating " + std::to_string(bytes) + " bytes of the host's memory for the GPU";
  };
  if (kind == HostKind::Managed) {
    DevicePointer memory = 0;
    NUMBUS_CUDA(doing(), cuMemAllocManaged, &memory, size, kManagedGlobal);
    block.begin = block.device_address = static_cast<std::uintptr_t>(memory);
    return block;
  }
  void* memory = nullptr;
  unsigned flags = kHostPortable | (kind == HostKind::Mapped ? kHostMapped : 0) |
                   (write_combined ? kHostWriteCombined : 0);
  NUMBUS_CUDA(doing(), cuMemHostAlloc, &memory, size, flags);
  block.begin = reinterpret_cast<std::uintptr_t>(memory);
  if (kind == HostKind::Mapped) {
    DevicePointer seen = 0;
    NUMBUS_CUDA("mapping memory of the host", cuMemHostGetDevicePointer, &seen, memory, 0);
    block.device_address = static_cast<std::uintptr_t>(seen);
  }
  return block;
}

// All that may still use the block: kernels of the main stream are not noted by their memory.
std::vector<StreamOrder::Mark> CudaDevice::marks_of(const HostBlock& block) {
  auto marks = sides_.order().side_marks(block.begin, block.begin + block.bytes);
  marks.push_back(sides_.order().main_mark());
  return marks;
}

void CudaDevice::wait_for(const HostBlock& block) { SideStreams::synchronize(marks_of(block)); }

void CudaDevice::give_back(const HostBlock& block) noexcept {
  if (!cuda_available()) return;
  try {
    ContextScope scope(context_);
    if (block.kind == HostKind::Managed) {
      driver().cuMemFree(static_cast<DevicePointer>(block.begin));
    } else {
      driver().cuMemFreeHost(reinterpret_cast<void*>(block.begin));
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The process ends or the GPU is lost, and the memory with it.
  }
}

void CudaDevice::free_host(const HostBlock& block) noexcept {
  if (!cuda_available()) return;
  try {
    LateHost late{block, marks_of(block)};
    {
      std::lock_guard<std::mutex> lock(late_mutex_);
      late_host_.push_back(std::move(late));
    }
    sweep();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Stays with the process: what still uses it cannot be known.
  }
}

HostBlock CudaDevice::register_host(void* memory, size_t bytes, HostKind kind) {
  HostBlock block{reinterpret_cast<std::uintptr_t>(memory), bytes, kind, 0, false};
  if (bytes == 0) return block;
  ContextScope scope(context_);
  unsigned flags = kHostPortable | (kind == HostKind::Mapped ? kHostMapped : 0);
  Result result = driver().cuMemHostRegister(memory, bytes, flags);
  // Another library has pinned it, or a neighbour that shares a page: copies are staged, then.
  if (result == kErrorHostAlreadyRegistered && kind == HostKind::Pinned) return {};
  if (result != kSuccess) {
    raise_driver_error(result, "cuMemHostRegister",
                       "pinning " + std::to_string(bytes) + " bytes of an array");
  }
  if (kind == HostKind::Mapped) {
    DevicePointer seen = 0;
    NUMBUS_CUDA("mapping an array", cuMemHostGetDevicePointer, &seen, memory, 0);
    block.device_address = static_cast<std::uintptr_t>(seen);
  }
  return block;
}

void CudaDevice::unregister_host(const HostBlock& block) {
  if (block.bytes == 0) return;
  wait_for(block);
  ContextScope scope(context_);
  NUMBUS_CUDA("unpinning an array", cuMemHostUnregister, reinterpret_cast<void*>(block.begin));
}

}  // namespace numbus::cuda
