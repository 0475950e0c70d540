// The memory of a window's storages while its plan runs.
#pragma once

#include <utility>
#include <vector>

#include "device/host_memory.h"
#include "lazy/run.h"

namespace numbus {

// Gives storages memory when a step needs them. Where there is none, those that the step under way
// does not need wait in the host's memory until a later one does; the one that is needed last goes
// first. Other runs, and other threads, do not touch the memory of this one.
class RunMemory {
 public:
  RunMemory(const Window& w, Run& run, Device& device);
  ~RunMemory();
  RunMemory(const RunMemory&) = delete;

  // Its storages stay until the next step.
  void begin(const KernelStep& step) { step_ = &step; }
  // The memory of a storage of that step, with its elements if it has any.
  void need(int storage) {
    if (!run_.data[storage]) give(storage);
  }
  // Whether its elements wait on the host.
  bool is_away(int storage) const;
  // A storage that is not in memory has died.
  void forget(int storage) noexcept;
  // At the end: true where the storage waits on the host, and does so as the base's elements from
  // now on.
  bool hand_over(int storage, Base& b) noexcept;

  // Of this thread's latest run: sends one storage to the host, or counts the bytes of all that
  // could go.
  static bool free_one(Device& d);
  static size_t may_free(Device& d);

  size_t bytes(int storage) const;

 private:
  void give(int storage);
  bool of_base(int storage) const;
  bool may_go(int storage) const;
  size_t next_use(int storage) const;
  bool free_last_needed();

  const Window& window_;
  Run& run_;
  Device& device_;
  const bool spills_;
  RunMemory* before_ = nullptr;
  const KernelStep* step_ = nullptr;
  std::vector<std::pair<int, HostBlock>> away_;  // storages that are no base's elements
};

// Whether a step needs more memory than its device has, however much is spilled: then the window's
// instructions are carried out one by one.
bool is_too_large(const Window& w, const Run& run, Device& d);

}  // namespace numbus
