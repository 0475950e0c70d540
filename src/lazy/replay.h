// Launches of a run that are queued together: a device may give them to its driver as one.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "lazy/plan.h"

namespace numbus {

class Run;
class Runtime;

// A value of a few bytes that the host has while the run that computes it goes on, such as a loss
// that a program adds up after each step.
class EarlyValue {
 public:
  virtual ~EarlyValue() = default;
  // Waits until it is there; false: it has to be read as others are.
  virtual bool wait() = 0;
  virtual const char* bytes() const = 0;
  // Of which launch it is the value; the next one writes to the same memory.
  virtual int64_t launch() const = 0;
};
constexpr int64_t kEarlyBytes = 64;
constexpr size_t kEarlyValues = 4;  // of a run

// Of one run: what the device made of its launches, for the next time.
class Replay {
 public:
  explicit Replay(Device& device) : device_(device) {
    wanted_.reserve(kEarlyValues);
    early_.reserve(kEarlyValues);
  }
  virtual ~Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  // Windows of several devices have runs in common; this is for one of them.
  Device& device() const { return device_; }
  // Launches the steps of the run, whose parameters and results are complete, each after those that
  // it has to wait for (waits.h); false, or raises: none of them.
  virtual bool launch(Runtime& runtime, Run& run, const Window& window) = 0;
  // Where the queue launches them one by one: in this order, or, if it is empty, in the run's.
  virtual std::vector<int> order(const Run&, const Window&) { return {}; }
  // The host reads what a slot of the window then holds right after launches: those to come give it
  // early.
  void want_early(int slot) {
    if (wanted_.size() < kEarlyValues && std::ranges::find(wanted_, slot) == wanted_.end())
      wanted_.push_back(slot);
  }
  struct Early {
    int slot;
    std::shared_ptr<EarlyValue> value;
  };
  // Of the last launch.
  const std::vector<Early>& early() const { return early_; }
  // Where the queue has launched them one by one.
  virtual void launched_each(const Run&, const Window&) noexcept {}
  // Memory that stays at its place while there is enough, for one run at a time; null: another run
  // has it.
  virtual char* take_arena(size_t bytes) = 0;
  virtual void give_arena_back() = 0;
  // Gives back what it keeps for the next time.
  virtual void drop() = 0;

 protected:
  std::vector<int> wanted_;
  std::vector<Early> early_;

 private:
  Device& device_;
};

}  // namespace numbus
