// Inverse circular and hyperbolic functions.
#pragma once

#include "passes/math/log.h"

namespace numbus::math {

// atan(y / x) for y, x >= 0, x + y finite, as base + q + tail: base is 0, pi/4 or pi/2 and |q| <=
// tan(pi/8).
template <class B>
struct AtanParts {
  Val<B> q, tail, low, high;  // low: base is 0, high: base is pi/2
};
template <class B>
AtanParts<B> reduce_atan(B& b, Val<B> y, Val<B> x) {
  using namespace coeffs;
  Val<B> zero = b.fconst(x, 0.0);
  Val<B> low = b.le(y, b.mul(x, b.fconst(x, 0.41421356237309503)));
  Val<B> high = b.ge(b.mul(y, b.fconst(x, 0.41421356237309503)), x);
  auto pick = [&](Val<B> u, Val<B> v, Val<B> w) { return b.select(low, u, b.select(high, v, w)); };
  Pair<B> diff = two_sum(b, y, b.neg(x)), sum = two_sum(b, y, x);
  Pair<B> n = {pick(y, b.neg(x), diff.hi), pick(zero, zero, diff.lo)};
  Pair<B> d = {pick(x, y, sum.hi), pick(zero, zero, sum.lo)};
  Val<B> q = b.div(n.hi, d.hi), m = b.neg(q);
  Val<B> rest = b.add(b.fma(m, d.hi, n.hi), b.fma(m, d.lo, n.lo));
  Val<B> z = b.mul(q, q);
  Val<B> slope = b.fma(b.neg(z), b.fconst(x, 0.9), b.fconst(x, 1.0));  // near 1 / (1 + z)
  Val<B> tail = b.mul(b.div(rest, d.hi), slope);
  return {q, b.fma(b.mul(q, z), poly2(b, z, b.mul(z, z), atan_f32, atan_f64), tail), low, high};
}

// base +- (q + tail) with the sign bit `flip`; base is a pair not below q in size, or zero.
template <class B>
Val<B> add_angle(B& b, Pair<B> base, Val<B> q, Val<B> tail, Val<B> flip) {
  auto apply = [&](Val<B> v) { return b.float_of(b.ixor(b.bits(v), flip)); };
  Pair<B> s = fast_two_sum(b, base.hi, apply(q));
  return b.add(s.hi, b.add(s.lo, b.add(base.lo, apply(tail))));
}

template <class B>
Val<B> arctan(B& b, Val<B> x) {
  using namespace coeffs;
  Val<B> zero = b.fconst(x, 0.0);
  Val<B> a = clamp_above(b, b.abs(x), fpick(b, x, 0x1p60, 0x1p120));
  auto [q, tail, low, high] = reduce_atan(b, a, b.fconst(x, 1.0));
  Pair<B> half = const_pair(b, x, pio2_pair_f32, pio2_pair_f64),
          quarter = const_pair(b, x, pio4_f32, pio4_f64);
  Pair<B> base = pick_pair(b, low, Pair<B>{zero, zero}, pick_pair(b, high, half, quarter));
  return b.copysign(add_angle(b, base, q, tail, b.iconst(x, 0)), x);
}

template <class B>
Val<B> arctan2(B& b, Val<B> y, Val<B> x) {
  using namespace coeffs;
  Val<B> zero = b.fconst(x, 0.0), one = b.fconst(x, 1.0), inf = b.fconst(x, __builtin_inf());
  Val<B> ay = b.abs(y), ax = b.abs(x);
  Val<B> steep = b.gt(ay, ax);
  Val<B> most = b.select(steep, ay, ax);
  // Infinite: what is infinite counts as 1, else as 0 (or NaN). Both zero: as y = 0, x = 1.
  Val<B> infinite = b.eq(most, inf);
  auto finite = [&](Val<B> v) {
    return b.select(infinite, b.select(b.eq(v, inf), one, b.mul(v, zero)), v);
  };
  ay = finite(ay);
  ax = b.select(b.eq(most, zero), one, finite(ax));
  // Scaled, so that neither the sum overflows nor the rest of the division underflows.
  Val<B> tiny = b.lt(most, fpick(b, x, 0x1p-60, 0x1p-500)),
         huge = b.gt(most, fpick(b, x, 0x1p100, 0x1p1000));
  Val<B> up = fpick(b, x, 0x1p80, 0x1p560), down = fpick(b, x, 0x1p-4, 0x1p-4);
  Val<B> scale = b.select(infinite, one, b.select(tiny, up, b.select(huge, down, one)));
  scale = b.select(b.eq(most, zero), one, scale);
  auto [q, tail, low, high] = reduce_atan(b, b.mul(ay, scale), b.mul(ax, scale));
  Pair<B> half = const_pair(b, x, pio2_pair_f32, pio2_pair_f64),
          full = const_pair(b, x, pi_pair_f32, pi_pair_f64);
  Pair<B> quarter = const_pair(b, x, pio4_f32, pio4_f64),
          three = const_pair(b, x, pio4x3_f32, pio4x3_f64);
  Val<B> left = sign_bit(b, x), right = b.ieq(left, b.iconst(x, 0));
  Pair<B> base = pick_pair(b, low, pick_pair(b, right, Pair<B>{zero, zero}, full),
                           pick_pair(b, high, half, pick_pair(b, right, quarter, three)));
  return b.copysign(add_angle(b, base, q, tail, left), y);
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
  Val<B> p = b.fma(b.mul(s, z), poly2(b, z, b.mul(z, z), asin_f32, asin_f64),
                   b.select(big, root.lo, zero));
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
  Pair<B> half = const_pair(b, x, pio2_pair_f32, pio2_pair_f64),
          full = const_pair(b, x, pi_pair_f32, pi_pair_f64);
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
  Pair<B> y =
      log_pair(b, {b.select(b.lt(a, one), v.hi, q), b.select(b.lt(a, one), v.lo, zero)}, zero);
  Val<B> r = b.copysign(b.mul(b.add(y.hi, y.lo), b.fconst(x, 0.5)), x);
  return keep_tiny(b, x, fpick(b, x, 0x1p-13, 0x1p-28), r);
}

}  // namespace numbus::math
