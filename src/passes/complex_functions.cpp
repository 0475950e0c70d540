// Square root, exponentials, logarithms, circular and hyperbolic functions of complex numbers.
// Zeros, infinities and NaN are treated as in C's Annex G.
#include "passes/complex_functions.h"

#include "passes/complex_common.h"

namespace numbus::complex_math {

namespace {

using SinCos = math::SinCos<MathBuilder>;

// p 2^n more; low holds n plus twice the exponent bias. The value may exceed the format's range.
struct Scaled {
  Val p, low, more;
};

// s times the value; neither overflows nor underflows before the product does.
Val times(MathBuilder& m, Val s, const Scaled& v) {
  Val half = m.ishr(v.low, 1), other = m.isub(v.low, half);
  Val t = m.mul(m.mul(s, v.more), math::pow2_biased(m, s, half));
  return m.mul(m.mul(t, v.p), math::pow2_biased(m, s, other));
}

// 2^(x c) for large x, c = log2(base); p is the base to the power of the rest.
template <class F>
Scaled scaled_power(MathBuilder& m, Val x, double c, int halvings, F&& rest) {
  // Two powers of two reach 2^2046 | 2^254; beyond, a third factor serves subnormal s.
  auto pick = [&](double c32, double c64) { return math::fpick(m, x, c32 / c, c64 / c); };
  x = math::clamp_above(m, x, pick(281, 2102));
  Val far = m.gt(x, pick(245, 2020));
  auto [n, low] = math::nearest(m, x, m.fconst(x, c), 2 * math::exponent_bias(m, x) - halvings);
  low = m.select(far, m.isub(low, math::ipick(m, x, 40, 60)), low);
  Val more = m.select(far, math::fpick(m, x, 0x1p40, 0x1p60), m.fconst(x, 1));
  return {rest(n), low, more};
}

// e^x / 2^halvings
Scaled scaled_exp(MathBuilder& m, Val x, int halvings) {
  using namespace math::coeffs;
  Val capped = math::clamp_above(m, x, math::fpick(m, x, 195, 1457));
  return scaled_power(m, capped, 1.4426950408889634, halvings, [&](Val n) {
    Val r = m.fma(m.neg(n), math::part(m, x, ln2_f32, ln2_f64, 0), capped);
    return math::exp(m, m.fma(m.neg(n), math::part(m, x, ln2_f32, ln2_f64, 1), r));
  });
}

Scaled scaled_exp2(MathBuilder& m, Val x) {
  Val capped = math::clamp_above(m, x, math::fpick(m, x, 281, 2102));
  return scaled_power(m, capped, 1, 0, [&](Val n) { return math::exp2(m, m.sub(capped, n)); });
}

// b^z by `value`, b^z or b^z - 1, for common z; `real` is that of z.re alone. Above `limit`, where
// b^z.re may overflow, the factors are scaled.
template <class F>
Parts finish_exp(MathBuilder& m, Parts z, Val real, SinCos t, Parts value, Val limit, F&& scaled) {
  Val wild = not_finite(m, z.im), nan = constant_nan(m, real), inf = constant_inf(m, real);
  auto slow = [&]() -> Parts {
    Scaled s = scaled();
    Val large = m.gt(z.re, limit);
    Parts v = select(m, large, {times(m, t.cos, s), times(m, t.sin, s)}, value);
    Val vanishes = m.eq(z.re, m.neg(inf));
    Parts w = {m.select(is_inf(m, z.re), real, nan),
               m.select(vanishes, m.copysign(m.fconst(real, 0), z.im), nan)};
    return select(m, wild, w, v);
  };
  value = in_lanes(m, m.mor(m.gt(z.re, limit), wild), slow, value);
  return select(m, is_zero(m, z.im), {real, z.im}, value);
}

Val exp_limit(MathBuilder& m, Val x) { return math::fpick(m, x, 88, 709); }

// sinh (odd) or cosh.
Parts hyperbolic(MathBuilder& m, Parts z, bool odd) {
  SinCos t = math::sincos(m, z.im);
  Val sh = math::sinh(m, z.re), ch = math::cosh(m, z.re);
  Val first = odd ? sh : ch, second = odd ? ch : sh;
  Parts value = {m.mul(first, t.cos), m.mul(second, t.sin)};
  Val limit = exp_limit(m, z.re), wild = not_finite(m, z.im);
  auto slow = [&]() -> Parts {
    Scaled s = scaled_exp(m, m.abs(z.re), 1);
    Val minus = m.copysign(m.fconst(z.re, 1), z.re);
    Val re = times(m, odd ? m.mul(t.cos, minus) : t.cos, s);
    Val im = times(m, odd ? t.sin : m.mul(t.sin, minus), s);
    Parts v = select(m, m.gt(m.abs(z.re), limit), {re, im}, value);
    // Where C leaves a sign open (Annex G of C11), it is that of glibc's functions, plus.
    v.re = m.select(m.mand(wild, is_inf(m, z.re)), m.abs(first), v.re);
    // A zero factor stays zero, whatever the other is.
    Val turned = m.select(m.eq(z.re, z.re), m.mul(z.im, minus), z.im);
    v.im = m.select(is_zero(m, z.im), odd ? z.im : turned, v.im);
    Val rest = m.mand(wild, is_zero(m, z.re)), none = m.fconst(z.re, 0);
    return odd ? Parts{m.select(rest, z.re, v.re), v.im} : Parts{v.re, m.select(rest, none, v.im)};
  };
  return in_lanes(m, m.mor(beyond(m, z.re, limit), wild), slow, value);
}

}  // namespace

Parts sqrt(MathBuilder& m, Parts z) {
  Val zero = m.fconst(z.re, 0), half = m.fconst(z.re, 0.5), one = m.fconst(z.re, 1);
  Val ax = m.abs(z.re), ay = m.abs(z.im), top = largest(m, z.re, z.im);
  auto pick = [&](double c32, double c64) { return math::fpick(m, z.re, c32, c64); };
  Val large = m.gt(top, pick(0x1p60, 0x1p500)), small = m.lt(top, pick(0x1p-50, 0x1p-400));
  auto scaled = [&](double s32, double s64) {
    return m.select(large, pick(1 / s32, 1 / s64), m.select(small, pick(s32, s64), one));
  };
  Val scale = scaled(0x1p90, 0x1p600), back = scaled(0x1p-45, 0x1p-300);
  Val u = m.mul(ax, scale), v = m.mul(ay, scale);
  Val size = m.sqrt(m.fma(u, u, m.mul(v, v)));
  Val t = m.mul(m.sqrt(m.mul(m.add(u, size), half)), back);
  // An infinite imaginary part decides, even over NaN; +inf needs no help, -inf does.
  Val tall = is_inf(m, z.im);
  t = m.select(m.mor(tall, is_inf(m, z.re)), constant_inf(m, t), t);
  Val other = m.select(tall, t, m.div(ay, m.add(t, t)));
  Val none = m.mand(is_zero(m, ax), is_zero(m, ay)), right = m.ge(z.re, zero);
  other = m.select(none, zero, other);
  return {m.select(right, t, other), m.copysign(m.select(right, other, t), z.im)};
}

Parts exp(MathBuilder& m, Parts z) {
  Val e = math::exp(m, z.re);
  SinCos t = math::sincos(m, z.im);
  return finish_exp(m, z, e, t, {m.mul(e, t.cos), m.mul(e, t.sin)}, exp_limit(m, e),
                    [&] { return scaled_exp(m, z.re, 0); });
}

Parts exp2(MathBuilder& m, Parts z) {
  using namespace math::coeffs;
  Val e = math::exp2(m, z.re);
  // The angle z.im ln2 in two parts, as long as its rounding is small.
  Val c = math::part(m, e, ln2_f32, ln2_f64, 0);
  Pair a = math::two_prod(m, z.im, c);
  a.lo = m.fma(z.im, math::part(m, e, ln2_f32, ln2_f64, 1), a.lo);
  a.lo = m.select(m.lt(m.abs(a.hi), math::fpick(m, e, 0x1p11, 0x1p26)), a.lo, m.fconst(e, 0));
  SinCos t = math::sincos(m, a.hi);
  t = {m.fma(a.lo, t.cos, t.sin), m.fma(m.neg(a.lo), t.sin, t.cos)};
  return finish_exp(m, z, e, t, {m.mul(e, t.cos), m.mul(e, t.sin)}, math::fpick(m, e, 127, 1023),
                    [&] { return scaled_exp2(m, z.re); });
}

// expm1(x) cos(y) - (1 - cos(y)), the latter without cancellation.
Parts expm1(MathBuilder& m, Parts z) {
  Val e = math::exp(m, z.re), less = math::expm1(m, z.re), one = m.fconst(e, 1);
  SinCos t = math::sincos(m, z.im);
  Val near = m.div(m.mul(t.sin, t.sin), m.add(one, t.cos));
  Val fall = m.select(m.gt(t.cos, m.fconst(e, 0)), near, m.sub(one, t.cos));
  return finish_exp(m, z, less, t, {m.fma(less, t.cos, m.neg(fall)), m.mul(e, t.sin)},
                    exp_limit(m, e), [&] { return scaled_exp(m, z.re, 0); });
}

Parts log(MathBuilder& m, Parts z, LogBase base) {
  using namespace math::coeffs;
  Val zero = m.fconst(z.re, 0);
  Pair l = log_square(m, {z.re, zero}, z.im);
  Val v = m.add(l.hi, l.lo), angle = math::arctan2(m, z.im, z.re);
  if (base != LogBase::E) {
    Pair c = base == LogBase::Two ? math::const_pair(m, v, log2e_f32, log2e_f64)
                                  : math::const_pair(m, v, log10e_f32, log10e_f64);
    Pair p = math::two_prod(m, v, c.hi);
    Val rest = m.fma(m.add(m.sub(l.hi, v), l.lo), c.hi, m.fma(v, c.lo, p.lo));
    v = m.select(not_finite(m, v), v, m.add(p.hi, rest));
    angle = m.mul(angle, c.hi);
  }
  return {m.mul(v, m.fconst(v, 0.5)), angle};
}

Parts log1p(MathBuilder& m, Parts z) {
  Pair x = math::two_sum(m, m.fconst(z.re, 1), z.re);
  x.lo = m.select(beyond(m, z.re, math::fpick(m, z.re, 0x1p60, 0x1p100)), m.fconst(z.re, 0), x.lo);
  Pair l = log_square(m, x, z.im);
  return {m.mul(m.add(l.hi, l.lo), m.fconst(z.re, 0.5)), math::arctan2(m, z.im, x.hi)};
}

Parts sinh(MathBuilder& m, Parts z) { return hyperbolic(m, z, true); }
Parts cosh(MathBuilder& m, Parts z) { return hyperbolic(m, z, false); }

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y): a sum without cancellation, and no poles.
Parts tanh(MathBuilder& m, Parts z) {
  SinCos t = math::sincos(m, z.im);
  Val sh = math::sinh(m, z.re), ch = math::cosh(m, z.re), a = m.abs(z.re);
  Val d = m.fma(sh, sh, m.mul(t.cos, t.cos));
  Parts value = {m.div(m.mul(sh, ch), d), m.div(m.mul(t.sin, t.cos), d)};
  Val limit = math::fpick(m, a, 10, 20), wild = not_finite(m, z.im);
  auto slow = [&]() -> Parts {
    Val e = math::exp(m, m.neg(a)), large = m.ge(a, limit);
    Val im = m.mul(m.mul(m.mul(t.sin, e), m.fconst(a, 4)), m.mul(t.cos, e));
    im = m.select(m.mand(wild, is_inf(m, a)), m.copysign(m.fconst(a, 0), z.im), im);
    Parts v = select(m, large, {m.copysign(m.fconst(a, 1), z.re), im}, value);
    Val rest = m.select(is_zero(m, z.re), z.re, constant_nan(m, a));
    v.re = m.select(m.mand(wild, m.mnot(is_inf(m, a))), rest, v.re);
    v.im = m.select(is_zero(m, z.im), z.im, v.im);
    return v;
  };
  return in_lanes(m, m.mor(beyond(m, a, limit), wild), slow, value);
}

// By f(iz) of the hyperbolic functions.
Parts sin(MathBuilder& m, Parts z) {
  Parts w = sinh(m, {z.im, z.re});
  return {w.im, w.re};
}
Parts cos(MathBuilder& m, Parts z) { return cosh(m, {m.neg(z.im), z.re}); }
Parts tan(MathBuilder& m, Parts z) {
  Parts w = tanh(m, {z.im, z.re});
  return {w.im, w.re};
}

}  // namespace numbus::complex_math
