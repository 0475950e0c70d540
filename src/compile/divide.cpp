// Remainders of floats; quotients and remainders of integers, which no vector instruction gives.
#include <tuple>

#include "compile/emit.h"

namespace numbus::compile {

using V = llvm::Value*;

namespace {

V number(V like, double c) { return llvm::ConstantFP::get(like->getType(), c); }
V whole(V like, int64_t c) { return llvm::ConstantInt::getSigned(like->getType(), c); }
bool is_vector(V x) { return x->getType()->isVectorTy(); }
bool is_double(V x) { return x->getType()->getScalarType()->isDoubleTy(); }

}  // namespace

// fast() where `good` holds in all lanes, else slow().
template <class F, class G>
V Emit::usually(V good, F&& fast, G&& slow) {
  auto* f = B.GetInsertBlock()->getParent();
  auto* quick = llvm::BasicBlock::Create(B.getContext(), "quick", f);
  auto* rare = llvm::BasicBlock::Create(B.getContext(), "rare", f);
  auto* join = llvm::BasicBlock::Create(B.getContext(), "join", f);
  B.CreateCondBr(is_vector(good) ? B.CreateAndReduce(good) : good, quick, rare);
  B.SetInsertPoint(rare);
  V b = slow();
  auto* rare_end = B.GetInsertBlock();
  B.CreateBr(join);
  B.SetInsertPoint(quick);
  V a = fast();
  auto* quick_end = B.GetInsertBlock();
  B.CreateBr(join);
  B.SetInsertPoint(join);
  auto* r = B.CreatePHI(a->getType(), 2);
  r->addIncoming(a, quick_end);
  r->addIncoming(b, rare_end);
  return r;
}

// The biased exponent of a positive number as if there were no subnormal ones.
V Emit::exponent(V x) {
  int bits = static_cast<int>(x->getType()->getScalarSizeInBits());
  int mantissa = bits == 64 ? 52 : 23;
  llvm::Type* t = x->getType()->getWithNewType(B.getIntNTy(bits));
  V word = B.CreateBitCast(x, t);
  V high = B.CreateLShr(word, whole(word, mantissa));
  V zeros = B.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, word, B.getFalse());
  V below = B.CreateSub(whole(word, bits - mantissa), zeros);
  V subnormal = B.CreateICmpEQ(high, whole(word, 0));
  return B.CreateSelect(subnormal, below, high);
}

// 2**e in the type of `like`, e within the normal range.
V Emit::power_of_two(V like, V e) {
  bool wide = is_double(like);
  V biased = B.CreateAdd(e, whole(e, wide ? 1023 : 127));
  return B.CreateBitCast(B.CreateShl(biased, wide ? 52 : 23), like->getType());
}

// Division step by step: each takes away a multiple of the divisor, times a power of two, that
// leaves less than that, and nothing is ever rounded. One step where the quotient is below 2**50
// (2**21).
V Emit::remainder(V a, V b) {
  llvm::IRBuilder<>::FastMathFlagGuard flags(B);
  B.clearFastMathFlags();
  bool wide = is_double(a), many = is_vector(a);
  V x = fabs(a), y = fabs(b);
  V zero = number(a, 0), infinity = llvm::ConstantFP::getInfinity(a->getType());
  V exists = B.CreateAnd(B.CreateFCmpOLT(x, infinity), B.CreateFCmpOGT(y, zero));
  V some = B.CreateAnd(exists, B.CreateFCmpOGE(x, y));
  // Lanes with nothing to do divide zero by one.
  V from = many ? B.CreateSelect(some, x, zero) : x,
    by = many ? B.CreateSelect(some, y, number(y, 1)) : y;
  auto any = [&](V mask) { return many ? B.CreateOrReduce(mask) : mask; };
  auto* before = B.GetInsertBlock();
  auto* f = before->getParent();
  auto* step = llvm::BasicBlock::Create(B.getContext(), "step", f);
  auto* done = llvm::BasicBlock::Create(B.getContext(), "done", f);
  V begin = any(some);
  B.CreateCondBr(begin, step, done);
  B.SetInsertPoint(step);
  auto* r = B.CreatePHI(a->getType(), 2);
  r->addIncoming(from, before);
  V apart = B.CreateSub(exponent(r), exponent(by));
  V more = B.CreateSub(apart, whole(apart, wide ? 50 : 21));
  V none = whole(apart, 0);
  more = B.CreateSelect(B.CreateICmpSGT(more, none), more, none);
  // The largest number by the smallest one: two factors of the largest power of two reach.
  V most = whole(apart, wide ? 2046 : 254);
  more = B.CreateSelect(B.CreateICmpSLT(more, most), more, most);
  V half = B.CreateLShr(more, 1);
  V divisor = B.CreateFMul(B.CreateFMul(by, power_of_two(by, half)),
                           power_of_two(by, B.CreateSub(more, half)));
  V q = trunc(B.CreateFDiv(r, divisor));
  V left = fma(B.CreateFNeg(q), divisor, r);
  left = B.CreateSelect(B.CreateFCmpOLT(left, zero), B.CreateFAdd(left, divisor), left);
  V end = many ? B.CreateSelect(some, left, x) : left;
  r->addIncoming(left, step);
  B.CreateCondBr(any(B.CreateFCmpOGE(left, by)), step, done);
  B.SetInsertPoint(done);
  auto* result = B.CreatePHI(a->getType(), 2);
  result->addIncoming(x, before);
  result->addIncoming(end, step);
  // A NaN divisor compares with nothing.
  V nan = llvm::ConstantFP::getNaN(a->getType());
  V sign = B.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, a);
  return B.CreateSelect(exists, sign, nan);
}

