// A function that calls itself at its end needs no stack for it; but then nothing ends one that
// calls itself without end. So this runs LLVM's pass for such calls by itself, where its loops can
// be told from the program's own, and has them count.
#include "compile/recursion.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/DeadArgumentElimination.h>
#include <llvm/Transforms/IPO/SCCP.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/TailRecursionElimination.h>

#include <vector>

#include "compile/optimise.h"

namespace numbus::compile {

namespace {

// Frames that one loop may stand for: more than a stack has room for.
constexpr uint32_t kMostFrames = uint32_t{1} << 20;
constexpr const char* kNoTailCalls = "disable-tail-calls";

// The loop at `head`, which was the function's first block before its calls became jumps to it.
void count_frames(llvm::Function& f, llvm::BasicBlock* head) {
  auto& c = f.getContext();
  llvm::IRBuilder<> b(c);
  std::vector<llvm::BasicBlock*> from(llvm::pred_begin(head), llvm::pred_end(head));
  b.SetInsertPoint(head, head->begin());
  auto* left = b.CreatePHI(b.getInt32Ty(), static_cast<unsigned>(from.size()));
  auto* deep = llvm::BasicBlock::Create(c, "too_deep", &f);
  for (llvm::BasicBlock* block : from) {
    if (block == &f.getEntryBlock()) {
      left->addIncoming(b.getInt32(kMostFrames), block);
      continue;
    }
    // Not where the jump is: LLVM tests first whether a loop ends at all, and so needs no frame for
    // a run that ends the recursion, where a loop has no other exit at its end.
    auto* on = block->splitBasicBlock(block->getFirstInsertionPt(), "call");
    block->getTerminator()->eraseFromParent();
    b.SetInsertPoint(block);
    auto* fewer = b.CreateSub(left, b.getInt32(1));
    left->addIncoming(fewer, on);
    b.CreateCondBr(b.CreateICmpEQ(fewer, b.getInt32(0)), deep, on,
                   llvm::MDBuilder(c).createUnlikelyBranchWeights());
  }
  b.SetInsertPoint(deep);
  auto callee = f.getParent()->getOrInsertFunction("numbus_too_deep",
                                                   llvm::FunctionType::get(b.getVoidTy(), false));
  auto* call = b.CreateCall(callee);
  for (auto a : {llvm::Attribute::NoReturn, llvm::Attribute::NoUnwind, llvm::Attribute::Cold})
    call->addFnAttr(a);
  b.CreateUnreachable();
}

}  // namespace

CallGraph::CallGraph(llvm::Module& m) {
  for (llvm::Function& f : m)
    for (auto& block : f)
      for (auto& i : block)
        if (llvm::isa<llvm::CallBase>(i))
          for (llvm::Value* v : i.operands())
            if (auto* to = llvm::dyn_cast<llvm::Function>(v); to && !to->isDeclaration())
              calls_[&f].insert(to);
}

bool CallGraph::reaches(llvm::Function* from, llvm::Function* f) const {
  std::set<llvm::Function*> seen;
  std::vector<llvm::Function*> next{from};
  while (!next.empty()) {
    auto found = calls_.find(next.back());
    next.pop_back();
    if (found == calls_.end()) continue;
    for (auto* to : found->second) {
      if (to == f) return true;
      if (seen.insert(to).second) next.push_back(to);
    }
  }
  return false;
}

bool CallGraph::leads_back(llvm::Function* to, llvm::Function* f) const {
  return to == f || reaches(to, f);
}

void loop_tail_calls(llvm::Module& m, llvm::TargetMachine& machine) {
  CallGraph graph(m);
  std::set<llvm::Function*> recursive;
  for (llvm::Function& f : m)
    if (graph.calls_itself(&f)) recursive.insert(&f);
  if (recursive.empty()) return;

  llvm::PassBuilder builder(&machine);
  Analyses analyses(builder);
  auto simplify = [&] {
    llvm::FunctionPassManager p;
    p.addPass(llvm::SimplifyCFGPass());
    p.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    p.addPass(llvm::EarlyCSEPass());
    p.addPass(llvm::InstCombinePass());
    p.addPass(llvm::SimplifyCFGPass());
    return llvm::createModuleToFunctionPassAdaptor(std::move(p));
  };
  // The status of a function that raises nothing is no result, and its checks no code.
  llvm::ModulePassManager first;
  first.addPass(simplify());
  first.addPass(llvm::IPSCCPPass(llvm::IPSCCPOptions(/*AllowFuncSpec=*/false)));
  first.addPass(llvm::DeadArgumentEliminationPass());
  first.addPass(simplify());
  first.run(m, analyses.modules);

  CallGraph now(m);
  for (llvm::Function& f : m) {
    if (f.isDeclaration() || !now.calls_itself(&f)) continue;
    f.removeFnAttr(kNoTailCalls);
    llvm::BasicBlock* head = &f.getEntryBlock();
    llvm::TailCallElimPass().run(f, analyses.functions);
    if (head != &f.getEntryBlock()) count_frames(f, head);
    f.addFnAttr(kNoTailCalls, "true");
  }
}

}  // namespace numbus::compile
