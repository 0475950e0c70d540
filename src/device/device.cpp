// What devices share: errors, and queues where everything is done at once.
#include "device/device.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/error.h"

namespace numbus {
namespace {

using Clock = std::chrono::steady_clock;

// All before it is done when it is recorded.
class DoneMarker final : public Marker {
 public:
  void record(Queue*) override { time_ = Clock::now(); }
  void hold(Queue*) override {}
  void synchronize() override {}
  bool done() override { return true; }
  double milliseconds_since(Marker& start) override {
    auto elapsed = time_ - static_cast<DoneMarker&>(start).time_;
    return std::chrono::duration<double, std::milli>(elapsed).count();
  }

 private:
  Clock::time_point time_{};
};

}  // namespace

std::string Device::label() const {
  if (runs_on_host()) return host_readable() ? "cpu" : "fenced";
  return counts_only() ? "null" : "cuda:" + std::to_string(ordinal());
}

constinit Device::Relief Device::relief{};

void* Device::allocate_after(Error failure, size_t bytes) {
  while (true) {
    if (failure.kind() != ErrorKind::Memory || !relief.make_room) throw Error(failure);
    if (!relief.make_room(*this, bytes))
      throw Error(ErrorKind::Memory, failure.what() + relief.advice(*this));
    try {
      return take(bytes);
    } catch (const Error& e) {
      failure = e;
    }
  }
}

namespace {
std::mutex reasons_mutex;
std::map<const Device*, std::string>& reasons() {
  static auto* all = new std::map<const Device*, std::string>;  // threads may outlive main()
  return *all;
}
}  // namespace

void Device::distrust(const std::string& why) {
  std::lock_guard<std::mutex> lock(reasons_mutex);
  reasons()[this] = why;
  distrusted_.store(!why.empty(), std::memory_order_release);
}

void Device::raise_distrust() const {
  std::string why;
  {
    std::lock_guard<std::mutex> lock(reasons_mutex);
    why = reasons()[this];
  }
  raise(ErrorKind::Runtime, why);
}

std::unique_ptr<Queue> Device::create_queue(const QueueOptions&) {
  return std::make_unique<Queue>(*this);
}

std::unique_ptr<Marker> Device::create_marker(bool) { return std::make_unique<DoneMarker>(); }

void Device::upload(void* dst, const void* src, size_t bytes, Queue&) {
  copy_from_host(dst, src, bytes);
}

void Device::download(void* dst, const void* src, size_t bytes, Queue&) {
  copy_to_host(dst, src, bytes);
}

HostBlock Device::allocate_host(size_t bytes, HostKind kind, bool) {
  constexpr size_t kAlignment = 64;
  size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) {
    raise(ErrorKind::Memory, "pinned", "the host has not enough memory",
          "a request of " + std::to_string(bytes) + " bytes", "a smaller one");
  }
  return {reinterpret_cast<std::uintptr_t>(memory), bytes, kind, 0, true};
}

void Device::free_host(const HostBlock& block) noexcept {
  std::free(reinterpret_cast<void*>(block.begin));
}

HostBlock Device::register_host(void* memory, size_t bytes, HostKind kind) {
  return {reinterpret_cast<std::uintptr_t>(memory), bytes, kind, 0, false};
}

void Device::unregister_host(const HostBlock&) {}

void raise_out_of_memory(size_t bytes, size_t at_most) {
  raise(ErrorKind::Memory, "allocate", "out of memory",
        "a request of " + std::to_string(bytes) + " bytes", "at most " + std::to_string(at_most));
}

}  // namespace numbus
