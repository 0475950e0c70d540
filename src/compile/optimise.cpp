// LLVM's pipeline at -O3.
#include "compile/optimise.h"

#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

namespace numbus::compile {

namespace {

// On a host, a loop that a check may leave is unrolled like others: so what one iteration writes
// and the next one reads stays in a register, from iteration to iteration of what is unrolled.
void unroll_checked_loops(bool host) {
  constexpr const char* kName = "unroll-runtime-other-exit-predictable";
  static auto* option = [] {
    const char* options[] = {"numbus", "-unroll-runtime-other-exit-predictable"};
    llvm::cl::ParseCommandLineOptions(2, options);
    return static_cast<llvm::cl::opt<bool>*>(llvm::cl::getRegisteredOptions().lookup(kName));
  }();
  if (option) option->setValue(host);
}

}  // namespace

void optimise(llvm::Module& m, llvm::TargetMachine& machine) {
  unroll_checked_loops(!machine.getTargetTriple().isNVPTX());
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = true;
  // Pairs made of scalars lengthen chains of dependent steps: z*z + c takes 1.4 times as long.
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  // Earlier passes make switches of comparisons (`s == 3 or s == 2 and …`), which the vectoriser of
  // loops does not take; later ones make them again where they are worth it.
  if (!machine.getTargetTriple().isNVPTX())
    builder.registerVectorizerStartEPCallback(
        [](llvm::FunctionPassManager& f, llvm::OptimizationLevel) {
          f.addPass(llvm::LowerSwitchPass());
        });
  Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(m, analyses.modules);
}

}  // namespace numbus::compile
