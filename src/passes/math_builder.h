// Adapts the IR builder to the vocabulary in which passes/math/*.h are written.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ir/kernel.h"

namespace numbus {

class MathBuilder {
 public:
  using V = ir::Val;
  explicit MathBuilder(ir::Builder& b) : b_(b) {}

  bool is_f32(V x) const { return itemsize(b_.type(x)) == 4; }
  V fconst(V like, double v) { return b_.constant(float_like(like), Scalar::from_float(v)); }
  V iconst(V like, int64_t v) { return b_.constant(int_like(like), Scalar::from_int(v)); }

  V add(V a, V b) { return op(Op::add, a, b); }
  V sub(V a, V b) { return op(Op::subtract, a, b); }
  V mul(V a, V b) { return op(Op::multiply, a, b); }
  V div(V a, V b) { return op(Op::divide, a, b); }
  V reciprocal(V a) { return b_.emit(Op::divide, b_.type(a), fconst(a, 1.0), a, ir::kNone, 1); }
  V fma(V a, V b, V c) { return b_.emit(Op::fma, b_.type(a), a, b, c); }
  V neg(V a) { return op(Op::negative, a); }
  V abs(V a) { return op(Op::absolute, a); }
  V sqrt(V a) { return op(Op::sqrt, a); }
  V rint(V a) { return op(Op::rint, a); }
  V floor(V a) { return op(Op::floor, a); }
  V trunc(V a) { return op(Op::trunc, a); }
  V copysign(V a, V b) { return op(Op::copysign, a, b); }
  V fmin2(V a, V b) { return op(Op::minimum, a, b); }
  V fmax2(V a, V b) { return op(Op::maximum, a, b); }

  V lt(V a, V b) { return cmp(Op::less, a, b); }
  V le(V a, V b) { return cmp(Op::less_equal, a, b); }
  V gt(V a, V b) { return cmp(Op::greater, a, b); }
  V ge(V a, V b) { return cmp(Op::greater_equal, a, b); }
  V eq(V a, V b) { return cmp(Op::equal, a, b); }
  V ne(V a, V b) { return cmp(Op::not_equal, a, b); }
  V ilt(V a, V b) { return cmp(Op::less, a, b); }
  V ile(V a, V b) { return cmp(Op::less_equal, a, b); }
  V igt(V a, V b) { return cmp(Op::greater, a, b); }
  V ige(V a, V b) { return cmp(Op::greater_equal, a, b); }
  V ieq(V a, V b) { return cmp(Op::equal, a, b); }
  V mand(V a, V b) { return op(Op::logical_and, a, b); }
  V mor(V a, V b) { return op(Op::logical_or, a, b); }
  V mnot(V a) { return op(Op::logical_not, a); }
  V select(V m, V a, V b) { return b_.emit(Op::select, b_.type(a), m, a, b); }

  V bits(V x) { return b_.emit(Op::bits, int_like(x), x); }
  V float_of(V i) { return b_.emit(Op::bits, float_like(i), i); }
  V iadd(V a, V b) { return op(Op::add, a, b); }
  V isub(V a, V b) { return op(Op::subtract, a, b); }
  V imul(V a, V b) { return op(Op::multiply, a, b); }
  V ineg(V a) { return op(Op::negative, a); }
  V iand(V a, V b) { return op(Op::bitwise_and, a, b); }
  V ior(V a, V b) { return op(Op::bitwise_or, a, b); }
  V ixor(V a, V b) { return op(Op::bitwise_xor, a, b); }
  V ishl(V a, int n) { return op(Op::left_shift, a, iconst(a, n)); }
  V isar(V a, int n) { return op(Op::right_shift, a, iconst(a, n)); }
  V ishr(V a, int n) {
    DType t = b_.type(a), u = int_of_size(itemsize(t), false);
    V x = b_.emit(Op::bits, u, a);
    V s = b_.constant(u, Scalar::from_int(n));
    return b_.emit(Op::bits, t, b_.emit(Op::right_shift, u, x, s));
  }
  V imulhi_u(V a, V b) { return op(Op::mul_high, a, b); }
  V to_int(V x) { return b_.emit(Op::cast, int_like(x), x, ir::kNone, ir::kNone, 1); }
  V from_int(V i) { return b_.cast(i, float_like(i)); }
  V table(V like, const double* values, int n, V index) {
    return b_.emit(Op::table, float_like(like), index, ir::kNone, ir::kNone,
                   ir::intern_table(values, n));
  }
  template <class F>
  V if_any(V mask, F&& slow, V fast) {
    V begin = b_.begin_if_any(mask);
    V value = slow();
    b_.end_if_any(begin);
    return b_.emit(Op::if_result, b_.type(fast), fast, value, mask);
  }
  template <class F, size_t N>
  std::array<V, N> if_any(V mask, F&& slow, std::array<V, N> fast) {
    V begin = b_.begin_if_any(mask);
    std::array<V, N> value = slow();
    b_.end_if_any(begin);
    for (size_t n = 0; n < N; ++n)
      fast[n] = b_.emit(Op::if_result, b_.type(fast[n]), fast[n], value[n], mask);
    return fast;
  }

 private:
  DType float_like(V x) const { return itemsize(b_.type(x)) == 4 ? DType::F32 : DType::F64; }
  DType int_like(V x) const { return itemsize(b_.type(x)) == 4 ? DType::I32 : DType::I64; }
  V op(Op o, V a, V b = ir::kNone) { return b_.emit(o, b_.type(a), a, b); }
  V cmp(Op o, V a, V b) { return b_.emit(o, DType::Bool, a, b); }
  ir::Builder& b_;
};

}  // namespace numbus
