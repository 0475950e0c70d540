// What runs the launches of a plan: one executor per kind of device.
#pragma once

#include "lazy/entries.h"
#include "lazy/late.h"

namespace numbus {

class Executor {
 public:
  virtual ~Executor() = default;
  // The step's parameters are complete. results: where each reduction stores its (first) result.
  virtual void run(Runtime& runtime, Device& device, KernelStep& step, char* const* results) = 0;
  virtual void call(Runtime& runtime, Device& device, KernelStep& step) {
    run_call(runtime, device, step);
  }
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
