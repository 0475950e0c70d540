// Complex products, quotients, signs and powers by NumPy's formulas.
#include "passes/complex_common.h"

namespace numbus::complex_math {

Parts multiply(MathBuilder& m, Parts x, Parts y) {
  return {m.sub(m.mul(x.re, y.re), m.mul(x.im, y.im)), m.add(m.mul(x.re, y.im), m.mul(x.im, y.re))};
}

// Smith's division: scales by the larger part of the divisor, so that intermediate squares cannot
// overflow.
Parts divide(MathBuilder& m, Parts x, Parts y) {
  Val ar = m.abs(y.re), ai = m.abs(y.im), one = m.fconst(ar, 1);
  Val by_re = m.ge(ar, ai);
  Val num = m.select(by_re, y.im, y.re), den = m.select(by_re, y.re, y.im);
  Val ratio = m.div(num, den);
  Val scale = m.div(one, m.add(den, m.mul(num, ratio)));
  Val re = m.select(by_re, m.add(x.re, m.mul(x.im, ratio)), m.add(m.mul(x.re, ratio), x.im));
  Val im = m.select(by_re, m.sub(x.im, m.mul(x.re, ratio)), m.sub(m.mul(x.im, ratio), x.re));
  Val none = m.mand(is_zero(m, ar), is_zero(m, ai));
  return select(m, none, {m.div(x.re, ar), m.div(x.im, ar)}, {m.mul(re, scale), m.mul(im, scale)});
}

Parts reciprocal(MathBuilder& m, Parts z) {
  Val by_re = m.le(m.abs(z.im), m.abs(z.re)), one = m.fconst(z.re, 1);
  Val num = m.select(by_re, z.im, z.re), den = m.select(by_re, z.re, z.im);
  Val ratio = m.div(num, den), scale = m.add(den, m.mul(num, ratio));
  Val large = m.div(one, scale), small = m.div(ratio, scale);
  return {m.select(by_re, large, small), m.neg(m.select(by_re, small, large))};
}

// z / |z|. The only infinite part counts as 1, the other then as 0.
Parts sign(MathBuilder& m, Parts z) {
  Val zero = m.fconst(z.re, 0), one = m.fconst(z.re, 1), size = math::hypot(m, z.re, z.im);
  auto pick = [&](double c32, double c64) { return math::fpick(m, z.re, c32, c64); };
  Val tiny = m.lt(size, pick(0x1p-100, 0x1p-900)), huge = m.gt(size, pick(0x1p100, 0x1p900));
  auto slow = [&]() -> Parts {
    Val rinf = is_inf(m, z.re), iinf = is_inf(m, z.im), inf = m.mor(rinf, iinf);
    auto scaled = [&](Val v, Val mine) {
      Val s = m.mul(v, m.select(huge, pick(0x1p-40, 0x1p-200), pick(0x1p60, 0x1p300)));
      return m.select(inf, m.select(mine, m.copysign(one, v), zero), s);
    };
    Val re = scaled(z.re, rinf), im = scaled(z.im, iinf), by = math::hypot(m, re, im);
    Val nan = constant_nan(m, re), both = m.mand(rinf, iinf);
    Parts v = select(m, is_zero(m, size), {zero, zero}, {m.div(re, by), m.div(im, by)});
    return select(m, both, {nan, nan}, v);
  };
  return in_lanes(m, m.mor(tiny, huge), slow, {m.div(z.re, size), m.div(z.im, size)});
}

namespace {

// x^n for whole n, |n| < 100: by squares, in NumPy's order.
Parts whole_power(MathBuilder& m, Parts x, Val n) {
  Val one = m.fconst(n, 1), zero = m.fconst(n, 0);
  Parts square = multiply(m, x, x);
  Parts low = select(m, m.eq(n, one), x, square);
  low = select(m, m.eq(n, m.fconst(n, 3)), multiply(m, x, square), low);
  auto slow = [&]() -> Parts {
    Val left = m.to_int(math::clamp_above(m, m.abs(n), m.fconst(n, 127)));
    Parts r = {one, zero}, p = x;
    for (int bit = 1; bit < 128; bit *= 2) {
      Val skip = math::bit_test(m, left, bit);
      r = select(m, skip, r, multiply(m, r, p));
      p = multiply(m, p, p);
    }
    return select(m, m.lt(n, zero), divide(m, {one, zero}, r), r);
  };
  Val simple = m.mand(m.ge(n, one), m.le(n, m.fconst(n, 3)));
  return in_lanes(m, m.mnot(simple), slow, low);
}

// e^(y log x), the exponent in two parts but for the rounding of x's angle.
Parts general_power(MathBuilder& m, Parts x, Parts y) {
  Val zero = m.fconst(x.re, 0), half = m.fconst(x.re, 0.5);
  Pair l = log_square(m, {x.re, zero}, x.im);
  Val hi = m.add(l.hi, l.lo), lo = m.add(m.sub(l.hi, hi), l.lo);
  hi = m.mul(hi, half);
  lo = m.select(not_finite(m, hi), zero, m.mul(lo, half));
  Val angle = math::arctan2(m, x.im, x.re);
  // a hi + b angle + a lo
  auto sum = [&](Val a, Val b) {
    Pair p = math::two_prod(m, a, hi), q = math::two_prod(m, b, angle);
    Pair s = math::two_sum(m, p.hi, q.hi);
    Val rest = m.fma(a, lo, m.add(s.lo, m.add(p.lo, q.lo)));
    Val limit = math::fpick(m, a, 0x1p11, 0x1p26);
    return Pair{s.hi, m.select(beyond(m, s.hi, limit), zero, rest)};
  };
  Pair re = sum(y.re, m.neg(y.im)), im = sum(y.im, y.re);
  Parts v = exp(m, {re.hi, im.hi});
  auto corrected = [&](Val of, Val change) {
    return m.add(of, m.select(not_finite(m, change), zero, change));
  };
  return {corrected(v.re, m.fma(v.re, re.lo, m.neg(m.mul(v.im, im.lo)))),
          corrected(v.im, m.fma(v.im, re.lo, m.mul(v.re, im.lo)))};
}

}  // namespace

Parts power(MathBuilder& m, Parts x, Parts y) {
  Val zero = m.fconst(x.re, 0), one = m.fconst(x.re, 1), nan = constant_nan(m, x.re);
  Val base_zero = m.mand(is_zero(m, x.re), is_zero(m, x.im)), real = is_zero(m, y.im);
  Val exponent_zero = m.mand(is_zero(m, y.re), real);
  Val positive = m.gt(y.re, zero);
  Parts v = select(m, positive, {zero, zero}, {nan, nan});
  v = select(m, exponent_zero, {one, zero}, v);
  Val known = m.mor(base_zero, exponent_zero);
  Val whole = m.mand(m.lt(m.abs(y.re), m.fconst(one, 100)), m.eq(m.rint(y.re), y.re));
  whole = m.mand(m.mand(whole, real), m.mnot(known));
  v = in_lanes(m, whole, [&] { return whole_power(m, x, y.re); }, v);
  Val other = m.mnot(m.mor(whole, known));
  return in_lanes(m, other, [&] { return general_power(m, x, y); }, v);
}

}  // namespace numbus::complex_math
