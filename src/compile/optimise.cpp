// LLVM's pipeline at -O3.
#include "compile/optimise.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

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
      // LLVM 19 splits calls by what is known of their operands, and copies a barrier that stands
      // before one: threads of a warp then wait at two barriers, for ever.
      const char* options[] = {"numbus", "-unroll-runtime-other-exit-predictable",
                               "-callsite-splitting-duplication-threshold=0"};
      llvm::cl::ParseCommandLineOptions(3, options);
      return static_cast<llvm::cl::opt<bool>*>(llvm::cl::getRegisteredOptions().lookup(kName));
    }();
    return found;
  }

  inline static std::mutex lock;
  inline static std::condition_variable changed;
  inline static int users = 0;
  inline static bool setting = false;
};

// Whether this may be a shift, extended or chosen.
bool may_be_shift(const llvm::Value* v) {
  auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i) return false;
  switch (i->getOpcode()) {
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::Select:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::Call: return true;
    default: return false;
  }
}

// LLVM 19 computes `float(1 << n) * c` by adding n to the exponent of c, and then takes a register
// of a mask for n, of which only the lowest bit was meant: a wrong number where n is a truth value
// of comparisons. It does not look through a fence.
void keep_products_of_shifts(llvm::Module& m) {
  std::vector<llvm::Instruction*> casts;
  for (llvm::Function& f : m)
    for (llvm::Instruction& i : llvm::instructions(f)) {
      const bool product =
          i.getOpcode() == llvm::Instruction::FMul || i.getOpcode() == llvm::Instruction::FDiv;
      if (!product) continue;
      for (llvm::Value* v : i.operands()) {
        auto* cast = llvm::dyn_cast<llvm::CastInst>(v);
        if (cast && (llvm::isa<llvm::UIToFPInst>(cast) || llvm::isa<llvm::SIToFPInst>(cast)) &&
            may_be_shift(cast->getOperand(0)))
          casts.push_back(cast);
      }
    }
  std::sort(casts.begin(), casts.end());
  casts.erase(std::unique(casts.begin(), casts.end()), casts.end());
  for (llvm::Instruction* cast : casts) {
    llvm::IRBuilder<> after(cast->getNextNode());
    auto* fenced = after.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {cast->getType()},
                                         {llvm::PoisonValue::get(cast->getType())});
    cast->replaceAllUsesWith(fenced);
    fenced->setArgOperand(0, cast);
  }
}

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
  if (!machine.getTargetTriple().isNVPTX()) keep_products_of_shifts(m);
}

}  // namespace numbus::compile
