// Devices are made at first use and live to the end of the process.
#include "device/cuda/cuda_device.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "device/alarm.h"
#include "device/opened.h"

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
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
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

// The uses of a copy; the host's side counts where the GPU itself reads or writes it.
struct CopyUses {
  CopyUses(const void* dst, const void* src, size_t bytes, bool whole_dst, bool whole_src) {
    auto add = [&](const void* at, bool written) {
      auto begin = reinterpret_cast<std::uintptr_t>(at);
      uses[count++] = {begin, begin + bytes, written};
    };
    if (whole_dst) add(dst, true);
    if (whole_src) add(src, false);
  }
  operator std::span<const Use>() const { return {uses, count}; }
  Use uses[2];
  size_t count = 0;
};

std::mutex devices_mutex;
// Never deleted: arrays may outlive static destructors, and the driver frees everything at exit.
std::map<int, CudaDevice*>* devices = new std::map<int, CudaDevice*>;
std::string last_reason;

// Called by the alarm's thread.
void look_at_pool(void* pool) {
  try {
    static_cast<SegmentPool*>(pool)->look();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // There is no memory for a list of segments; a synchronisation looks again.
  }
}

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
    : Device(DeviceKind::Cuda),
      ordinal_(ordinal),
      properties_(device_properties(ordinal)),
      context_(retain_context(ordinal)),
      stream_(context_),
      stacks_(context_, properties_),
      pool_(std::make_unique<DriverSegments>(context_, properties_.total_memory),
            [this](IdlePolicy::Time at) { call_at(at, look_at_pool, &pool_); }),
      staging_(context_, stream_),
      sides_(context_, stream_) {}

ContextHandle CudaDevice::retain_context(int ordinal) {
  auto doing = [&] { return "opening GPU " + std::to_string(ordinal); };
  DeviceHandle handle = 0;
  ContextHandle context = nullptr;
  NUMBUS_CUDA(doing(), cuDeviceGet, &handle, ordinal);
  NUMBUS_CUDA(doing(), cuDevicePrimaryCtxRetain, &context, handle);
  return context;
}

// The kernels of a graph run one after the other: what one does no longer use is for the next.
void* CudaDevice::take_kept(size_t bytes) {
  for (Kept& k : kept_)
    if (k.free && k.bytes >= bytes) {
      k.free = false;
      return k.block;
    }
  kept_.reserve(kept_.size() + 1);
  void* block = reinterpret_cast<void*>(pool_.allocate(bytes));
  kept_.push_back({block, bytes, false});
  return block;
}

bool CudaDevice::free_kept(void* block) {
  for (Kept& k : kept_)
    if (k.block == block) return k.free = true;
  return false;
}

void* CudaDevice::take(size_t bytes) {
  if (captures_) return take_kept(bytes);
  if (relief.always) relief.make_room(*this, bytes);
  if (has_queues_) {
    sweep();
    if (!sides_.order().has_side_streams()) update_has_queues();
  }
  try {
    return reinterpret_cast<void*>(pool_.allocate(bytes));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Memory) throw;
    bool waited = wait_for_late_blocks();
    if (!give_back_stacks() && !waited) throw;
  }
  return reinterpret_cast<void*>(pool_.allocate(bytes));
}

bool CudaDevice::give_back_stacks() {
  if (!stacks_.raised()) return false;
  auto marks = sides_.all_marks();
  stream_.synchronize();
  SideStreams::synchronize(marks);
  return stacks_.give_back();
}

void CudaDevice::free(void* block, size_t bytes) noexcept {
  if (block == nullptr || (captures_ && free_kept(block))) return;
  try {
    if (has_queues_) {
      auto begin = static_cast<std::uintptr_t>(address(block));
      if (sides_.order().busy(begin, begin + bytes)) {
        std::lock_guard<std::mutex> lock(late_mutex_);
        late_blocks_.push_back({block, bytes});
        return;
      }
      sides_.order().release(begin, begin + bytes);
    }
  } catch (const std::exception&) {
    return;  // not known to be free: better lost than given out twice
  }
  pool_.free(address(block));
}

