// LLVM's own optimisation of functions that users write. Fused kernels go without: they are built
// as they should be.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace numbus::compile {

void optimise(llvm::Module& m, llvm::TargetMachine& machine);

}  // namespace numbus::compile
