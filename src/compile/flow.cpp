// Loops and branches in LLVM's terms.
#include "compile/flow.h"

namespace numbus::compile {

using V = llvm::Value*;

V counted_loop(llvm::IRBuilder<>& b, V from, V to, V step, std::vector<V>& carried,
               const std::function<void(V)>& body) {
  auto* before = b.GetInsertBlock();
  auto *head = llvm::BasicBlock::Create(b.getContext(), "iteration", before->getParent()),
       *done = llvm::BasicBlock::Create(b.getContext(), "done", before->getParent());
  b.CreateCondBr(b.CreateICmpSLT(from, to), head, done);
  b.SetInsertPoint(head);
  auto phi = [&](V first) {
    auto* p = b.CreatePHI(first->getType(), 2);
    p->addIncoming(first, before);
    return p;
  };
  auto* i = phi(from);
  std::vector<llvm::PHINode*> held;
  for (V v : carried) held.push_back(phi(v));
  std::vector<V> initial = carried;
  carried.assign(held.begin(), held.end());
  body(i);
  V next = b.CreateAdd(i, step);
  auto* last = b.GetInsertBlock();
  i->addIncoming(next, last);
  for (size_t f = 0; f < held.size(); ++f) held[f]->addIncoming(carried[f], last);
  b.CreateCondBr(b.CreateICmpSLT(next, to), head, done);
  b.SetInsertPoint(done);
  auto following = [&](V none, V some) {
    auto* p = phi(none);
    p->addIncoming(some, last);
    return p;
  };
  V end = following(from, next);
  for (size_t f = 0; f < held.size(); ++f) carried[f] = following(initial[f], carried[f]);
  return end;
}

void branch(llvm::IRBuilder<>& b, V condition, const std::function<void()>& yes,
            const std::function<void()>& no) {
  llvm::Function* f = b.GetInsertBlock()->getParent();
  auto* then = llvm::BasicBlock::Create(b.getContext(), "then", f);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "after", f);
  auto* other = no ? llvm::BasicBlock::Create(b.getContext(), "else", f) : after;
  b.CreateCondBr(condition, then, other);
  b.SetInsertPoint(then);
  yes();
  b.CreateBr(after);
  if (no) {
    b.SetInsertPoint(other);
    no();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
}

}  // namespace numbus::compile
