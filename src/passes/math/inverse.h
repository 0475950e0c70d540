// Inverse circular and hyperbolic functions.
#pragma once

#include "passes/math/log.h"

namespace numbus::math {

// atan(q + q_lo) - q for 0 <= q <= 1.
template <class B>
Val<B> atan_tail(B& b, Val<B> q, Val<B> q_lo) {
  using namespace coeffs;
  Val<B> z = b.mul(q, q);
  // q_lo times the slope 1 / (1 + z), near enough.
  Val<B> slope = b.fma(z, b.fconst(q, -0.5), b.fconst(q, 1.0));
  // Horner's order: sums of the even and odd powers would be larger than the result.
  return b.fma(b.mul(q, z), poly(b, z, atan_f32, atan_f64), b.mul(q_lo, slope));
}

// base +- (q + tail) with the sign bit `flip`; base is a pair not below q, or zero.
template <class B>
Val<B> add_angle(B& b, Pair<B> base, Val<B> q, Val<B> tail, Val<B> flip) {
  auto apply = [&](Val<B> v) { return b.float_of(b.ixor(b.bits(v), flip)); };
  Pair<B> s = fast_two_sum(b, base.hi, apply(q));
  return b.add(s.hi, b.add(s.lo, b.add(base.lo, apply(tail))));
}

template <class B>
Val<B> arctan(B& b, Val<B> x) {
  using namespace coeffs;
  Val<B> zero = b.fconst(x, 0.0), one = b.fconst(x, 1.0);
  Val<B> a = clamp_above(b, b.abs(x), fpick(b, x, 0x1p60, 0x1p120));
  Val<B> far = b.gt(a, one);
  Val<B> r = b.div(one, a), r_lo = b.mul(b.fma(b.neg(r), a, one), r);
  Val<B> q = b.select(far, r, a), tail = atan_tail(b, q, b.select(far, r_lo, zero));
  Pair<B> c = const_pair(b, x, pio2_pair_f32, pio2_pair_f64);
  Pair<B> base = {b.select(far, c.hi, zero), b.select(far, c.lo, zero)};
  Val<B> sign = b.bits(b.fconst(x, -0.0));
  Val<B> v = add_angle(b, base, q, tail, b.select(far, sign, b.iconst(x, 0)));
  return b.copysign(v, x);
}

template <class B>
Val<B> arctan2(B& b, Val<B> y, Val<B> x) {
  using namespace coeffs;
  Val<B> zero = b.fconst(x, 0.0), one = b.fconst(x, 1.0), inf = b.fconst(x, __builtin_inf());
  Val<B> ay = b.abs(y), ax = b.abs(x);
  Val<B> steep = b.gt(ay, ax);
  Val<B> num = b.select(steep, ax, ay), den = b.select(steep, ay, ax);
  // Infinite: the quotient is 1 if both are, else 0 (or NaN).
  Val<B> infinite = b.eq(den, inf);
  num = b.select(infinite, b.select(b.eq(num, inf), one, b.mul(num, zero)), num);
  den = b.select(b.mor(infinite, b.eq(den, zero)), one, den);
  // Small: scaled up, so that the rest of the division does not underflow.
  Val<B> scale = b.select(b.lt(den, fpick(b, x, 0x1p-60, 0x1p-500)), fpick(b, x, 0x1p80, 0x1p560), one);
  num = b.mul(num, scale);
  den = b.mul(den, scale);
  Val<B> q = b.div(num, den);
  Val<B> tail = atan_tail(b, q, b.div(b.fma(b.neg(q), den, num), den));
  Val<B> none = b.iconst(x, 0), sign = b.bits(b.fconst(x, -0.0)), left = sign_bit(b, x);
  Val<B> right = b.ieq(left, none);
  Pair<B> half = const_pair(b, x, pio2_pair_f32, pio2_pair_f64), full = const_pair(b, x, pi_pair_f32, pi_pair_f64);
  Pair<B> base = {b.select(steep, half.hi, b.select(right, zero, full.hi)),
                  b.select(steep, half.lo, b.select(right, zero, full.lo))};
  Val<B> flip = b.ixor(left, b.select(steep, sign, none));
  return b.copysign(add_angle(b, base, q, tail, flip), y);
}

// asin(|x|) = s + p for |x| <= 1/2, else pi/2 - 2 (s + p): p is small.
template <class B>
struct AsinParts {
  Val<B> a, s, p, big;
};
template <class B>
AsinParts<B> reduce_asin(B& b, Val<B> x) {
  using namespace coeffs;
  Val<B> zero = b.fconst(x, 0.0), half = b.fconst(x, 0.5), a = b.abs(x);
  Val<B> big = b.gt(a, half);
  Val<B> z = b.select(big, b.fma(b.neg(half), a, half), b.mul(a, a));
  Pair<B> root = sqrt_pair(b, Pair<B>{z, zero});
  Val<B> s = b.select(big, root.hi, a);
  Val<B> p = b.fma(b.mul(s, z), poly2(b, z, b.mul(z, z), asin_f32, asin_f64), b.select(big, root.lo, zero));
  return {a, s, p, big};
}

template <class B>
Val<B> arcsin(B& b, Val<B> x) {
  using namespace coeffs;
  AsinParts<B> v = reduce_asin(b, x);
  Pair<B> c = const_pair(b, x, pio2_pair_f32, pio2_pair_f64);
  Val<B> twice = b.fconst(x, -2.0);
  Pair<B> s = fast_two_sum(b, c.hi, b.mul(v.s, twice));
  Val<B> far = b.add(s.hi, b.add(s.lo, b.fma(v.p, twice, c.lo)));
  return b.copysign(b.select(v.big, far, b.add(v.s, v.p)), x);
}

template <class B>
Val<B> arccos(B& b, Val<B> x) {
  using namespace coeffs;
  AsinParts<B> v = reduce_asin(b, x);
  Val<B> zero = b.fconst(x, 0.0), two = b.fconst(x, 2.0), one = b.fconst(x, 1.0);
  Val<B> factor = b.select(v.big, two, one);
  Val<B> sign = b.bits(b.fconst(x, -0.0)), right = b.gt(x, zero);
  // Up to 1/2: pi/2 - asin(x). Beyond: 2 (s + p), or pi minus that for negative x.
  Pair<B> half = const_pair(b, x, pio2_pair_f32, pio2_pair_f64), full = const_pair(b, x, pi_pair_f32, pi_pair_f64);
  Pair<B> base = {b.select(v.big, b.select(right, zero, full.hi), half.hi),
                  b.select(v.big, b.select(right, zero, full.lo), half.lo)};
  Val<B> none = b.iconst(x, 0), flip = b.ixor(sign_bit(b, x), b.select(v.big, none, sign));
  return add_angle(b, base, b.mul(v.s, factor), b.mul(v.p, factor), flip);
}

// log(x + sqrt(x^2 +- 1)) of x >= 0 as a pair's logarithm; from `limit` on log(2x).
template <class B>
Val<B> log_with_root(B& b, Val<B> x, double sign) {
  Val<B> zero = b.fconst(x, 0.0), one = b.fconst(x, 1.0), unit = b.fconst(x, sign);
  Pair<B> square = two_prod(b, x, x);
  Pair<B> s = two_sum(b, square.hi, unit);
  s = fast_two_sum(b, s.hi, b.add(s.lo, square.lo));
  Pair<B> root = sqrt_pair(b, s);
  Pair<B> v = sign > 0 ? fast_two_sum(b, root.hi, x) : fast_two_sum(b, x, root.hi);
  v.lo = b.add(v.lo, root.lo);
  Val<B> big = b.gt(x, fpick(b, x, 0x1p14, 0x1p30));
  v = {b.select(big, x, v.hi), b.select(big, zero, v.lo)};
  Pair<B> y = log_pair(b, v, b.select(big, one, zero));
  return b.add(y.hi, y.lo);
}

template <class B>
Val<B> arcsinh(B& b, Val<B> x) {
  Val<B> v = b.copysign(log_with_root(b, b.abs(x), 1.0), x);
  return keep_tiny(b, x, fpick(b, x, 0x1p-13, 0x1p-28), v);
}

template <class B>
Val<B> arccosh(B& b, Val<B> x) {
  Val<B> v = log_with_root(b, x, -1.0);
  return b.select(b.ge(x, b.fconst(x, 1.0)), v, b.fconst(x, __builtin_nan("")));
}

template <class B>
Val<B> arctanh(B& b, Val<B> x) {
  Val<B> zero = b.fconst(x, 0.0), one = b.fconst(x, 1.0), a = b.abs(x);
  Pair<B> n = fast_two_sum(b, one, a), d = fast_two_sum(b, one, b.neg(a));
  Val<B> q = b.div(n.hi, d.hi);
  Val<B> rest = b.add(b.fma(b.neg(q), d.hi, n.hi), b.fma(b.neg(q), d.lo, n.lo));
  Val<B> low = b.select(b.lt(a, one), b.div(rest, d.hi), zero);
  Pair<B> v = fast_two_sum(b, q, low);
  Pair<B> y = log_pair(b, {b.select(b.lt(a, one), v.hi, q), b.select(b.lt(a, one), v.lo, zero)}, zero);
  Val<B> r = b.copysign(b.mul(b.add(y.hi, y.lo), b.fconst(x, 0.5)), x);
  return keep_tiny(b, x, fpick(b, x, 0x1p-13, 0x1p-28), r);
}

}  // namespace numbus::math
