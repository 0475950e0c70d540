// Atomic operations of kernels, for every target.
#pragma once

#include "compile/emit.h"
#include "ir/function.h"

namespace numbus::compile {

// The value that stood at `pointer` before. c: what a compare-and-swap expects there.
llvm::Value* atomic(Emit& E, ir::Intrinsic kind, DType t, llvm::Value* pointer, llvm::Value* b,
                    llvm::Value* c);

}  // namespace numbus::compile
