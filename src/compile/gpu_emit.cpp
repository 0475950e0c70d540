// Division and square root as the hardware's own routines do them, without their slow paths.
#include "compile/gpu_emit.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

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
  if (!tame) return Emit::FDiv(a, b, tame);
  return each_lane(a, b, [&](V, V x) { return reciprocal(x); });
}

V QuickEmit::FDiv(V a, V b, bool tame) {
  llvm::Type* scalar = a->getType()->getScalarType();
  if (tame || !(scalar->isFloatTy() || scalar->isDoubleTy())) return GpuEmit::FDiv(a, b, tame);
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
  // NaN of zero and infinity; tiny numbers and negative ones fail the first test.
  want(B.CreateFCmpOGE(a, number(a, 0x1p-100)));
  want(B.CreateFCmpORD(r, r));
  return r;
}

V QuickEmit::high_word(V x) {
  V bits = B.CreateBitCast(x, B.getInt64Ty());
  return B.CreateBitCast(B.CreateTrunc(B.CreateLShr(bits, 32), B.getInt32Ty()), B.getFloatTy());
}

}  // namespace numbus::compile
