// Division and square root on a GPU without branches; elements that many points combine into.
#pragma once

#include "compile/emit.h"

namespace numbus::compile {

// What is shorter in other words than LLVM's NVPTX target finds.
class GpuEmit : public Emit {
 public:
  GpuEmit(llvm::IRBuilder<>& b, int lanes) : Emit(b, lanes) { register_bytes = 0; }
  // Where it is set, doubtful quotients by one divisor are not computed again: `good` tells.
  bool defer = false;
  V good = nullptr;

  V copysign(V a, V b) override;
  V FDiv(V a, V b, bool tame) override;
  V FRem(V a, V b) override;
  void combine(Op op, DType t, V to, V value) override;

 protected:
  // 1 / b correctly rounded, for b away from the ends of the range.
  V reciprocal(V b);
  void want(V condition) { good = good ? B.CreateAnd(good, condition) : condition; }
  // a / b where `good`, for one b in all lanes.
  struct Quotient {
    V q, good;
  };
  Quotient divide_all(V a, V b);
  V high_word(V x);
  static bool quick(V a) {
    llvm::Type* t = a->getType()->getScalarType();
    return t->isFloatTy() || t->isDoubleTy();
  }
  V number(V like, double c) { return llvm::ConstantFP::get(like->getType(), c); }
  V call(llvm::Intrinsic::ID id, V x) { return B.CreateIntrinsic(id, {}, {x}); }
  // One lane after the other.
  template <class F>
  V each_lane(V a, V b, F&& f) {
    if (W == 1) return f(a, b);
    V r = llvm::PoisonValue::get(a->getType());
    for (uint64_t i = 0; i < static_cast<uint64_t>(W); ++i)
      r = B.CreateInsertElement(r, f(B.CreateExtractElement(a, i), B.CreateExtractElement(b, i)),
                                i);
    return r;
  }
};

// The steps that `/` and `sqrt` take on NVIDIA GPUs for operands away from the ends of the range:
// an approximation, corrected until it is correctly rounded. `good` gathers whether all were; where
// they were not, the caller computes once more by plain instructions.
class QuickEmit : public GpuEmit {
 public:
  using GpuEmit::GpuEmit;

  V FDiv(V a, V b, bool tame) override;
  V sqrt(V a) override;

 private:
  V divide(V a, V b);
  V root32(V a);
  void want_at_least(V x, double c) {
    want(B.CreateFCmpOGE(B.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), number(x, c)));
  }
};

}  // namespace numbus::compile
