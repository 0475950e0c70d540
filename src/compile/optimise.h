// LLVM's own optimisation of functions that users write. Fused kernels go without: they are built
// as they should be.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace numbus::compile {

// What passes of all levels ask for, with what the builder knows of the target.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  explicit Analyses(llvm::PassBuilder& builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(calls);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, calls, modules);
  }
};

void optimise(llvm::Module& m, llvm::TargetMachine& machine);

}  // namespace numbus::compile
