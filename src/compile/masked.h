// Loads and stores of vectors under a mask.
#pragma once

#include "compile/emit.h"

namespace numbus::compile {

// Null or all true: no mask. Lanes without it are zero.
llvm::Value* load_masked(Emit& E, llvm::Type* t, llvm::Value* ptr, llvm::Value* mask,
                         unsigned align);
void store_masked(Emit& E, llvm::Value* v, llvm::Value* ptr, int align, llvm::Value* mask);

}  // namespace numbus::compile
