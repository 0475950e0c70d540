// The primitive steps that take more than one LLVM instruction.
#include "compile/emit.h"

#include <cmath>

#include "compile/compiler.h"

namespace numbus::compile {

using V = llvm::Value*;

Emit::Emit(llvm::IRBuilder<>& b, int lanes)
    : B(b), W(lanes), register_bytes(lanes > 1 ? host_vector_bytes() : 0) {}

llvm::Type* Emit::scalar_type(DType t) {
  switch (t) {
    case DType::Bool: return B.getInt1Ty();
    case DType::F16: return B.getHalfTy();
    case DType::F32: return B.getFloatTy();
    case DType::F64: return B.getDoubleTy();
    default: return B.getIntNTy(8 * itemsize(t));
  }
}

V Emit::bits_constant(DType t, int64_t bits) {
  if (t == DType::Bool) return llvm::ConstantInt::get(wide(B.getInt1Ty()), bits & 1);
  llvm::APInt pattern(8 * itemsize(t), static_cast<uint64_t>(bits));
  llvm::Type* s = scalar_type(t);
  llvm::Constant* c = s->isIntegerTy()
                          ? llvm::ConstantInt::get(B.getContext(), pattern)
                          : llvm::cast<llvm::Constant>(llvm::ConstantFP::get(
                                B.getContext(), llvm::APFloat(s->getFltSemantics(), pattern)));
  return W == 1 ? c : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(W), c);
}

V Emit::iota() {
  if (W == 1) return B.getInt64(0);
  llvm::SmallVector<llvm::Constant*, 64> lanes;
  for (int i = 0; i < W; ++i) lanes.push_back(B.getInt64(i));
  return llvm::ConstantVector::get(lanes);
}

// NumPy's rule: (a >= b or a is NaN) ? a : b, which also settles signed zeros.
V Emit::maximum(V a, V b, bool fl, bool sg) {
  if (!fl) return B.CreateSelect(sg ? B.CreateICmpSGE(a, b) : B.CreateICmpUGE(a, b), a, b);
  return B.CreateSelect(B.CreateOr(B.CreateFCmpOGE(a, b), B.CreateFCmpUNO(a, a)), a, b);
}
V Emit::minimum(V a, V b, bool fl, bool sg) {
  if (!fl) return B.CreateSelect(sg ? B.CreateICmpSLE(a, b) : B.CreateICmpULE(a, b), a, b);
  return B.CreateSelect(B.CreateOr(B.CreateFCmpOLE(a, b), B.CreateFCmpUNO(a, a)), a, b);
}
V Emit::fmax(V a, V b, bool fl, bool sg) {
  if (!fl) return maximum(a, b, fl, sg);
  return B.CreateSelect(B.CreateOr(B.CreateFCmpOGE(a, b), B.CreateFCmpUNO(b, b)), a, b);
}
V Emit::fmin(V a, V b, bool fl, bool sg) {
  if (!fl) return minimum(a, b, fl, sg);
  return B.CreateSelect(B.CreateOr(B.CreateFCmpOLE(a, b), B.CreateFCmpUNO(b, b)), a, b);
}

V Emit::shl(V a, V b) {
  unsigned bits = a->getType()->getScalarSizeInBits();
  V ok = B.CreateICmpULT(b, int_constant(b, bits));
  V amount = B.CreateSelect(ok, b, zero(b));
  return B.CreateSelect(ok, B.CreateShl(a, amount), zero(a));
}
V Emit::shr(V a, V b, bool sg) {
  unsigned bits = a->getType()->getScalarSizeInBits();
  V ok = B.CreateICmpULT(b, int_constant(b, bits));
  if (!sg) return B.CreateSelect(ok, B.CreateLShr(a, B.CreateSelect(ok, b, zero(b))), zero(a));
  return B.CreateAShr(a, B.CreateSelect(ok, b, int_constant(b, bits - 1)));
}

V Emit::signbit(V a) {
  llvm::Type* t = a->getType();
  if (t->isIntOrIntVectorTy()) return B.CreateICmpSLT(a, zero(a));
  V i = B.CreateBitCast(a, wide(B.getIntNTy(t->getScalarSizeInBits())));
  return B.CreateICmpSLT(i, zero(i));
}

V Emit::popcount(V a, bool sg) {
  V n = unary(llvm::Intrinsic::ctpop, sg ? int_abs(a) : a);
  return B.CreateZExtOrTrunc(n, wide(B.getInt8Ty()));
}

V Emit::relu(V a, bool fl, bool sg) {
  V none = zero(a);
  V less = fl ? B.CreateFCmpOLE(a, none) : sg ? B.CreateICmpSLE(a, none) : B.CreateICmpEQ(a, none);
  return B.CreateSelect(less, none, a);
}
V Emit::mul_high(V a, V b) {
  unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Type* twice = wide(B.getIntNTy(2 * bits));
  V p = B.CreateMul(B.CreateZExt(a, twice), B.CreateZExt(b, twice));
  return B.CreateTrunc(B.CreateLShr(p, int_constant(p, bits)), a->getType());
}

