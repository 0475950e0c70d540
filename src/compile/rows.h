// The steps of kernel IR that are one value from other values, on W lanes: what bodies of kernels
// and functions share.
#pragma once

#include <vector>

#include "compile/emit.h"
#include "ir/kernel.h"

namespace numbus::compile {

struct Value {
  llvm::Value* v = nullptr;
  llvm::Value* im = nullptr;  // of complex values
};

// Null for steps that are none of these. t: the type of operand a.
llvm::Value* primitive(Emit& E, const ir::Inst& i, DType t, llvm::Value* a, llvm::Value* b,
                       llvm::Value* c);

// The steps between if_any and end_if: a branch that is rarely taken.
struct Rare {
  llvm::BasicBlock *from = nullptr, *join = nullptr;
};
Rare begin_rare(Emit& E, llvm::Value* any);
// `end` is the index of end_if; values of the rare part that later steps use become phis.
void end_rare(Emit& E, const std::vector<ir::Inst>& body, size_t end, Rare r,
              std::vector<Value>& at, bool choose = false);

}  // namespace numbus::compile
