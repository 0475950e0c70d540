// From an LLVM module to PTX.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>

#include "base/error.h"
#include "compile/gpu.h"
#include "compile/gpu_stack.h"
#include "compile/optimise.h"
#include "compile/polls.h"

namespace numbus::compile {
namespace {

// LLVM 19's NVPTX converts a signed bit to a float as if it were 1, and not -1. Optimisation makes
// such conversions of the negative of a comparison.
void convert_signed_bits(llvm::Module& m) {
  for (llvm::Function& f : m)
    for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
      if (!llvm::isa<llvm::SIToFPInst>(i) || !i.getOperand(0)->getType()->isIntegerTy(1)) continue;
      llvm::IRBuilder<> b(&i);
      auto number = [&](double v) { return llvm::ConstantFP::get(i.getType(), v); };
      i.replaceAllUsesWith(b.CreateSelect(i.getOperand(0), number(-1), number(0)));
      i.eraseFromParent();
    }
}

}  // namespace

std::string emit_ptx(int sm, int ptx, const std::function<void(llvm::Module&)>& build,
                     bool optimised, bool long_loops) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget("nvptx64-nvidia-cuda", problem);
  if (!target) raise(ErrorKind::Runtime, "[compile] no NVPTX target: " + problem);
  // LLVM 19 knows processors up to sm_90a and PTX up to 8.5; newer GPUs run that PTX as it is.
  sm = sm >= 90 ? 90 : sm;
  ptx = std::min(ptx, 85);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine("nvptx64-nvidia-cuda", "sm_" + std::to_string(sm),
                                  "+ptx" + std::to_string(ptx), options, llvm::Reloc::PIC_));
  llvm::LLVMContext context;
  llvm::Module m("kernel", context);
  m.setDataLayout(machine->createDataLayout());
  m.setTargetTriple("nvptx64-nvidia-cuda");
  build(m);
  llvm::raw_string_ostream out(problem);
  auto verify = [&] {
    if (llvm::verifyModule(m, &out))
      raise(ErrorKind::Runtime, "[compile] invalid LLVM IR: " + problem);
  };
  verify();
  if (optimised) {
    optimise(m, *machine);
    set_stack_reserve(m);
    insert_gpu_polls(m, long_loops);
    convert_signed_bits(m);
    verify();
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    raise(ErrorKind::Runtime, "[compile] the target emits no PTX");
  passes.run(m);
  return std::string(buffer.data(), buffer.size());
}

}  // namespace numbus::compile
