// Kernels that a thread of their own compiles while the interpreter runs them.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>

#include "compile/compiler.h"
#include "ir/kernel.h"

namespace numbus {

class CompilingKernel {
 public:
  explicit CompilingKernel(std::function<compile::Compiled()> compile)
      : compile_(std::move(compile)) {}
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Once it has ended. Raises what the compiler raised; no function: it was given up.
  compile::Compiled take();

  // For the thread.
  void run() noexcept;
  void give_up() noexcept { ended_.store(true, std::memory_order_release); }

 private:
  const std::function<compile::Compiled()> compile_;
  compile::Compiled result_;
  std::exception_ptr error_;
  std::atomic<bool> ended_{false};
};

// Whether there is a processor for the thread, and it is not switched off.
bool compiles_beside();
// Null where it is not so, or no thread is to be had. The function runs on the thread: what it
// needs has to be its own.
std::shared_ptr<CompilingKernel> compile_beside(std::function<compile::Compiled()> compile);
// Gives the setting before.
bool set_compile_beside(bool on);
// Waits until nothing is being compiled. A process does both before it runs its exit handlers: they
// destroy what the compiler made at its first use.
void wait_for_compiling();

}  // namespace numbus
