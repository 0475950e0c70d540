// From an LLVM module to PTX.
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
#include "compile/optimise.h"
#include "compile/polls.h"

namespace numbus::compile {

std::string emit_ptx(int sm, int ptx, const std::function<void(llvm::Module&)>& build,
                     bool optimised) {
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
  if (llvm::verifyModule(m, &out))
    raise(ErrorKind::Runtime, "[compile] invalid LLVM IR: " + problem);
  if (optimised) {
    optimise(m, *machine);
    insert_gpu_polls(m);
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
