// Kernels of single elementwise instructions over dense blocks, made once and kept: what small
// operations run that no single loop of the interpreter carries out.
#pragma once

#include <memory>
#include <vector>

#include "lazy/plan.h"
#include "lazy/window.h"

namespace numbus::small {

struct ReadyKernel {
  std::shared_ptr<KernelCode> code;
  std::vector<int64_t> params;
};

// Its IR, lowered.
ir::Kernel ready_ir(const Instr& i, DType out, const Window::Input* in, int count);

// The kernel of an instruction whose result is stored as `out`. A predicate is its last operand.
// The steps, and with them the bits, are those of the recorded instruction.
ReadyKernel& ready_kernel(const Instr& i, DType out, const Window::Input* in, int count);

// Runs it over n elements. operands: a dense block for each array, which `out` does not overlap.
void run(ReadyKernel& kernel, const Window::Input* in, int count, int64_t n, char* out,
         const char* const* operands);

}  // namespace numbus::small