// Blocks and memory of the host whose work is done by now go back.
void CudaDevice::sweep() {
  std::vector<LateBlock> blocks;
  std::vector<LateHost> host;
  {
    std::lock_guard<std::mutex> lock(late_mutex_);
    blocks.swap(late_blocks_);
    auto waiting = [&](const LateHost& h) {
      return !std::all_of(h.marks.begin(), h.marks.end(),
                          [&](const StreamOrder::Mark& m) { return sides_.reached(m); });
    };
    auto done = std::partition(late_host_.begin(), late_host_.end(), waiting);
    host.assign(std::make_move_iterator(done), std::make_move_iterator(late_host_.end()));
    late_host_.erase(done, late_host_.end());
  }
  for (const LateBlock& b : blocks) free(b.block, b.bytes);
  for (const LateHost& h : host) give_back(h.block);
}

// Whether there were any.
bool CudaDevice::wait_for_late_blocks() {
  std::vector<LateBlock> blocks;
  {
    std::lock_guard<std::mutex> lock(late_mutex_);
    blocks.swap(late_blocks_);
  }
  for (const LateBlock& b : blocks) {
    auto begin = static_cast<std::uintptr_t>(address(b.block));
    SideStreams::synchronize(sides_.order().side_marks(begin, begin + b.bytes));
    free(b.block, b.bytes);
  }
  return !blocks.empty();
}

// Whether the GPU itself is at the host's memory, now or later: then it is pinned.
bool CudaDevice::copy_in(void* dst, const void* src, size_t bytes, Queue* queue) {
  if (bytes == 0) return false;
  HostBlock block;
  bool known = find_host_block(src, bytes, &block);
  bool direct = known && block.pinned();
  if (known && !direct) wait_for(block);
  CopyUses uses(dst, src, bytes, true, direct);
  Ordered order(*this, queue, uses);
  const Stream& stream = stream_of(queue);
  if (!direct) {
    staging_.upload(address(dst), src, bytes, stream, has_queues_);
    return false;
  }
  ContextScope scope(context_);
  NUMBUS_CUDA("copying " + std::to_string(bytes) + " bytes to the GPU", cuMemcpyHtoDAsync,
              address(dst), src, bytes, stream.handle());
  return true;
}

bool CudaDevice::copy_out(void* dst, const void* src, size_t bytes, Queue* queue) {
  if (bytes == 0) return false;
  HostBlock block;
  bool known = find_host_block(dst, bytes, &block);
  bool direct = known && block.pinned();
  if (known && !direct) wait_for(block);
  CopyUses uses(dst, src, bytes, direct, true);
  Ordered order(*this, queue, uses);
  const Stream& stream = stream_of(queue);
  if (!direct) {
    staging_.download(dst, address(src), bytes, stream);
    return false;
  }
  ContextScope scope(context_);
  NUMBUS_CUDA("copying " + std::to_string(bytes) + " bytes from the GPU", cuMemcpyDtoHAsync, dst,
              address(src), bytes, stream.handle());
  return true;
}

void CudaDevice::copy_from_host(void* dst, const void* src, size_t bytes) {
  if (copy_in(dst, src, bytes, nullptr)) wait_interruptibly(stream_);
}

void CudaDevice::copy_to_host(void* dst, const void* src, size_t bytes) {
  if (copy_out(dst, src, bytes, nullptr)) wait_interruptibly(stream_);
}

void CudaDevice::upload(void* dst, const void* src, size_t bytes, Queue& queue) {
  copy_in(dst, src, bytes, &queue);
}

void CudaDevice::download(void* dst, const void* src, size_t bytes, Queue& queue) {
  copy_out(dst, src, bytes, &queue);
}

void CudaDevice::copy_in_order(void* dst, const void* src, size_t bytes) {
  ContextScope scope(context_);
  NUMBUS_CUDA("copying " + std::to_string(bytes) + " bytes on the GPU", cuMemcpyDtoDAsync,
              address(dst), address(src), bytes, stream_.handle());
}

void CudaDevice::copy_within(void* dst, const void* src, size_t bytes) {
  if (bytes == 0) return;
  CopyUses uses(dst, src, bytes, true, true);
  Ordered order(*this, nullptr, uses);
  copy_in_order(dst, src, bytes);
}

void CudaDevice::fill_bytes(void* dst, unsigned char value, size_t bytes, Queue* queue) {
  if (bytes == 0) return;
  CopyUses uses(dst, nullptr, bytes, true, false);
  Ordered order(*this, queue, uses);
  ContextScope scope(context_);
  NUMBUS_CUDA("filling " + std::to_string(bytes) + " bytes on the GPU", cuMemsetD8Async,
              address(dst), value, bytes, stream_of(queue).handle());
}

