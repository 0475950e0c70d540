// What runs the launches of a plan: one executor per kind of device.
#pragma once

#include "lazy/entries.h"
#include "lazy/late.h"
#include "lazy/replay.h"

namespace numbus {

class Executor {
 public:
  virtual ~Executor() = default;
  // The step's parameters and results are complete.
  virtual void run(Runtime& runtime, Device& device, KernelStep& step) = 0;
  virtual void call(Runtime& runtime, Device& device, KernelStep& step) {
    run_call(runtime, device, step);
  }
  // The step, whichever of the two it is.
  void launch(Runtime& runtime, Device& device, KernelStep& step) {
    if (step.call)
      call(runtime, device, step);
    else
      run(runtime, device, step);
  }
  // What launches whole runs, made for one of them; null: each step is launched by itself.
  virtual std::unique_ptr<Replay> make_replay(Device&) { return nullptr; }
  // Gives back memory that these keep; false: there was none.
  virtual bool drop_replays(Device&) { return false; }
  // Memory for reports of a run that are looked at later; null: each step waits for its own.
  virtual std::unique_ptr<LateWords> late_words(Device&, size_t) { return nullptr; }
};

// So much work, in steps of single points, is worth compiling for.
constexpr int64_t kWorthCompiling = 500'000;
// Whether the code is compiled. Where `work`, in steps of single points, or what the interpreter
// has done so far makes that worth it, it is loaded from disk, or else compiled: now where the
// caller waits for it or the mode demands it, otherwise on a thread.
bool compiled(Runtime& runtime, KernelCode& code, int64_t work, bool waits = false);
// Makes what was compiled the code; false: there is none.
bool install(Runtime& runtime, KernelCode& code, compile::Compiled c);

Executor& executor_of(Device& device);
Executor& gpu_executor();

// The PTX of every kernel of a run, with and without aligned arguments: for inspection and tests,
// needs no GPU.
std::vector<std::string> ptx_of(const Run& run, int sm, int ptx);

}  // namespace numbus
