// Loops of generated host code look at the word of interrupts (base/interrupt.h), after all
// optimisation: nothing is added to a loop that counts.
#pragma once

#include <cstdint>

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace numbus::compile {

void insert_polls(llvm::Module& m);
// Of the jump back of a loop that its data keep short, which LLVM cannot know: it runs so many
// times at most.
void mark_short_loop(llvm::Instruction* jump, uint64_t most);
// Of a kernel for a GPU: loops whose end is not known beforehand look, each 4,096 times around, at
// the word that the entry's last parameter is the address of; a thread that finds it set exits. Not
// in kernels whose blocks wait for each other: what they count would not fit any more.
void insert_gpu_polls(llvm::Module& m);

}  // namespace numbus::compile
