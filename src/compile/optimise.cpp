// LLVM's pipeline at -O3.
#include "compile/optimise.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

#include <condition_variable>
#include <mutex>

namespace numbus::compile {

namespace {

// LLVM prints remarks about loops that were marked for vectors and are none: they are no user's.
struct QuietHandler : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& d) override {
    return d.getSeverity() != llvm::DS_Error;
  }
};

// On a host, a loop that a check may leave is unrolled like others: so what one iteration writes
// and the next one reads stays in a register, from iteration to iteration of what is unrolled.
// LLVM's option is one of the process, and a thread may compile for the host while another one
// compiles for a GPU: the latter waits as long as it wants the other value.
class CheckedLoops {
 public:
  explicit CheckedLoops(bool unrolled) {
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return users == 0 || setting == unrolled; });
    if (users++ > 0) return;
    setting = unrolled;
    if (auto* known = option()) known->setValue(unrolled);
  }
  ~CheckedLoops() {
    const std::lock_guard guard(lock);
    --users;
    changed.notify_all();
  }
  CheckedLoops(const CheckedLoops&) = delete;
  CheckedLoops& operator=(const CheckedLoops&) = delete;

 private:
  static llvm::cl::opt<bool>* option() {
    constexpr const char* kName = "unroll-runtime-other-exit-predictable";
    static auto* found = [] {
      const char* options[] = {"numbus", "-unroll-runtime-other-exit-predictable"};
      llvm::cl::ParseCommandLineOptions(2, options);
      return static_cast<llvm::cl::opt<bool>*>(llvm::cl::getRegisteredOptions().lookup(kName));
    }();
    return found;
  }

  inline static std::mutex lock;
  inline static std::condition_variable changed;
  inline static int users = 0;
  inline static bool setting = false;
};

}  // namespace

void optimise(llvm::Module& m, llvm::TargetMachine& machine) {
  m.getContext().setDiagnosticHandler(std::make_unique<QuietHandler>());
  const CheckedLoops unrolled(!machine.getTargetTriple().isNVPTX());
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
