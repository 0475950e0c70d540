// The numbers of a reduction as steps of a kernel or function (ops/reduction_bodies.h).
#pragma once

#include "ir/kernel.h"
#include "ops/reduction_bodies.h"

namespace numbus::ir {

struct ReductionSteps {
  using Number = Val;
  using Index = Val;
  using Bool = Val;

  Builder& b;
  DType type;  // of the parts
  bool complex, floating;
  ReductionSteps(Builder& b, DType loop)
      : b(b), type(real_of(loop)), complex(is_complex(loop)), floating(is_float(type)) {}

  Val zero() { return b.constant(type, Scalar::from_int(0)); }
  Val one() { return b.constant(type, Scalar::from_int(1)); }
  Val highest() { return b.constant(type, highest_number(type)); }
  Val lowest() { return b.constant(type, lowest_number(type)); }
  Val index(int64_t n) { return b.constant(DType::I64, Scalar::from_int(n)); }

  Val add(Val x, Val y) { return b.emit(Op::add, type, x, y); }
  Val sub(Val x, Val y) { return b.emit(Op::subtract, type, x, y); }
  Val mul(Val x, Val y) { return b.emit(Op::multiply, type, x, y); }
  Val div(Val x, Val y) { return b.emit(Op::divide, type, x, y); }
  Val part(Val, Val nb, Val n) { return div(nb, n); }
  Val mean(Val sum, Val n) { return div(sum, n); }
  Val minimum(Val x, Val y) { return b.emit(Op::minimum, type, x, y); }
  Val maximum(Val x, Val y) { return b.emit(Op::maximum, type, x, y); }
  Val any_of(Val x, Val y) { return either(x, y); }
  Val all_of(Val x, Val y) { return both(x, y); }

  Val less(Val x, Val y) { return test(Op::less, x, y); }
  Val equal(Val x, Val y) { return test(Op::equal, x, y); }
  Val index_less(Val x, Val y) { return test(Op::less, x, y); }
  Val is_nan(Val x) { return test(Op::not_equal, x, x); }
  Val either(Val x, Val y) { return test(Op::logical_or, x, y); }
  Val both(Val x, Val y) { return test(Op::logical_and, x, y); }
  Val negate(Val x) { return test(Op::logical_not, x); }
  Val select(Val c, Val x, Val y) { return b.emit(Op::select, type, c, x, y); }
  Val select_index(Val c, Val x, Val y) { return b.emit(Op::select, DType::I64, c, x, y); }

 private:
  Val test(Op op, Val x, Val y = kNone) { return b.emit(op, DType::Bool, x, y); }
};

}  // namespace numbus::ir
