// Reduction states as LLVM values: identity, merge, result.
#pragma once

#include <vector>

#include "compile/emit.h"
#include "compile/gpu.h"

namespace numbus::compile {

using State = std::vector<llvm::Value*>;

State identity(Emit& e, const GpuReduce& r);
// A state of elements as merge() takes it.
State settle(Emit& e, const GpuReduce& r, const State& s);
// Of settled states, and of what was merged.
State merge(Emit& e, const GpuReduce& r, const State& a, const State& b);
// The value(s) to store: one, or real and imaginary part.
State finish(Emit& e, const GpuReduce& r, const State& s, llvm::Value* ddof);

}  // namespace numbus::compile
