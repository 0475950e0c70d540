// One NVIDIA GPU: its primary context, one stream, pooled memory, staged copies.
#pragma once

#include <string>

#include "device/cuda/memory_pool.h"
#include "device/cuda/module.h"
#include "device/cuda/staging.h"
#include "device/cuda/stream.h"
#include "device/device.h"

namespace numbus::cuda {

// All threads share the device's one stream, so that program order under the GIL is the GPU's
// order, too, and freed memory can be reused at once. It is a stream of our own, because the legacy
// default stream cannot be captured into a graph; but it is ordered with the legacy one in both
// directions, because CuPy, PyTorch and `stream=1` of DLPack and __cuda_array_interface__ mean
// that one. The context is the primary one, which those libraries share.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal);

  std::string name() const override { return properties_.name; }
  DeviceKind kind() const override { return DeviceKind::Cuda; }
  int ordinal() const override { return ordinal_; }

  void* allocate(size_t bytes) override;
  void free(void* block, size_t bytes) noexcept override;
  void copy_from_host(void* dst, const void* src, size_t bytes) override;
  void copy_to_host(void* dst, const void* src, size_t bytes) override;
  void copy_within(void* dst, const void* src, size_t bytes) override;
  // Sets every byte, in stream order.
  void fill_bytes(void* dst, unsigned char value, size_t bytes);
  void synchronize() override { stream_.synchronize(); }
  void wait_for_stream(std::uintptr_t stream) override;

  MemoryStats memory_stats() const override { return pool_.stats(); }
  void set_memory_limit(size_t bytes) override { pool_.set_limit(bytes); }
  void trim() override;

  const DeviceProperties& properties() const { return properties_; }
  ContextHandle context() const { return context_; }
  const Stream& stream() const { return stream_; }

  Stream create_stream(bool independent = false) { return Stream(context_, independent); }
  Event create_event(bool timing = false) { return Event(context_, timing); }
  Module load_module(const void* image, size_t bytes) { return Module(context_, image, bytes); }
  std::string assemble_ptx(const std::string& ptx) { return cuda::assemble_ptx(context_, ptx); }

 private:
  static ContextHandle retain_context(int ordinal);

  int ordinal_;
  DeviceProperties properties_;
  ContextHandle context_;
  Stream stream_;
  SegmentPool pool_;
  StagingRing staging_;
};

// Null when it cannot be used; cuda_unavailable_reason() says why.
CudaDevice* device(int ordinal);

// Forgets the driver and all devices, so that the next use loads a driver again.
void reset_for_tests();

}  // namespace numbus::cuda
