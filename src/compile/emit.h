// LLVM instructions for the primitive steps, on values of W lanes (W = 1: scalars, as on a GPU).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include "base/dtype.h"
#include "ops/table.h"

namespace numbus::compile {

class Emit {
 public:
  using V = llvm::Value*;
  Emit(llvm::IRBuilder<>& b, int lanes);
  virtual ~Emit() = default;

  llvm::IRBuilder<>& B;
  const int W;
  int register_bytes;  // of the host's vectors; 0 for one lane and on a GPU
  // NVPTX (LLVM 19) loads <16 x i8> of any alignment as one access: there, vectors that are not
  // aligned go element by element.
  bool by_element = false;
  bool constant_loads = false;  // of what the kernel does not write, ahead of its stores
  int vector_align = 64;        // of a whole step's access to an aligned argument, in bytes

  llvm::Type* scalar_type(DType t);  // of a value: bool is i1
  llvm::Type* type(DType t) { return wide(scalar_type(t)); }
  llvm::Type* wide(llvm::Type* t) { return W == 1 ? t : llvm::FixedVectorType::get(t, W); }
  V splat(V scalar) { return W == 1 ? scalar : B.CreateVectorSplat(W, scalar); }
  V bits_constant(DType t, int64_t bits);
  V iota();  // 0, 1, ..., W-1 as int64
  bool is_all_true(V mask) {
    auto* c = llvm::dyn_cast_or_null<llvm::Constant>(mask);
    return c && c->isAllOnesValue();
  }
  V all_true() { return llvm::Constant::getAllOnesValue(wide(B.getInt1Ty())); }
  V both(V a, V b) {
    return !a || is_all_true(a) ? b : !b || is_all_true(b) ? a : B.CreateAnd(a, b);
  }

  // The vocabulary of ops.def.
  V FAdd(V a, V b) { return B.CreateFAdd(a, b); }
  V FSub(V a, V b) { return B.CreateFSub(a, b); }
  V FMul(V a, V b) { return B.CreateFMul(a, b); }
  // tame: a quotient of one, neither operand nor result near the ends of the range.
  virtual V FDiv(V a, V b, [[maybe_unused]] bool tame) { return B.CreateFDiv(a, b); }
  virtual V FRem(V a, V b);
  V FNeg(V a) { return B.CreateFNeg(a); }
  V Add(V a, V b) { return B.CreateAdd(a, b); }
  V Sub(V a, V b) { return B.CreateSub(a, b); }
  V Mul(V a, V b) { return B.CreateMul(a, b); }
  V Neg(V a) { return B.CreateNeg(a); }
  V And(V a, V b) { return B.CreateAnd(a, b); }
  V Or(V a, V b) { return B.CreateOr(a, b); }
  V Xor(V a, V b) { return B.CreateXor(a, b); }
  V Not(V a) { return B.CreateNot(a); }
  V fabs(V a) { return unary(llvm::Intrinsic::fabs, a); }
  virtual V sqrt(V a) { return unary(llvm::Intrinsic::sqrt, a); }
  V floor(V a) { return unary(llvm::Intrinsic::floor, a); }
  V ceil(V a) { return unary(llvm::Intrinsic::ceil, a); }
  V trunc(V a) { return unary(llvm::Intrinsic::trunc, a); }
  V rint(V a) { return unary(llvm::Intrinsic::nearbyint, a); }
  virtual V copysign(V a, V b) { return B.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, b); }
  V fma(V a, V b, V c) {
    return B.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  V FCmpOEQ(V a, V b) { return B.CreateFCmpOEQ(a, b); }
  V FCmpUNE(V a, V b) { return B.CreateFCmpUNE(a, b); }
  V FCmpOLT(V a, V b) { return B.CreateFCmpOLT(a, b); }
  V FCmpOLE(V a, V b) { return B.CreateFCmpOLE(a, b); }
  V FCmpOGT(V a, V b) { return B.CreateFCmpOGT(a, b); }
  V FCmpOGE(V a, V b) { return B.CreateFCmpOGE(a, b); }
  V FCmpUNO(V a, V b) { return B.CreateFCmpUNO(a, b); }
  V ICmpEQ(V a, V b) { return B.CreateICmpEQ(a, b); }
  V ICmpNE(V a, V b) { return B.CreateICmpNE(a, b); }
  V ICmpSLT(V a, V b) { return B.CreateICmpSLT(a, b); }
  V ICmpSLE(V a, V b) { return B.CreateICmpSLE(a, b); }
  V ICmpSGT(V a, V b) { return B.CreateICmpSGT(a, b); }
  V ICmpSGE(V a, V b) { return B.CreateICmpSGE(a, b); }
  V ICmpULT(V a, V b) { return B.CreateICmpULT(a, b); }
  V ICmpULE(V a, V b) { return B.CreateICmpULE(a, b); }
  V ICmpUGT(V a, V b) { return B.CreateICmpUGT(a, b); }
  V ICmpUGE(V a, V b) { return B.CreateICmpUGE(a, b); }
  V maximum(V a, V b, bool fl, bool sg);
  V minimum(V a, V b, bool fl, bool sg);
  V fmax(V a, V b, bool fl, bool sg);
  V fmin(V a, V b, bool fl, bool sg);
  V int_abs(V a) { return B.CreateSelect(B.CreateICmpSLT(a, zero(a)), B.CreateNeg(a), a); }
  V int_rem(V a, V b, bool sg);
  V int_div(V a, V b, bool sg);
  V gcd(V a, V b, bool sg);
  V shl(V a, V b);
  V shr(V a, V b, bool sg);
  V signbit(V a);
  V popcount(V a, bool sg);
  V mul_high(V a, V b);
  V relu(V a, bool fl, bool sg);

  V cast(V a, DType from, DType to, bool in_range);

  // The element at `to` becomes op(element, value), also where several points meet in it: for one
  // lane, by a sum or an extreme.
  virtual void combine(Op op, DType t, V to, V value);

  // bfloat16, whose values are 16-bit words here, to and from float32: the same bits on each
  // target, with instructions that each has.
  V from_brain(V word);
  V to_brain(V single);

 protected:
  // fmod of floats, exactly, whatever the quotient: several lanes go on until all are done.
  V remainder(V a, V b);

  V combined(Op op, DType t, V old, V value) {
    if (t == DType::BF16)
      return to_brain(combined(op, DType::F32, from_brain(old), from_brain(value)));
    if (op == Op::add) return is_float(t) ? FAdd(old, value) : Add(old, value);
    return op == Op::minimum ? minimum(old, value, is_float(t), is_signed(t))
                             : maximum(old, value, is_float(t), is_signed(t));
  }

 private:
  V unary(llvm::Intrinsic::ID id, V a) { return B.CreateUnaryIntrinsic(id, a); }
  V zero(V a) { return llvm::Constant::getNullValue(a->getType()); }
  V int_constant(V like, int64_t v) { return llvm::ConstantInt::getSigned(like->getType(), v); }
  V exponent(V x);
  V power_of_two(V like, V e);
  // Of a division that is defined in all lanes.
  V int_quotient(V a, V b, bool sg);
  template <class F, class G>
  V usually(V good, F&& fast, G&& slow);
  V to_odd(V v);
  V float_to_int(V a, llvm::Type* to, double low, double high, bool is_signed, V otherwise);
};

}  // namespace numbus::compile
