// The stack pointer by PTX's instruction for it, which ptxas knows as a register.
#include "compile/gpu_stack.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <set>

namespace numbus::compile {
namespace {

using V = llvm::Value*;

constexpr const char* kReserve = "numbus_stack_reserve";
// Of each function, for the registers that it saves and spills: ptxas has 255 of four bytes.
constexpr uint64_t kRegisters = 1024;

V assembly(llvm::IRBuilder<>& b, const char* text, const char* constraints, llvm::Type* result) {
  auto* type = llvm::FunctionType::get(result, false);
  return b.CreateCall(type, llvm::InlineAsm::get(type, text, constraints, true));
}

}  // namespace

bool leads_back(const ir::Module& m, const ir::Function& to, const ir::Function& f) {
  std::set<const ir::Function*> seen{&to};
  std::vector<const ir::Function*> next{&to};
  while (!next.empty()) {
    const ir::Function* at = next.back();
    next.pop_back();
    if (at == &f) return true;
    for (const ir::Inst& i : at->body)
      if (i.op == Op::call && seen.insert(&m.functions[i.imm]).second)
        next.push_back(&m.functions[i.imm]);
  }
  return false;
}

V stack_pointer(llvm::IRBuilder<>& b) {
  return assembly(b, "stacksave.u64 $0;", "=l", b.getInt64Ty());
}

V end_of_stack(llvm::IRBuilder<>& b, V bytes) {
  auto* m = b.GetInsertBlock()->getModule();
  auto reserve = m->getOrInsertFunction(kReserve, llvm::FunctionType::get(b.getInt64Ty(), false));
  return b.CreateAdd(b.CreateSub(stack_pointer(b), bytes), b.CreateCall(reserve));
}

void poll_by_clock(llvm::IRBuilder<>& b, V stop) {
  // A window of 512 cycles out of each 2^16: calls that follow each other within it always meet it,
  // others in one of 128 cases.
  constexpr uint32_t kPeriod = 1 << 16, kWindow = 1 << 9;
  auto* f = b.GetInsertBlock()->getParent();
  auto& c = b.getContext();
  auto unlikely = llvm::MDBuilder(c).createUnlikelyBranchWeights();
  auto* look = llvm::BasicBlock::Create(c, "look", f);
  auto* leave = llvm::BasicBlock::Create(c, "leave", f);
  auto* on = llvm::BasicBlock::Create(c, "on", f);
  V clock = assembly(b, "mov.u32 $0, %clock;", "=r", b.getInt32Ty());
  V in_period = b.CreateAnd(clock, b.getInt32(kPeriod - 1));
  b.CreateCondBr(b.CreateICmpULT(in_period, b.getInt32(kWindow)), look, on, unlikely);
  b.SetInsertPoint(look);
  V at = b.CreateIntToPtr(stop, b.getPtrTy(1));
  V word = b.CreateAlignedLoad(b.getInt32Ty(), at, llvm::Align(4), true);
  b.CreateCondBr(b.CreateICmpNE(word, b.getInt32(0)), leave, on, unlikely);
  b.SetInsertPoint(leave);
  assembly(b, "exit;", "~{memory}", b.getVoidTy());
  b.CreateBr(on);
  b.SetInsertPoint(on);
}

void set_stack_reserve(llvm::Module& m) {
  auto* asked = m.getFunction(kReserve);
  if (!asked) return;
  // Calls that do not look may be nested: of functions that do not call themselves.
  uint64_t reserve = kRegisters;
  for (llvm::Function& f : m) {
    if (f.isDeclaration()) continue;
    reserve += kRegisters;
    for (auto& block : f)
      for (auto& i : block)
        if (auto* a = llvm::dyn_cast<llvm::AllocaInst>(&i))
          if (auto size = a->getAllocationSize(m.getDataLayout())) reserve += *size;
  }
  while (!asked->use_empty()) {
    auto* call = llvm::cast<llvm::CallInst>(asked->user_back());
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), reserve));
    call->eraseFromParent();
  }
  asked->eraseFromParent();
}

}  // namespace numbus::compile
