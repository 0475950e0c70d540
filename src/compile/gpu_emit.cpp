// Division and square root as the hardware's own routines do them, without their slow paths;
// atomics.
#include "compile/gpu_emit.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

namespace numbus::compile {

using V = llvm::Value*;
using llvm::Intrinsic::ID;

namespace {

bool is_one(V a) {
  auto* c = llvm::dyn_cast<llvm::ConstantFP>(a);
  return c && c->isExactlyValue(1.0);
}

}  // namespace

V GpuEmit::copysign(V a, V b) {
  llvm::Type* t = wide(B.getIntNTy(a->getType()->getScalarSizeInBits()));
  // One three-input logic instruction.
  V size = llvm::ConstantInt::get(t, llvm::APInt::getSignedMaxValue(t->getScalarSizeInBits()));
  V x = B.CreateBitCast(a, t), y = B.CreateBitCast(b, t);
  V r = B.CreateXor(B.CreateAnd(B.CreateXor(x, y), size), y);
  return B.CreateBitCast(r, a->getType());
}

V GpuEmit::FRem(V a, V b) {
  return each_lane(a, b, [&](V x, V y) { return remainder(x, y); });
}

void GpuEmit::combine(Op op, DType t, V to, V value) {
  using Atomic = llvm::AtomicRMWInst;
  llvm::Align align(itemsize(t));
  bool adds = op == Op::add;
  if ((adds && t != DType::BF16) || !is_float(t)) {
    bool low = op == Op::minimum, sg = is_signed(t);
    Atomic::BinOp how = adds ? (is_float(t) ? Atomic::FAdd : Atomic::Add)
                        : sg ? (low ? Atomic::Min : Atomic::Max)
                             : (low ? Atomic::UMin : Atomic::UMax);
    B.CreateAtomicRMW(how, to, value, align, llvm::AtomicOrdering::Monotonic);
    return;
  }
  // Extremes of floats, NaNs among them, and sums of bfloat16: until nobody else was faster.
  llvm::Type* bits = B.getIntNTy(8 * itemsize(t));
  auto* before = B.GetInsertBlock();
  auto* again = llvm::BasicBlock::Create(B.getContext(), "again", before->getParent());
  auto* done = llvm::BasicBlock::Create(B.getContext(), "done", before->getParent());
  V first = B.CreateAlignedLoad(bits, to, align);
  B.CreateBr(again);
  B.SetInsertPoint(again);
  auto* old = B.CreatePHI(bits, 2);
  old->addIncoming(first, before);
  V now = combined(op, t, B.CreateBitCast(old, value->getType()), value);
  V swap = B.CreateAtomicCmpXchg(to, old, B.CreateBitCast(now, bits), align,
                                 llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
  old->addIncoming(B.CreateExtractValue(swap, 0), B.GetInsertBlock());
  B.CreateCondBr(B.CreateExtractValue(swap, 1), done, again);
  B.SetInsertPoint(done);
}

V GpuEmit::reciprocal(V b) {
  V minus = B.CreateFNeg(b), one = number(b, 1);
  if (b->getType()->isFloatTy()) {
    V y = call(llvm::Intrinsic::nvvm_rcp_approx_ftz_f, b);
    return fma(y, fma(minus, y, one), y);
  }
  V y = call(llvm::Intrinsic::nvvm_rcp_approx_ftz_d, b);
  V e = fma(minus, y, one);
  y = fma(y, fma(e, e, e), y);
  return fma(y, fma(minus, y, one), y);
}

V GpuEmit::FDiv(V a, V b, bool tame) {
  if (tame) return each_lane(a, b, [&](V, V x) { return reciprocal(x); });
  V one = W > 1 && quick(a) ? llvm::getSplatValue(b) : nullptr;
  if (!one || llvm::isa<llvm::Constant>(one)) return Emit::FDiv(a, b, tame);
  auto [q, fits] = divide_all(a, one);
  if (defer) {
    want(fits);
    return q;
  }
  llvm::Function* f = B.GetInsertBlock()->getParent();
  auto* before = B.GetInsertBlock();
  auto* plain = llvm::BasicBlock::Create(B.getContext(), "plain", f);
  auto* join = llvm::BasicBlock::Create(B.getContext(), "divided", f);
  B.CreateCondBr(fits, join, plain, llvm::MDBuilder(B.getContext()).createBranchWeights(4096, 1));
  B.SetInsertPoint(plain);
  V v = Emit::FDiv(a, b, tame);
  B.CreateBr(join);
  B.SetInsertPoint(join);
  auto* r = B.CreatePHI(a->getType(), 2);
  r->addIncoming(q, before);
  r->addIncoming(v, plain);
  return r;
}

// The reciprocal moves out of the loop. Zeros pass, their quotient being exact.
GpuEmit::Quotient GpuEmit::divide_all(V a, V b) {
  bool f32 = b->getType()->isFloatTy();
  V y = reciprocal(b), minus = B.CreateFNeg(b), zero = number(b, 0);
  auto at_least = [&](V x, double low32, double low64) {
    V size = B.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, f32 ? x : high_word(x));
    return B.CreateFCmpOGE(size, number(size, f32 ? low32 : low64));
  };
  V good = at_least(y, 0x1p-120, 0x1p-124);
  V q = each_lane(a, a, [&](V x, V) {
    V first = B.CreateFMul(x, y), rest = fma(fma(minus, first, x), y, first);
    V none = B.CreateFCmpOEQ(x, zero);
    V fits = B.CreateAnd(at_least(x, 0x1p-98, 0x1p-120), at_least(rest, 0x1p-120, 0x1p-124));
    good = B.CreateAnd(good, B.CreateOr(none, fits));
    return B.CreateSelect(none, first, rest);
  });
  return {q, good};
}

V GpuEmit::high_word(V x) {
  V bits = B.CreateBitCast(x, B.getInt64Ty());
  return B.CreateBitCast(B.CreateTrunc(B.CreateLShr(bits, 32), B.getInt32Ty()), B.getFloatTy());
}

V QuickEmit::FDiv(V a, V b, bool tame) {
  if (tame || !quick(a)) return GpuEmit::FDiv(a, b, tame);
  if (V one = W > 1 ? llvm::getSplatValue(b) : nullptr) {
    auto [q, fits] = divide_all(a, one);
    want(fits);
    return q;
  }
  return each_lane(a, b, [&](V x, V y) { return divide(x, y); });
}

V QuickEmit::sqrt(V a) {
  if (!a->getType()->getScalarType()->isFloatTy()) return Emit::sqrt(a);
  return each_lane(a, a, [&](V x, V) { return root32(x); });
}

// Zero, infinite, NaN and tiny divisors give NaN here, huge ones zero: both fail the last test.
// The remainder of a tiny dividend would be rounded: the first test. High words of doubles compare
// as floats do, those beyond 2^1017 and NaNs as NaNs.
//
// The reciprocal is correctly rounded, so one correction is enough: for floats this was tried on
// every quotient that lies within twice the possible error of the middle between two floats.
V QuickEmit::divide(V a, V b) {
  bool f32 = a->getType()->isFloatTy();
  auto want_range = [&](V x, double low32, double low64) {
    want_at_least(f32 ? x : high_word(x), f32 ? low32 : low64);
  };
  V q = reciprocal(b);
  if (!is_one(a)) {
    want_range(a, 0x1p-98, 0x1p-120);
    V y = q;
    q = B.CreateFMul(a, y);
    q = fma(fma(B.CreateFNeg(b), q, a), y, q);
  }
  want_range(q, 0x1p-120, 0x1p-124);
  return q;
}

V QuickEmit::root32(V a) {
  V y = call(llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f, a);
  V g = B.CreateFMul(a, y), half = B.CreateFMul(y, number(y, 0.5));
  V r = fma(fma(B.CreateFNeg(g), g, a), half, g);
  // NaN of zeros, subnormal and negative numbers and infinity; below 2^-100 the remainder may have
  // been rounded.
  want(B.CreateFCmpOGE(r, number(r, 0x1p-50)));
  return r;
}

}  // namespace numbus::compile
