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

// Null where the program would have to wait for the thread: there is one processor, no thread is to
// be had, or it is switched off.
std::shared_ptr<CompilingKernel> compile_beside(const ir::Kernel& k);
// Gives the setting before.
bool set_compile_beside(bool on);
// Waits until nothing is being compiled.
void wait_for_compiling();

}  // namespace numbus