// Marks, not streams: a stream may go while nobody holds Python's lock.
void CudaDevice::synchronize() {
  if (!has_queues_) {
    wait_interruptibly(stream_);
  } else {
    auto marks = sides_.all_marks();
    wait_interruptibly(stream_);
    SideStreams::synchronize(marks);
    sweep();
    update_has_queues();
  }
  pool_.synchronised();
}

std::unique_ptr<Queue> CudaDevice::create_queue(const QueueOptions& options) {
  if (options.existing != 0) {
    return std::make_unique<CudaQueue>(
        *this, Stream(context_, reinterpret_cast<StreamHandle>(options.existing)));
  }
  return std::make_unique<CudaQueue>(*this,
                                     Stream(context_, options.independent, options.priority));
}

std::unique_ptr<Marker> CudaDevice::create_marker(bool timing) {
  return std::make_unique<CudaMarker>(*this, timing);
}

int CudaDevice::enter_queue(const Stream& stream) {
  std::lock_guard<std::mutex> lock(late_mutex_);
  has_queues_ = true;
  return sides_.add(stream);
}

void CudaDevice::update_has_queues() {
  std::lock_guard<std::mutex> lock(late_mutex_);
  has_queues_ = sides_.order().active() || !late_blocks_.empty();
}

void CudaDevice::leave_queue(int number) noexcept {
  try {
    staging_.leave();
    sides_.remove(number);
    update_has_queues();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The GPU is lost; whoever uses it next is told.
  }
}

void CudaDevice::queues_before(Queue* queue, std::span<const Use> uses) {
  sides_.order().before(queue ? queue->number() : StreamOrder::kMain, uses);
}

void CudaDevice::claim(const void* memory, size_t bytes) {
  auto begin = reinterpret_cast<std::uintptr_t>(memory);
  if (has_queues_) sides_.order().claim(begin, begin + bytes);
}

bool CudaDevice::in_use_beside(const void* memory, size_t bytes) {
  auto begin = reinterpret_cast<std::uintptr_t>(memory);
  return has_queues_ && sides_.order().busy(begin, begin + bytes);
}

void CudaDevice::queues_after(Queue* queue, std::span<const Use> uses) {
  sides_.order().after(queue ? queue->number() : StreamOrder::kMain, uses);
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
  std::lock_guard<std::mutex> lock(devices_mutex);
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
  std::lock_guard<std::mutex> lock(devices_mutex);
  static auto* dead = new std::vector<std::map<int, CudaDevice*>>;
  dead->push_back(std::move(*devices));
  devices->clear();
  last_reason.clear();
  reset_driver_for_tests();
}

}  // namespace numbus::cuda

namespace numbus {

Device* cuda_device(int ordinal) { return cuda::device(ordinal); }

bool may_have_gpu() {
  if (const char* named = std::getenv("NUMBUS_CUDA_DRIVER"); named && *named) return true;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible && (*visible == 0 || *visible == '-')) return false;
  // Of Linux, of its subsystem on Windows, of Tegra.
  for (const char* file : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu"})
    if (access(file, F_OK) == 0) return true;
  return false;
}

Device* opened_cuda_device(int ordinal) {
  std::lock_guard<std::mutex> lock(cuda::devices_mutex);
  auto it = cuda::devices->find(ordinal);
  return it == cuda::devices->end() ? nullptr : it->second;
}

namespace {
std::atomic<int> chosen_gpu = 0;
}
int current_gpu() { return chosen_gpu; }
void set_current_gpu(int ordinal) { chosen_gpu = ordinal; }

Device* cuda_device_of(std::uintptr_t address) {
  Device* first = cuda_device(0);
  if (first == nullptr || address == 0) return first;
  int ordinal = 0;
  NUMBUS_CUDA("asking where memory is", cuPointerGetAttribute, &ordinal,
              cuda::kPointerDeviceOrdinal, static_cast<cuda::DevicePointer>(address));
  return cuda_device(ordinal);
}

std::string cuda_unavailable_reason() {
  std::lock_guard<std::mutex> lock(cuda::devices_mutex);
  if (cuda::last_reason.empty()) return cuda::driver_info().reason;
  return cuda::last_reason;
}

}  // namespace numbus
