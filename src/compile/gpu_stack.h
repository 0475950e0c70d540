// Recursion on a GPU: whether the stack of a thread has room for one more call.
//
// The driver gives the threads of all kernels stacks of one size, which a launch of a kernel with
// recursion passes along. What lies beyond ends the CUDA context, so that each call that leads back
// to its function compares the stack pointer with the end that the entry has computed.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/function.h"

namespace numbus::compile {

// Words that each function of a module with recursion is given after the context: the lowest
// address that the stack pointer of a call may have, and the address of the word of Ctrl-C.
constexpr unsigned kStackWords = 2;

// Whether a call of `to` may lead back to `f`, both of the module.
bool leads_back(const ir::Module& m, const ir::Function& to, const ir::Function& f);

llvm::Value* stack_pointer(llvm::IRBuilder<>& b);
// In an entry whose threads have stacks of so many bytes: kStackWords' first word.
llvm::Value* end_of_stack(llvm::IRBuilder<>& b, llvm::Value* bytes);
// Some of the calls, chosen by the clock, look at the word of Ctrl-C; a thread that finds it set
// exits. Recursion with an end may take for ever, too.
void poll_by_clock(llvm::IRBuilder<>& b, llvm::Value* stop);
// After optimisation, when it is known what functions keep in memory: how much of the stack
// end_of_stack() leaves free.
void set_stack_reserve(llvm::Module& m);

}  // namespace numbus::compile
