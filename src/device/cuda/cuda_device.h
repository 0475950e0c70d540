// One NVIDIA GPU: its primary context, a main stream and side streams, pooled memory, copies.
#pragma once

#include <string>

#include "device/cuda/memory_pool.h"
#include "device/cuda/module.h"
#include "device/cuda/queues.h"
#include "device/cuda/stacks.h"
#include "device/cuda/staging.h"
#include "device/cuda/stream.h"
#include "device/device.h"

namespace numbus::cuda {

// All threads share the device's main stream, so that program order under the GIL is the GPU's
// order, too, and freed memory can be reused at once. Side streams are ordered with it where uses
// of memory conflict, and what they still use goes to the pool later. It is a stream of our own,
// because the legacy default stream cannot be captured into a graph; but it is ordered with the
// legacy one in both directions, because CuPy, PyTorch and `stream=1` of DLPack and
// __cuda_array_interface__ mean that one. The context is the primary one, which those libraries
// share.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal);

  std::string name() const override { return properties_.name; }
  int ordinal() const override { return ordinal_; }

  void free(void* block, size_t bytes) noexcept override;
  void copy_from_host(void* dst, const void* src, size_t bytes) override;
  void copy_to_host(void* dst, const void* src, size_t bytes) override;
  void copy_within(void* dst, const void* src, size_t bytes) override;
  void fill_bytes(void* dst, unsigned char value, size_t bytes, Queue* queue) override;
  void fill_bytes(void* dst, unsigned char value, size_t bytes) {
    fill_bytes(dst, value, bytes, nullptr);
  }
  void synchronize() override;
  void wait_for_stream(std::uintptr_t stream) override;

  std::unique_ptr<Queue> create_queue(const QueueOptions& options) override;
  std::unique_ptr<Marker> create_marker(bool timing) override;
  void queues_before(Queue* queue, std::span<const Use> uses) override;
  void queues_after(Queue* queue, std::span<const Use> uses) override;
  void claim(const void* memory, size_t bytes) override;
  bool in_use_beside(const void* memory, size_t bytes) override;
  void upload(void* dst, const void* src, size_t bytes, Queue& queue) override;
  void download(void* dst, const void* src, size_t bytes, Queue& queue) override;
  HostBlock allocate_host(size_t bytes, HostKind kind, bool write_combined) override;
  void free_host(const HostBlock& block) noexcept override;
  HostBlock register_host(void* memory, size_t bytes, HostKind kind) override;
  void unregister_host(const HostBlock& block) override;

  MemoryStats memory_stats() const override { return pool_.stats(); }
  void reset_peak() override { pool_.reset_peak(); }
  void set_memory_limit(size_t bytes) override { pool_.set_limit(bytes); }
  void trim() override;

  // Between these, memory that is taken and freed again, as libraries' workspaces are, is kept for
  // the graph that is captured; what is given back here is the graph's.
  struct Kept {
    void* block;
    size_t bytes;
    bool free;
  };
  // In order on the stream, as part of a graph where one is captured: of memory that no side stream
  // has to wait for.
  void copy_in_order(void* dst, const void* src, size_t bytes);
  void begin_capture() { captures_ = true; }
  // What has been given back until now is not given out again.
  void keep_apart() {
    for (Kept& k : kept_) k.free = false;
  }
  std::vector<Kept> end_capture() {
    captures_ = false;
    return std::exchange(kept_, {});
  }

  const DeviceProperties& properties() const { return properties_; }
  ContextHandle context() const { return context_; }
  const Stream& stream() const { return stream_; }
  const Stream& stream_of(Queue* queue) const {
    return queue ? static_cast<CudaQueue*>(queue)->stream() : stream_;
  }
  Stacks& stacks() { return stacks_; }
  int enter_queue(const Stream& stream);
  void leave_queue(int number) noexcept;

  Event create_event(bool timing = false) { return Event(context_, timing); }
  std::string link(const std::string& ptx, const std::vector<LinkInput>& inputs) {
    return cuda::link(context_, ptx, inputs);
  }
  Module load_module(const void* image, size_t bytes) { return Module(context_, image, bytes); }

 protected:
  void* take(size_t bytes) override;

 private:
  // Device memory that a side stream still uses, and memory of the host that any stream may.
  struct LateBlock {
    void* block;
    size_t bytes;
  };
  struct LateHost {
    HostBlock block;
    std::vector<StreamOrder::Mark> marks;
  };

  static ContextHandle retain_context(int ordinal);
  bool copy_in(void* dst, const void* src, size_t bytes, Queue* queue);
  bool copy_out(void* dst, const void* src, size_t bytes, Queue* queue);
  std::vector<StreamOrder::Mark> marks_of(const HostBlock& block);
  void wait_for(const HostBlock& block);
  void give_back(const HostBlock& block) noexcept;
  void sweep();
  void update_has_queues();
  bool wait_for_late_blocks();
  bool give_back_stacks();

  void* take_kept(size_t bytes);
  bool free_kept(void* block);

  int ordinal_;
  bool captures_ = false;
  std::vector<Kept> kept_;
  DeviceProperties properties_;
  ContextHandle context_;
  Stream stream_;
  Stacks stacks_;
  SegmentPool pool_;
  StagingRing staging_;
  SideStreams sides_;
  std::mutex late_mutex_;
  std::vector<LateBlock> late_blocks_;
  std::vector<LateHost> late_host_;
};

// Null when it cannot be used; cuda_unavailable_reason() says why.
CudaDevice* device(int ordinal);

// Forgets the driver and all devices, so that the next use loads a driver again.
void reset_for_tests();

}  // namespace numbus::cuda
