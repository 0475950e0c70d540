// Masked accesses, and a way round what LLVM 19 makes of narrow ones.
#include "compile/masked.h"

#include <llvm/IR/InlineAsm.h>

#include <algorithm>

namespace numbus::compile {

using llvm::Type;
using V = llvm::Value*;

namespace {

// LLVM 19 widens masked accesses of less than 16 bytes and takes the bits of the mask register that
// this adds for zero, which those of an inverted test of bytes, or of one value for all lanes, are
// not. They are widened here instead, the mask through an integer that LLVM cannot see through.
int widened(Emit& E, Type* t) {
  auto* v = llvm::cast<llvm::FixedVectorType>(t);
  unsigned bytes = t->getPrimitiveSizeInBits() / 8, n = v->getNumElements();
  return static_cast<int>(bytes < 16 && !E.by_element ? n * 16 / bytes : n);
}
V widen_mask(Emit& E, V mask, int lanes, int wide) {
  auto& B = E.B;
  if (wide == lanes) return mask;
  auto* i32 = B.getInt32Ty();
  V bits = B.CreateZExt(B.CreateBitCast(mask, B.getIntNTy(lanes)), i32);
  auto* opaque =
      llvm::InlineAsm::get(llvm::FunctionType::get(i32, {i32}, false), "", "=r,0", false);
  bits = B.CreateAnd(B.CreateCall(opaque, {bits}), B.getInt32((1u << lanes) - 1));
  return B.CreateBitCast(B.CreateTrunc(bits, B.getIntNTy(wide)),
                         llvm::FixedVectorType::get(B.getInt1Ty(), wide));
}
}  // namespace

V load_masked(Emit& E, Type* t, V ptr, V mask, unsigned align) {
  auto& B = E.B;
  if (E.by_element && t->isVectorTy() && (!mask || E.is_all_true(mask)) &&
      align < t->getPrimitiveSizeInBits() / 8) {
    Type* element = t->getScalarType();
    V all = llvm::PoisonValue::get(t);
    // What the first element is aligned to, the others are not: LLVM would join them into vectors.
    unsigned own = std::min<unsigned>(align, element->getPrimitiveSizeInBits() / 8);
    int lanes = llvm::cast<llvm::FixedVectorType>(t)->getNumElements();
    for (int i = 0; i < lanes; ++i) {
      V at = B.CreateConstGEP1_64(element, ptr, i);
      all = B.CreateInsertElement(all, B.CreateAlignedLoad(element, at, llvm::Align(own)), i);
    }
    return all;
  }
  if (!mask || E.is_all_true(mask)) return B.CreateAlignedLoad(t, ptr, llvm::Align(align));
  if (E.W == 1) {  // a branch: the address may be invalid
    llvm::Function* f = B.GetInsertBlock()->getParent();
    auto* before = B.GetInsertBlock();
    auto* yes = llvm::BasicBlock::Create(B.getContext(), "load", f);
    auto* after = llvm::BasicBlock::Create(B.getContext(), "loaded", f);
    B.CreateCondBr(mask, yes, after);
    B.SetInsertPoint(yes);
    V v = B.CreateAlignedLoad(t, ptr, llvm::Align(align));
    B.CreateBr(after);
    B.SetInsertPoint(after);
    auto* phi = B.CreatePHI(t, 2);
    phi->addIncoming(llvm::Constant::getNullValue(t), before);
    phi->addIncoming(v, yes);
    return phi;
  }
  int lanes = llvm::cast<llvm::FixedVectorType>(t)->getNumElements(), wide = widened(E, t);
  Type* whole = llvm::FixedVectorType::get(t->getScalarType(), wide);
  V v = B.CreateMaskedLoad(whole, ptr, llvm::Align(align), widen_mask(E, mask, lanes, wide),
                           llvm::Constant::getNullValue(whole));
  if (wide == lanes) return v;
  llvm::SmallVector<int, 16> low;
  for (int i = 0; i < lanes; ++i) low.push_back(i);
  return B.CreateShuffleVector(v, low);
}

void store_masked(Emit& E, V v, V ptr, int align, V mask) {
  auto& B = E.B;
  int lanes = llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
  int wide = widened(E, v->getType());
  if (wide > lanes) {
    llvm::SmallVector<int, 16> more;
    for (int i = 0; i < wide; ++i) more.push_back(i < lanes ? i : -1);
    v = B.CreateShuffleVector(v, more);
  }
  B.CreateMaskedStore(v, ptr, llvm::Align(align), widen_mask(E, mask, lanes, wide));
}

}  // namespace numbus::compile
