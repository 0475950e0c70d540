// Complex arithmetic by NumPy's formulas, and complex elementary functions from the real ones.
#include "passes/expand_complex.h"

#include "base/error.h"
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
  const ir::Inst& i = b.kernel().body[z];
  return i.op == Op::make_complex ? i.a : b.emit(Op::real_part, real_of(i.type), z);
}
Val imag_part(Builder& b, Val z) {
  const ir::Inst& i = b.kernel().body[z];
  return i.op == Op::make_complex ? i.b : b.emit(Op::imag_part, real_of(i.type), z);
}

namespace {

struct Parts {
  Val re, im;
};

// Smith's division: scales by the larger part of the divisor, so that intermediate squares cannot overflow.
Parts divide(MathBuilder& m, Parts x, Parts y) {
  Val ar = m.abs(y.re), ai = m.abs(y.im), zero = m.fconst(ar, 0), one = m.fconst(ar, 1);
  Val by_re = m.ge(ar, ai);
  Val num = m.select(by_re, y.im, y.re), den = m.select(by_re, y.re, y.im);
  Val ratio = m.div(num, den);
  Val scale = m.div(one, m.add(den, m.mul(num, ratio)));
  Val re = m.select(by_re, m.add(x.re, m.mul(x.im, ratio)), m.add(m.mul(x.re, ratio), x.im));
  Val im = m.select(by_re, m.sub(x.im, m.mul(x.re, ratio)), m.sub(m.mul(x.im, ratio), x.re));
  Val both_zero = m.mand(m.eq(ar, zero), m.eq(ai, zero));
  return {m.select(both_zero, m.div(x.re, ar), m.mul(re, scale)),
          m.select(both_zero, m.div(x.im, ar), m.mul(im, scale))};
}

Parts multiply(MathBuilder& m, Parts x, Parts y) {
  return {m.sub(m.mul(x.re, y.re), m.mul(x.im, y.im)), m.add(m.mul(x.re, y.im), m.mul(x.im, y.re))};
}

Parts square_root(MathBuilder& m, Parts z) {
  Val zero = m.fconst(z.re, 0), half = m.fconst(z.re, 0.5);
  Val big = math::hypot(m, z.re, z.im);
  Val t = m.sqrt(m.add(m.mul(m.abs(z.re), half), m.mul(big, half)));
  Val other = m.div(m.mul(m.abs(z.im), half), t);
  Val right = m.ge(z.re, zero);
  Val re = m.select(right, t, other), im = m.select(right, other, t);
  Val none = m.eq(big, zero);
  return {m.select(none, zero, re), m.copysign(m.select(none, zero, im), z.im)};
}

Parts exponential(MathBuilder& m, Parts z) {
  Val e = math::exp(m, z.re), zero = m.fconst(e, 0);
  Val real_only = m.eq(z.im, zero);
  return {m.select(real_only, e, m.mul(e, math::cos(m, z.im))),
          m.select(real_only, z.im, m.mul(e, math::sin(m, z.im)))};
}

Parts logarithm(MathBuilder& m, Parts z) {
  return {math::log(m, math::hypot(m, z.re, z.im)), math::arctan2(m, z.im, z.re)};
}

// sin, cos, sinh, cosh of z from the real functions of its parts.
Parts circular(MathBuilder& m, Op op, Parts z) {
  if (op == Op::sin) return {m.mul(math::sin(m, z.re), math::cosh(m, z.im)), m.mul(math::cos(m, z.re), math::sinh(m, z.im))};
  if (op == Op::cos) return {m.mul(math::cos(m, z.re), math::cosh(m, z.im)), m.neg(m.mul(math::sin(m, z.re), math::sinh(m, z.im)))};
  if (op == Op::sinh) return {m.mul(math::sinh(m, z.re), math::cos(m, z.im)), m.mul(math::cosh(m, z.re), math::sin(m, z.im))};
  return {m.mul(math::cosh(m, z.re), math::cos(m, z.im)), m.mul(math::sinh(m, z.re), math::sin(m, z.im))};
}

Parts power(MathBuilder& m, Parts x, Parts y) {
  Val zero = m.fconst(x.re, 0), one = m.fconst(x.re, 1);
  Parts p = exponential(m, multiply(m, y, logarithm(m, x)));
  Val base_zero = m.mand(m.eq(x.re, zero), m.eq(x.im, zero));
  Val power_zero = m.mand(m.eq(y.re, zero), m.eq(y.im, zero));
  Val re = m.select(base_zero, zero, p.re), im = m.select(base_zero, zero, p.im);
  return {m.select(power_zero, one, re), m.select(power_zero, zero, im)};
}

}  // namespace

