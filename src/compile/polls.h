// Loops of generated host code look at the word of interrupts (base/interrupt.h), after all
// optimisation: nothing is added to a loop that counts.
#pragma once

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace numbus::compile {

void insert_polls(llvm::Module& m);
// Of the jump back of a loop that counts from zero to a small number, as LLVM knows at least when
// it looks at what the loop compares with: it needs no polls, in whatever form it ends up.
void mark_short_loop(llvm::Instruction* jump);
// Of a kernel for a GPU: loops that are not known to be short look, now and then, at the word that
// the function's parameter of this name is the address of; a thread that finds it set exits.
// Without `long_loops` only those whose end is not known beforehand. Not in kernels whose blocks
// wait for each other: what they count would not fit any more.
constexpr const char* kStopName = "stop";
void insert_gpu_polls(llvm::Module& m, bool long_loops);

}  // namespace numbus::compile
