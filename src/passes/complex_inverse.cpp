// Inverse circular and hyperbolic functions of complex numbers, by Kahan ("Branch cuts for complex
// elementary functions", 1987): the sign of a zero says on which side of a cut it lies.
#include "passes/complex_common.h"

namespace numbus::complex_math {

namespace {

// sqrt(1 - z) and sqrt(1 + z): their imaginary parts differ in sign, so that neither product below
// cancels.
struct Roots {
  Parts minus, plus;
};
Roots roots(MathBuilder& m, Parts z) {
  Val one = m.fconst(z.re, 1);
  return {sqrt(m, {m.sub(one, z.re), m.neg(z.im)}), sqrt(m, {m.add(one, z.re), z.im})};
}

// Where z is so large that the imaginary part is log|2z|: before the products overflow.
Val remote(MathBuilder& m, Parts z) {
  Val limit = math::fpick(m, z.re, 0x1p40, 0x1p200);
  return m.mor(beyond(m, z.re, limit), beyond(m, z.im, limit));
}
Val log_twice(MathBuilder& m, Parts z) {
  return m.add(log_size(m, z), m.fconst(z.re, 0.69314718055994531));
}
Val half_pi(MathBuilder& m, Val like) { return m.fconst(like, 1.5707963267948966); }

}  // namespace

Parts arcsin(MathBuilder& m, Parts z) {
  auto [p, q] = roots(m, z);
  Val across = m.fma(p.re, q.re, m.neg(m.mul(p.im, q.im)));
  Val up = m.fma(p.re, q.im, m.neg(m.mul(p.im, q.re)));
  Parts value = {math::arctan2(m, z.re, across), math::arcsinh(m, up)};
  value = select(m, is_small(m, z), z, value);
  auto slow = [&]() -> Parts {
    Val re = math::arctan2(m, z.re, m.abs(z.im));
    re = m.select(is_zero(m, z.re), z.re, re);
    return {re, m.copysign(log_twice(m, z), z.im)};
  };
  return in_lanes(m, remote(m, z), slow, value);
}

Parts arccos(MathBuilder& m, Parts z) {
  auto [p, q] = roots(m, z);
  Val angle = math::arctan2(m, p.re, q.re);
  Val up = m.fma(q.re, p.im, m.neg(m.mul(q.im, p.re)));
  Parts value = {m.add(angle, angle), m.select(is_small(m, z), m.neg(z.im), math::arcsinh(m, up))};
  auto slow = [&]() -> Parts {
    Val re = math::arctan2(m, m.abs(z.im), z.re);
    re = m.select(is_zero(m, z.re), half_pi(m, re), re);
    return {re, m.copysign(log_twice(m, z), m.neg(z.im))};
  };
  return in_lanes(m, remote(m, z), slow, value);
}

Parts arctanh(MathBuilder& m, Parts z) {
  Val a = m.abs(z.re), y = m.abs(z.im), one = m.fconst(a, 1), zero = m.fconst(a, 0);
  Val below = m.sub(one, a), above = m.add(one, a), y2 = m.mul(z.im, z.im);
  Val ratio = m.div(m.mul(a, m.fconst(a, 4)), m.fma(below, below, y2));
  Val re = m.mul(math::log1p(m, ratio), m.fconst(a, 0.25));
  Val angle = math::arctan2(m, m.add(z.im, z.im), m.fma(below, above, m.neg(y2)));
  Parts value = {m.copysign(re, z.re), m.mul(angle, m.fconst(a, 0.5))};
  // At 1 + iy the square of y must not vanish; far out no square may overflow.
  Val least = math::fpick(m, a, 0x1p-55, 0x1p-450), most = math::fpick(m, a, 0x1p55, 0x1p450);
  Val close = m.mand(m.eq(a, one), m.lt(y, least));
  Val far = m.mor(beyond(m, a, most), beyond(m, y, most));
  auto slow = [&]() -> Parts {
    Val near_re = m.mul(m.sub(m.fconst(a, 0.69314718055994531), math::log(m, y)), m.fconst(a, 0.5));
    Val inf = m.mor(is_inf(m, a), is_inf(m, y));
    // |z| may be infinite for finite z; a quarter is not.
    Val quarter = m.fconst(a, 0.25), small = m.mul(a, quarter);
    Val size = math::hypot(m, small, m.mul(y, quarter));
    Val far_re = m.mul(m.div(m.div(small, size), size), quarter);
    far_re = m.select(m.mor(inf, is_zero(m, a)), zero, far_re);
    Val nan = m.mor(m.ne(y, y), m.mand(m.ne(a, a), m.mnot(inf)));
    Val far_im = m.select(nan, constant_nan(m, a), half_pi(m, a));
    Val r = m.select(far, far_re, near_re);
    return {m.copysign(r, z.re), m.select(far, m.copysign(far_im, z.im), value.im)};
  };
  return in_lanes(m, m.mor(close, far), slow, value);
}

// By f(iz) of the functions above.
Parts arcsinh(MathBuilder& m, Parts z) {
  Parts w = arcsin(m, {z.im, z.re});
  return {w.im, w.re};
}
Parts arctan(MathBuilder& m, Parts z) {
  Parts w = arctanh(m, {z.im, z.re});
  return {w.im, w.re};
}
Parts arccosh(MathBuilder& m, Parts z) {
  Parts w = arccos(m, z);
  return {m.abs(w.im), m.copysign(w.re, z.im)};
}

}  // namespace numbus::complex_math
