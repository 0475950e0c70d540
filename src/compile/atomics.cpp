// LLVM has most of them; the rest is a loop around compare-and-swap.
#include "compile/atomics.h"

namespace numbus::compile {

using V = llvm::Value*;
using ir::Intrinsic;

namespace {

template <class F>
V by_exchange(Emit& E, DType t, V pointer, F&& next) {
  auto& B = E.B;
  auto* f = B.GetInsertBlock()->getParent();
  auto* word = B.getIntNTy(8 * itemsize(t));
  auto* type = E.scalar_type(t);
  llvm::Align align(itemsize(t));
  auto* first = B.CreateAlignedLoad(word, pointer, align);
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  auto* before = B.GetInsertBlock();
  auto* again = llvm::BasicBlock::Create(B.getContext(), "again", f);
  auto* done = llvm::BasicBlock::Create(B.getContext(), "swapped", f);
  B.CreateBr(again);
  B.SetInsertPoint(again);
  auto* old = B.CreatePHI(word, 2);
  old->addIncoming(first, before);
  V value = B.CreateBitCast(old, type);
  V wanted = B.CreateBitCast(next(value), word);
  V pair = B.CreateAtomicCmpXchg(pointer, old, wanted, align, llvm::AtomicOrdering::Monotonic,
                                 llvm::AtomicOrdering::Monotonic);
  old->addIncoming(B.CreateExtractValue(pair, 0), B.GetInsertBlock());
  B.CreateCondBr(B.CreateExtractValue(pair, 1), done, again);
  B.SetInsertPoint(done);
  return value;
}

}  // namespace

V atomic(Emit& E, Intrinsic kind, DType t, V pointer, V b, V c) {
  auto& B = E.B;
  using RMW = llvm::AtomicRMWInst;
  llvm::Align align(itemsize(t));
  auto plain = [&](RMW::BinOp op, V value) {
    return B.CreateAtomicRMW(op, pointer, value, align, llvm::AtomicOrdering::Monotonic);
  };
  bool fl = is_float(t), sg = is_signed(t);
  auto* word = B.getIntNTy(8 * itemsize(t));
  auto as_word = [&](V v) { return fl ? B.CreateBitCast(v, word) : v; };
  auto back = [&](V v) { return fl ? B.CreateBitCast(v, E.scalar_type(t)) : v; };
  switch (kind) {
    case Intrinsic::atomic_add: return plain(fl ? RMW::FAdd : RMW::Add, b);
    case Intrinsic::atomic_sub: return fl ? plain(RMW::FAdd, B.CreateFNeg(b)) : plain(RMW::Sub, b);
    case Intrinsic::atomic_and: return plain(RMW::And, b);
    case Intrinsic::atomic_or: return plain(RMW::Or, b);
    case Intrinsic::atomic_xor: return plain(RMW::Xor, b);
    case Intrinsic::atomic_inc: return plain(RMW::UIncWrap, b);
    case Intrinsic::atomic_dec: return plain(RMW::UDecWrap, b);
    case Intrinsic::atomic_exch: return back(plain(RMW::Xchg, as_word(b)));
    case Intrinsic::atomic_cas: {
      V pair =
          B.CreateAtomicCmpXchg(pointer, as_word(c), as_word(b), align,
                                llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
      return back(B.CreateExtractValue(pair, 0));
    }
    case Intrinsic::atomic_load: {
      auto* now = B.CreateAlignedLoad(word, pointer, align);
      now->setAtomic(llvm::AtomicOrdering::Monotonic);
      return back(now);
    }
    default: break;
  }
  bool largest = kind == Intrinsic::atomic_max || kind == Intrinsic::atomic_nanmax;
  if (!fl) return plain(largest ? (sg ? RMW::Max : RMW::UMax) : (sg ? RMW::Min : RMW::UMin), b);
  bool ignores_nan = kind == Intrinsic::atomic_nanmax || kind == Intrinsic::atomic_nanmin;
  return by_exchange(E, t, pointer, [&](V old) {
    if (ignores_nan) return largest ? E.fmax(old, b, true, false) : E.fmin(old, b, true, false);
    // Python's max(old, b), as in Numba: what is there stays unless b is better, so that a NaN
    // there stays, and one that comes changes nothing.
    V better = largest ? B.CreateFCmpOGT(b, old) : B.CreateFCmpOLT(b, old);
    return B.CreateSelect(better, b, old);
  });
}

}  // namespace numbus::compile
