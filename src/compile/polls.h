// Loops of generated host code look at the word of interrupts (base/interrupt.h), after all
// optimisation: nothing is added to a loop that counts.
#pragma once

namespace llvm {
class Module;
}

namespace numbus::compile {

void insert_polls(llvm::Module& m);

}  // namespace numbus::compile
