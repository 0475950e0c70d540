// Kernels of a grid for the host processor.
#include <llvm/IR/Module.h>

#include "compile/function_host.h"
#include "compile/simt.h"

namespace numbus::compile {
namespace {

using V = llvm::Value*;
using ir::Intrinsic;

class SimtBody : public HostBody {
 public:
  using HostBody::HostBody;

 protected:
  void note_site(V record) override {
    for (int d = 0; d < 6; ++d)
      B.CreateStore(word(d < 3 ? kTid + d : kCtaid + d - 3),
                    B.CreateConstGEP1_64(B.getInt64Ty(), record, uint64_t{Context::kThread} + d));
  }
  V i32(V v) { return B.CreateTrunc(v, B.getInt32Ty()); }
  V to_64(V v) { return B.CreateZExt(v, B.getInt64Ty()); }
  V wait(const ir::Inst& i, V mask, V value, V other) {
    return call("numbus_wait", B.getInt64Ty(),
                {to_->getArg(0), B.getInt64(static_cast<int64_t>(ir::intrinsic_of(i))), mask, value,
                 other, B.getInt64(ir::number_of(i))});
  }

  V intrinsic(const ir::Inst& i, V a, V b, V c, const std::vector<V>& arguments) override {
    Intrinsic which = ir::intrinsic_of(i);
    V none = B.getInt64(0);
    switch (which) {
      case Intrinsic::tid_x:
      case Intrinsic::tid_y:
      case Intrinsic::tid_z:
        return i32(word(kTid + static_cast<int>(which) - static_cast<int>(Intrinsic::tid_x)));
      case Intrinsic::laneid: return B.CreateAnd(i32(word(kLinear)), B.getInt32(31));
      case Intrinsic::lanemask_lt: {
        V lane = B.CreateAnd(i32(word(kLinear)), B.getInt32(31));
        return B.CreateSub(B.CreateShl(B.getInt32(1), lane), B.getInt32(1));
      }
      case Intrinsic::barrier:
      case Intrinsic::grid_barrier: return i32(wait(i, none, none, none));
      case Intrinsic::barrier_count:
      case Intrinsic::barrier_and:
      case Intrinsic::barrier_or: return i32(wait(i, none, to_64(a), none));
      case Intrinsic::syncwarp: return i32(wait(i, to_64(a), none, none));
      case Intrinsic::activemask: {
        // Two calls on different paths stay two.
        V there = wait(i, none, none, none);
        llvm::cast<llvm::CallInst>(there)->addFnAttr(llvm::Attribute::NoMerge);
        llvm::cast<llvm::CallInst>(there)->addFnAttr(llvm::Attribute::Convergent);
        return i32(there);
      }
      case Intrinsic::all_sync:
      case Intrinsic::any_sync:
      case Intrinsic::eq_sync: return B.CreateICmpNE(wait(i, to_64(a), to_64(b), none), none);
      case Intrinsic::ballot:
      case Intrinsic::match_any:
      case Intrinsic::match_all: return i32(wait(i, to_64(a), to_64(b), none));
      case Intrinsic::shfl_idx:
      case Intrinsic::shfl_up:
      case Intrinsic::shfl_down:
      case Intrinsic::shfl_xor: {
        V moved = wait(i, to_64(a), to_word(E, i.type, b), B.CreateSExt(c, B.getInt64Ty()));
        return from_word(E, i.type, moved);
      }
      case Intrinsic::watch:
        call("numbus_watch", B.getVoidTy(),
             {to_->getArg(0), a, b ? to_word(E, i.type, b) : none, B.getInt64(ir::number_of(i)),
              B.getInt64(itemsize(i.type))});
        return none;
      case Intrinsic::leaves:
        B.CreateStore(B.getInt64(ir::number_of(i)), context_word(kEnded));
        return none;
      case Intrinsic::fence:
      case Intrinsic::fence_block:
      case Intrinsic::fence_system:
        if (m_.debug) call("numbus_fence", B.getVoidTy(), {to_->getArg(0)});
        return HostBody::intrinsic(i, a, b, c, arguments);
      default: return HostBody::intrinsic(i, a, b, c, arguments);
    }
  }
};

}  // namespace

void build_simt(llvm::Module& to, const ir::Module& m, const std::string& name, int vector_bytes) {
  llvm::IRBuilder<> b(to.getContext());
  Emit e(b, 1);
  std::vector<llvm::Function*> functions = declare_functions(e, m, to);
  for (size_t n = 0; n < m.functions.size(); ++n) {
    prefer_vectors(functions[n], vector_bytes);
    if (n == 0) functions[n]->addFnAttr(llvm::Attribute::AlwaysInline);
    SimtBody(e, m, m.functions[n], functions).emit(functions[n]);
  }
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, to);
  prefer_vectors(entry, vector_bytes);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  auto block = [&](const char* label) {
    return llvm::BasicBlock::Create(to.getContext(), label, entry);
  };
  b.SetInsertPoint(block("entry"));
  const ir::Function& f = m.functions[0];
  std::vector<V> args = arguments_of_words(e, f, entry->getArg(0), entry->getArg(1));
  if (has_waits(m)) {
    V all = b.CreateCall(functions[0], args);
    b.CreateRet(b.CreateExtractValue(all, 0));
    return;
  }
  // Threads of the block one after the other, each with words of its own that live in registers.
  auto* words = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), kThreadWords));
  auto word = [&](V at, int w) {
    return b.CreateConstGEP1_64(b.getInt64Ty(), at, static_cast<uint64_t>(w));
  };
  for (int w = 0; w < kThreadWords; ++w)
    b.CreateStore(b.CreateLoad(b.getInt64Ty(), word(entry->getArg(0), w)), word(words, w));
  args[0] = words;
  std::vector<llvm::BasicBlock*> next, after;
  std::vector<llvm::PHINode*> at;
  V linear = nullptr;
  V extent[3];
  for (int d = 0; d < 3; ++d) extent[d] = b.CreateLoad(b.getInt64Ty(), word(words, kNtid + d));
  auto* status = b.CreateAlloca(b.getInt32Ty());
  b.CreateStore(b.getInt32(0), status);
  for (int d = 2; d >= 0; --d) {
    auto* before = b.GetInsertBlock();
    auto* head = block("thread");
    next.push_back(block("next"));
    after.push_back(block("after"));
    b.CreateBr(head);
    b.SetInsertPoint(head);
    auto* phi = b.CreatePHI(b.getInt64Ty(), 2);
    phi->addIncoming(b.getInt64(0), before);
    b.CreateStore(phi, word(words, kTid + d));
    linear = linear ? b.CreateAdd(b.CreateMul(linear, extent[d]), phi) : phi;
    at.push_back(phi);
  }
  b.CreateStore(linear, word(words, kLinear));
  V all = b.CreateCall(functions[0], args);
  b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt32Ty(), status), b.CreateExtractValue(all, 0)),
                status);
  for (int d = 0; d < 3; ++d) {
    int level = 2 - d;
    b.CreateBr(next[level]);
    b.SetInsertPoint(next[level]);
    V more = b.CreateAdd(at[level], b.getInt64(1));
    at[level]->addIncoming(more, next[level]);
    b.CreateCondBr(b.CreateICmpSLT(more, extent[d]), at[level]->getParent(), after[level]);
    b.SetInsertPoint(after[level]);
  }
  b.CreateRet(b.CreateLoad(b.getInt32Ty(), status));
}

}  // namespace numbus::compile
