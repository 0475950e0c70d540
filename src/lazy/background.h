// Kernels that a thread of their own compiles while the interpreter runs them.
#pragma once

#include <atomic>
#include <exception>
#include <memory>

#include "compile/compiler.h"
#include "ir/kernel.h"

namespace numbus {

class CompilingKernel {
 public:
  explicit CompilingKernel(const ir::Kernel& k) : kernel_(k) {}
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Once it has ended. Raises what the compiler raised; no function: it was given up.
  compile::Compiled take();

  // For the thread.
  void run() noexcept;
  void give_up() noexcept { ended_.store(true, std::memory_order_release); }

 private:
  const ir::Kernel kernel_;
  compile::Compiled result_;
  std::exception_ptr error_;
  std::atomic<bool> ended_{false};
};

// Whether there is a processor for the thread, and it is not switched off.
bool compiles_beside();
// Null where it is not so, or no thread is to be had.
std::shared_ptr<CompilingKernel> compile_beside(const ir::Kernel& k);
// Gives the setting before.
bool set_compile_beside(bool on);
// Waits until nothing is being compiled.
void wait_for_compiling();

}  // namespace numbus
