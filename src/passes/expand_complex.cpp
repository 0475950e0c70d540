// Rows over complex operands: arithmetic, comparisons and, from complex_functions.h, elementary
// functions.
#include "passes/expand_complex.h"

#include "base/error.h"
#include "passes/complex_functions.h"
#include "passes/expand.h"
#include "passes/math/math.h"
#include "passes/math_builder.h"

namespace numbus {

using ir::Builder;
using ir::Val;

Val make_complex(Builder& b, Val re, Val im) {
  return b.emit(Op::make_complex, complex_of(b.type(re)), re, im);
}

Val real_part(Builder& b, Val z) {
  const ir::Inst& i = b.step(z);
  return i.op == Op::make_complex ? i.a : b.emit(Op::real_part, real_of(i.type), z);
}
Val imag_part(Builder& b, Val z) {
  const ir::Inst& i = b.step(z);
  return i.op == Op::make_complex ? i.b : b.emit(Op::imag_part, real_of(i.type), z);
}

bool has_complex_expansion(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::negative:
    case Op::positive:
    case Op::conjugate:
    case Op::square:
    case Op::reciprocal:
    case Op::absolute:
    case Op::sqrt:
    case Op::exp:
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::sin:
    case Op::cos:
    case Op::sinh:
    case Op::cosh:
    case Op::exp2:
    case Op::expm1:
    case Op::log1p:
    case Op::tan:
    case Op::tanh:
    case Op::arcsin:
    case Op::arccos:
    case Op::arctan:
    case Op::arcsinh:
    case Op::arccosh:
    case Op::arctanh:
    case Op::power:
    case Op::float_power:
    case Op::equal:
    case Op::not_equal:
    case Op::isnan:
    case Op::isinf:
    case Op::isfinite:
    case Op::sign:
    case Op::rint:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin: return true;
    default: return row(op).rule == Rule::Logical;
  }
}

Val expand_complex(Builder& b, Op op, Val xv, Val yv) {
  using namespace complex_math;
  MathBuilder m(b);
  Parts x{real_part(b, xv), imag_part(b, xv)}, y{ir::kNone, ir::kNone};
  if (yv != ir::kNone) y = {real_part(b, yv), imag_part(b, yv)};
  auto join = [&](Parts p) { return make_complex(b, p.re, p.im); };
  auto both = [&](Op o) {
    return b.emit(Op::logical_or, DType::Bool, expand(b, o, x.re), expand(b, o, x.im));
  };
  // Lexicographic order, as NumPy compares complex numbers: false where any part is NaN, the
  // imaginary parts too, although the real parts alone would decide.
  auto ordered = [&](Op strict, Op last) {
    Val numbers = m.mand(m.eq(x.im, x.im), m.eq(y.im, y.im));
    return m.mor(m.mand(expand(b, strict, x.re, y.re), numbers),
                 m.mand(m.eq(x.re, y.re), expand(b, last, x.im, y.im)));
  };
  auto extreme = [&](Op order, bool keep_nan) {
    Val xnan = both(Op::isnan);
    Val ynan = m.mor(m.ne(y.re, y.re), m.ne(y.im, y.im));
    Val first = order == Op::greater_equal ? ordered(Op::greater, Op::greater_equal)
                                           : ordered(Op::less, Op::less_equal);
    Val take = m.mor(keep_nan ? xnan : ynan, first);
    return choose(b, take, xv, yv);
  };
  switch (op) {
    case Op::add: return join({m.add(x.re, y.re), m.add(x.im, y.im)});
    case Op::subtract: return join({m.sub(x.re, y.re), m.sub(x.im, y.im)});
    case Op::multiply: return join(multiply(m, x, y));
    case Op::divide: return join(divide(m, x, y));
    case Op::negative: return join({m.neg(x.re), m.neg(x.im)});
    case Op::positive: return xv;
    case Op::conjugate: return join({x.re, m.neg(x.im)});
    case Op::square: return join(multiply(m, x, x));
    case Op::reciprocal: return join(reciprocal(m, x));
    case Op::absolute: return b.emit(Op::hypot, b.type(x.re), x.re, x.im);  // see lower.cpp
    case Op::rint: return join({m.rint(x.re), m.rint(x.im)});
    case Op::log: return join(log(m, x, LogBase::E));
    case Op::log2: return join(log(m, x, LogBase::Two));
    case Op::log10:
      return join(log(m, x, LogBase::Ten));
      // clang-format off
#define NUMBUS_COMPLEX1(name) \
    case Op::name: return join(complex_math::name(m, x));
    NUMBUS_COMPLEX1(sqrt) NUMBUS_COMPLEX1(exp) NUMBUS_COMPLEX1(exp2) NUMBUS_COMPLEX1(expm1) NUMBUS_COMPLEX1(log1p)
    NUMBUS_COMPLEX1(sin) NUMBUS_COMPLEX1(cos) NUMBUS_COMPLEX1(tan) NUMBUS_COMPLEX1(arcsin) NUMBUS_COMPLEX1(arccos)
    NUMBUS_COMPLEX1(arctan) NUMBUS_COMPLEX1(sinh) NUMBUS_COMPLEX1(cosh) NUMBUS_COMPLEX1(tanh) NUMBUS_COMPLEX1(arcsinh)
    NUMBUS_COMPLEX1(arccosh) NUMBUS_COMPLEX1(arctanh) NUMBUS_COMPLEX1(sign)
#undef NUMBUS_COMPLEX1
        // clang-format on
        case Op::power:
    case Op::float_power: return join(power(m, x, y));
    case Op::equal: return m.mand(m.eq(x.re, y.re), m.eq(x.im, y.im));
    case Op::not_equal: return m.mor(m.ne(x.re, y.re), m.ne(x.im, y.im));
    case Op::less: return ordered(Op::less, Op::less);
    case Op::less_equal: return ordered(Op::less, Op::less_equal);
    case Op::greater: return ordered(Op::greater, Op::greater);
    case Op::greater_equal: return ordered(Op::greater, Op::greater_equal);
    case Op::maximum: return extreme(Op::greater_equal, true);
    case Op::minimum: return extreme(Op::less_equal, true);
    case Op::fmax: return extreme(Op::greater_equal, false);
    case Op::fmin: return extreme(Op::less_equal, false);
    case Op::isnan: return both(Op::isnan);
    case Op::isinf: return both(Op::isinf);
    case Op::isfinite: return m.mand(expand(b, op, x.re), expand(b, op, x.im));
      default : raise(ErrorKind::NotImplemented,
                      "expand: no complex rule for " + std::string(op_name(op)));
  }
}

}  // namespace numbus
