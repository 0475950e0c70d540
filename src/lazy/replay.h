// Launches of a run that are queued together: a device may give them to its driver as one.
#pragma once

#include <memory>
#include <vector>

#include "lazy/plan.h"

namespace numbus {

class Run;
class Runtime;

// Of one run: what the device made of its launches, for the next time.
class Replay {
 public:
  explicit Replay(Device& device) : device_(device) {}
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
  // Memory that stays at its place while there is enough, for one run at a time; null: another run
  // has it.
  virtual char* take_arena(size_t bytes) = 0;
  virtual void give_arena_back() = 0;
  // Gives back what it keeps for the next time.
  virtual void drop() = 0;

 private:
  Device& device_;
};

}  // namespace numbus