bool has_complex_expansion(Op op) {
  switch (op) {
    case Op::add: case Op::subtract: case Op::multiply: case Op::divide: case Op::negative: case Op::positive:
    case Op::conjugate: case Op::square: case Op::reciprocal: case Op::absolute: case Op::sqrt: case Op::exp:
    case Op::log: case Op::log2: case Op::log10: case Op::sin: case Op::cos: case Op::sinh: case Op::cosh:
    case Op::power: case Op::float_power: case Op::equal: case Op::not_equal: case Op::isnan: case Op::isinf:
    case Op::isfinite: case Op::sign: case Op::rint: case Op::less: case Op::less_equal: case Op::greater:
    case Op::greater_equal: case Op::maximum: case Op::minimum: case Op::fmax: case Op::fmin: return true;
    default: return row(op).rule == Rule::Logical;
  }
}

Val expand_complex(Builder& b, Op op, Val xv, Val yv) {
  MathBuilder m(b);
  Parts x{real_part(b, xv), imag_part(b, xv)}, y{ir::kNone, ir::kNone};
  if (yv != ir::kNone) y = {real_part(b, yv), imag_part(b, yv)};
  auto join = [&](Parts p) { return make_complex(b, p.re, p.im); };
  auto both = [&](Op o) { return b.emit(Op::logical_or, DType::Bool, expand(b, o, x.re), expand(b, o, x.im)); };
  // Lexicographic order, as NumPy compares complex numbers.
  auto ordered = [&](Op strict, Op last) {
    return m.mor(expand(b, strict, x.re, y.re), m.mand(m.eq(x.re, y.re), expand(b, last, x.im, y.im)));
  };
  auto extreme = [&](Op order, bool keep_nan) {
    Val xnan = both(Op::isnan);
    Val ynan = m.mor(m.ne(y.re, y.re), m.ne(y.im, y.im));
    Val first = order == Op::greater_equal ? ordered(Op::greater, Op::greater_equal) : ordered(Op::less, Op::less_equal);
    Val take = keep_nan ? m.mor(xnan, m.mand(first, m.mnot(ynan))) : m.mor(ynan, m.mand(first, m.mnot(xnan)));
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
    case Op::reciprocal: return join(divide(m, {m.fconst(x.re, 1), m.fconst(x.re, 0)}, x));
    case Op::absolute: return math::hypot(m, x.re, x.im);
    case Op::rint: return join({m.rint(x.re), m.rint(x.im)});
    case Op::sqrt: return join(square_root(m, x));
    case Op::exp: return join(exponential(m, x));
    case Op::log: return join(logarithm(m, x));
    case Op::log2:
    case Op::log10: {
      Parts l = logarithm(m, x);
      Val s = m.fconst(x.re, op == Op::log2 ? 1.4426950408889634074 : 0.43429448190325182765);
      return join({m.mul(l.re, s), m.mul(l.im, s)});
    }
    case Op::sin: case Op::cos: case Op::sinh: case Op::cosh: return join(circular(m, op, x));
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
    case Op::sign: {
      Val zero = m.fconst(x.re, 0), size = math::hypot(m, x.re, x.im);
      Val none = m.eq(size, zero);
      return join({m.select(none, zero, m.div(x.re, size)), m.select(none, zero, m.div(x.im, size))});
    }
    default: raise(ErrorKind::NotImplemented, "expand: no complex rule for " + std::string(op_name(op)));
  }
}

}  // namespace numbus