// Truncation with a defined value outside [low, high): `otherwise`.
V Emit::float_to_int(V a, llvm::Type* to, double low, double high, bool is_signed, V otherwise) {
  V lo = llvm::ConstantFP::get(a->getType(), low), hi = llvm::ConstantFP::get(a->getType(), high);
  V ok = B.CreateAnd(low == -2147483649.0 ? B.CreateFCmpOGT(a, lo) : B.CreateFCmpOGE(a, lo),
                     B.CreateFCmpOLT(a, hi));
  V safe = B.CreateSelect(ok, a, zero(a));
  V i = is_signed ? B.CreateFPToSI(safe, to) : B.CreateFPToUI(safe, to);
  return B.CreateSelect(ok, i, otherwise);
}

V Emit::cast(V a, DType from, DType to, bool in_range) {
  llvm::Type* t = type(to);
  if (from == DType::BF16)
    return to == DType::F32 ? from_brain(a) : cast(from_brain(a), DType::F32, to, in_range);
  if (to == DType::BF16)
    return to_brain(from == DType::F64 ? to_odd(a) : cast(a, from, DType::F32, in_range));
  if (is_float(from)) {
    if (is_float(to)) return B.CreateFPCast(a, t);
    if (in_range) return B.CreateFPToSI(a, t);
    // Mirrors ops::cast_: narrow targets pass through int32, the others through int64.
    llvm::Type *i32 = wide(B.getInt32Ty()), *i64 = wide(B.getInt64Ty());
    double two63 = 9223372036854775808.0;
    V wide_min = llvm::ConstantInt::getSigned(i64, INT64_MIN);
    if (itemsize(to) < 4 || to == DType::I32) {
      V n = float_to_int(a, i32, -2147483649.0, 2147483648.0, true,
                         llvm::ConstantInt::getSigned(i32, INT32_MIN));
      return B.CreateTruncOrBitCast(n, t);
    }
    V w = float_to_int(a, i64, -two63, two63, true, wide_min);
    if (to == DType::U64) {
      V big = B.CreateFCmpOGE(a, llvm::ConstantFP::get(a->getType(), two63));
      w = B.CreateSelect(big, float_to_int(a, i64, two63, 2 * two63, false, wide_min), w);
    }
    return B.CreateTruncOrBitCast(w, t);
  }
  bool unsigned_from = !is_signed(from);
  if (is_float(to)) return unsigned_from ? B.CreateUIToFP(a, t) : B.CreateSIToFP(a, t);
  return unsigned_from ? B.CreateZExtOrTrunc(a, t) : B.CreateSExtOrTrunc(a, t);
}

V Emit::from_brain(V word) {
  V wide_word = B.CreateZExt(word, wide(B.getInt32Ty()));
  return B.CreateBitCast(B.CreateShl(wide_word, 16), wide(B.getFloatTy()));
}

// To nearest, of two equally near ones the even one; a NaN keeps its sign alone. As
// float_to_brain() in base/dtype.h.
V Emit::to_brain(V single) {
  llvm::Type* words = wide(B.getInt32Ty());
  V bits = B.CreateBitCast(single, words), high = B.CreateLShr(bits, 16);
  V odd = B.CreateAnd(high, int_constant(bits, 1));
  V rounded = B.CreateLShr(B.CreateAdd(B.CreateAdd(bits, int_constant(bits, 0x7fff)), odd), 16);
  V nan = B.CreateOr(B.CreateAnd(high, int_constant(bits, 0x8000)), int_constant(bits, 0x7fc0));
  V is_nan = B.CreateICmpUGT(B.CreateAnd(bits, int_constant(bits, 0x7fffffff)),
                             int_constant(bits, 0x7f800000));
  return B.CreateTrunc(B.CreateSelect(is_nan, nan, rounded), wide(B.getInt16Ty()));
}

// float64 to float32, rounded to odd: rounding that to fewer bits is rounding once (Boldo and
// Melquiond, 2008).
V Emit::to_odd(V v) {
  V near = B.CreateFPTrunc(v, wide(B.getFloatTy()));
  V back = B.CreateFPExt(near, v->getType());
  V bits = B.CreateBitCast(near, wide(B.getInt32Ty())), one = int_constant(bits, 1);
  bits = B.CreateSelect(B.CreateFCmpOGT(fabs(back), fabs(v)), B.CreateSub(bits, one), bits);
  bits = B.CreateSelect(B.CreateFCmpUNE(back, v), B.CreateOr(bits, one), bits);
  return B.CreateBitCast(bits, near->getType());
}

// One thread runs the points in order.
void Emit::combine(Op op, DType t, V to, V value) {
  llvm::Align align(itemsize(t));
  V old = B.CreateAlignedLoad(value->getType(), to, align);
  B.CreateAlignedStore(combined(op, t, old, value), to, align);
}

}  // namespace numbus::compile