// Below 2**50 (2**21) the rounded quotient is too large by one at most, and what is left is exact.
V Emit::FRem(V a, V b) {
  if (!is_vector(a) || register_bytes < 32) return B.CreateFRem(a, b);
  llvm::IRBuilder<>::FastMathFlagGuard flags(B);
  B.clearFastMathFlags();
  V x = fabs(a), y = fabs(b), q = B.CreateFDiv(x, y);
  V infinity = llvm::ConstantFP::getInfinity(a->getType());
  V good = B.CreateAnd(B.CreateFCmpOLT(q, number(q, is_double(q) ? 0x1p50 : 0x1p21)),
                       B.CreateFCmpOLT(y, infinity));
  auto fast = [&] {
    V r = fma(B.CreateFNeg(trunc(q)), y, x);
    r = B.CreateSelect(B.CreateFCmpOLT(r, number(r, 0)), B.CreateFAdd(r, y), r);
    return copysign(r, a);
  };
  return usually(good, fast, [&] { return remainder(a, b); });
}

// By the quotient of floats that hold both integers: it is rounded by less than the distance to the
// next whole number, so that it truncates to the right one.
V Emit::int_quotient(V a, V b, bool sg) {
  unsigned bits = a->getType()->getScalarSizeInBits();
  auto plain = [&] { return sg ? B.CreateSDiv(a, b) : B.CreateUDiv(a, b); };
  if (!is_vector(a) || register_bytes < (bits == 64 ? 64 : 32)) return plain();
  llvm::IRBuilder<>::FastMathFlagGuard flags(B);
  B.clearFastMathFlags();
  auto by_floats = [&]() -> V {
    // Narrow integers by way of int32, which every processor converts.
    llvm::Type* middle = bits < 32 ? wide(B.getInt32Ty()) : a->getType();
    llvm::Type* t = wide(bits < 32 ? B.getFloatTy() : B.getDoubleTy());
    bool as_signed = sg || bits != 32;
    auto number = [&](V x) {
      x = sg ? B.CreateSExt(x, middle) : B.CreateZExt(x, middle);
      return as_signed ? B.CreateSIToFP(x, t) : B.CreateUIToFP(x, t);
    };
    V q = B.CreateFDiv(number(a), number(b));
    return B.CreateTrunc(as_signed ? B.CreateFPToSI(q, middle) : B.CreateFPToUI(q, middle),
                         a->getType());
  };
  if (bits < 64) return by_floats();
  auto below = [&](V x, int64_t limit) {  // in size
    return sg ? B.CreateICmpULT(B.CreateAdd(x, whole(x, limit)), whole(x, 2 * limit))
              : B.CreateICmpULT(x, whole(x, limit));
  };
  V good = B.CreateAnd(below(a, int64_t{1} << 52), below(b, int64_t{1} << 52));
  return usually(good, by_floats, plain);
}

// Division by zero and MIN / -1 trap on x86 and are undefined in LLVM: divide by one there and
// select after.
V Emit::int_rem(V a, V b, bool sg) {
  V bad = B.CreateICmpEQ(b, zero(b));
  if (sg) bad = B.CreateOr(bad, B.CreateICmpEQ(b, whole(b, -1)));
  V safe = B.CreateSelect(bad, whole(b, 1), b);
  if (is_vector(a) && register_bytes)
    return B.CreateSub(a, B.CreateMul(int_quotient(a, safe, sg), safe));
  return sg ? B.CreateSRem(a, safe) : B.CreateURem(a, safe);
}
// Euclid's steps, until all lanes are done. Magnitudes are unsigned: that of the lowest number is
// none of its own type.
V Emit::gcd(V a, V b, bool sg) {
  if (sg) a = int_abs(a), b = int_abs(b);
  auto* before = B.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(B.getContext(), "divisor", before->getParent());
  B.CreateBr(head);
  B.SetInsertPoint(head);
  auto* x = B.CreatePHI(a->getType(), 2);
  auto* y = B.CreatePHI(a->getType(), 2);
  V rest = int_rem(y, x, false);  // zero where x is
  V divisor = B.CreateSelect(B.CreateICmpEQ(x, zero(x)), y, x);
  V going = B.CreateICmpNE(rest, zero(rest));
  if (W > 1) going = B.CreateOrReduce(going);
  auto* last = B.GetInsertBlock();
  for (auto [phi, first, next] : {std::tuple{x, a, rest}, std::tuple{y, b, divisor}}) {
    phi->addIncoming(first, before);
    phi->addIncoming(next, last);
  }
  auto* done = llvm::BasicBlock::Create(B.getContext(), "divided", before->getParent());
  B.CreateCondBr(going, head, done);
  B.SetInsertPoint(done);
  return divisor;
}
V Emit::int_div(V a, V b, bool sg) {
  V is_zero = B.CreateICmpEQ(b, zero(b));
  V bad = is_zero;
  V minus = sg ? B.CreateICmpEQ(b, whole(b, -1)) : nullptr;
  if (sg) bad = B.CreateOr(bad, minus);
  V safe = B.CreateSelect(bad, whole(b, 1), b);
  V q = int_quotient(a, safe, sg);
  if (sg) q = B.CreateSelect(minus, B.CreateNeg(a), q);
  return B.CreateSelect(is_zero, zero(a), q);
}

}  // namespace numbus::compile
