// Temporary proof that the LLVM link works: JIT-compiles x -> 3 * x + 1.
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <stdexcept>

int numbus_probe(int x) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  std::string why;
  if (!llvm::TargetRegistry::lookupTarget("nvptx64-nvidia-cuda", why)) throw std::runtime_error(why);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("probe", *context);
  auto* i32 = llvm::Type::getInt32Ty(*context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(i32, {i32}, false),
                                          llvm::Function::ExternalLinkage, "f", *module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*context, "", function));
  b.CreateRet(b.CreateAdd(b.CreateMul(function->getArg(0), b.getInt32(3)), b.getInt32(1)));

  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder pb;
  pb.registerModuleAnalyses(mam);
  pb.registerCGSCCAnalyses(cam);
  pb.registerFunctionAnalyses(fam);
  pb.registerLoopAnalyses(lam);
  pb.crossRegisterProxies(lam, fam, cam, mam);
  pb.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*module, mam);

  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(jit->addIRModule({std::move(module), std::move(context)}));
  return llvm::cantFail(jit->lookup("f")).toPtr<int(int)>()(x);
}
