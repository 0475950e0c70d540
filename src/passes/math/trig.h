// Circular functions: sin, cos, sincos, tan.
#pragma once

#include <iterator>

#include "passes/math/core.h"

namespace numbus::math {

// |x| = q pi/2 + r + r_lo with |r| <= pi/4 and a hair; the last two bits of q count.
template <class B>
struct Quadrant {
  Val<B> r, r_lo, q;
};

// Payne-Hanek for a = |x| > 1: 2/pi is multiplied from the bit on that no longer adds multiples of
// four. The sums keep about 118 | 62 bits after the point, enough for the a nearest to a multiple
// of pi/2. inf becomes NaN.
template <class B>
std::array<Val<B>, 3> reduce_large(B& b, Val<B> a) {
  using namespace coeffs;
  bool f32 = b.is_f32(a);
  int shift = mantissa_bits(b, a), grain = f32 ? 3 : 4;  // a window every 2^grain bits
  // a = m 2^e with an integer m; windows before j = (e - 2) >> grain add multiples of four.
  Val<B> zero = b.iconst(a, 0), top = ipick(b, a, 102, 969);
  Val<B> e = b.isub(b.ishr(b.bits(a), shift), b.iconst(a, exponent_bias(b, a) + shift + 2));
  e = b.select(b.ilt(e, zero), zero, b.select(b.ige(e, top), top, e));
  Val<B> j = b.ishr(e, grain);
  Val<B> x = b.float_of(b.isub(b.bits(a), b.ishl(j, grain + shift)));  // a 2^-(j << grain)
  x = b.select(b.lt(a, b.fconst(a, __builtin_inf())), x, b.fconst(a, __builtin_nan("")));
  auto window = [&](int i) {
    Val<B> at = b.iadd(j, b.iconst(a, 3 * i));
    Val<B> w = f32 ? b.table(a, two_over_pi_bits_f32, std::size(two_over_pi_bits_f32), at)
                   : b.table(a, two_over_pi_bits_f64, std::size(two_over_pi_bits_f64), at);
    double scale = 1;
    for (int n = 0; n < i; n++) scale *= f32 ? 0x1p-24 : 0x1p-48;
    return i == 0 ? w : b.mul(w, b.fconst(a, scale));
  };
  auto mod4 = [&](Val<B> v) {
    return b.fma(b.rint(b.mul(v, b.fconst(a, 0.25))), b.fconst(a, -4.0), v);
  };
  Pair<B> p0 = two_prod(b, x, window(0)), p1 = two_prod(b, x, window(1)),
          p2 = two_prod(b, x, window(2));
  Val<B> p3 = b.mul(x, window(3));
  Pair<B> s = two_sum(b, mod4(p0.hi), mod4(p0.lo));
  Val<B> rest[] = {p2.hi, p1.lo, s.lo, zero};
  s = two_sum(b, s.hi, mod4(p1.hi));
  rest[3] = s.lo;
  Val<B> magic = fpick(b, a, 0x1.8p23, 0x1.8p52);
  Val<B> n = b.add(s.hi, magic);
  Val<B> hi = b.sub(s.hi, b.sub(n, magic)), lo = b.add(p2.lo, p3);
  for (Val<B> v : rest) {
    s = two_sum(b, hi, v);
    hi = s.hi;
    lo = b.add(lo, s.lo);
  }
  s = fast_two_sum(b, hi, lo);
  Val<B> c = part(b, a, pio2_pair_f32, pio2_pair_f64, 0),
         c_lo = part(b, a, pio2_pair_f32, pio2_pair_f64, 1);
  Pair<B> r = two_prod(b, s.hi, c);
  r = fast_two_sum(b, r.hi, b.add(r.lo, b.fma(s.hi, c_lo, b.mul(s.lo, c))));
  return {r.hi, r.lo, b.bits(n)};
}

// a = |x|. Cody-Waite up to a bound, beyond it reduce_large.
template <class B>
Quadrant<B> reduce_quadrant(B& b, Val<B> a) {
  using namespace coeffs;
  auto [n, low] = nearest(b, a, part(b, a, two_over_pi_f32, two_over_pi_f64, 0), 0);
  Val<B> m = b.neg(n), c1 = part(b, a, pio2_f32, pio2_f64, 1);
  Val<B> r1 = b.fma(m, part(b, a, pio2_f32, pio2_f64, 0), a);  // exact
  Val<B> r = b.fma(m, c1, r1);
  Val<B> r_lo = b.fma(m, c1, b.sub(r1, r));  // exact: m * c1 is
  r_lo = b.fma(m, part(b, a, pio2_f32, pio2_f64, 2), r_lo);
  Val<B> large = b.gt(a, fpick(b, a, 3216.0, 1647000.0));
  std::array<Val<B>, 3> fast = {r, r_lo, low};
  auto [hi, lo, q] = b.if_any(large, [&] { return reduce_large(b, a); }, fast);
  return {hi, lo, q};
}

// sin(r + r_lo) and cos(r + r_lo) as unevaluated sums; z = r * r.
template <class B>
Pair<B> sin_kernel(B& b, Val<B> r, Val<B> r_lo, Val<B> z) {
  using namespace coeffs;
  return {r, b.fma(b.mul(r, z), poly(b, z, sin_f32, sin_f64), r_lo)};
}

template <class B>
Pair<B> cos_kernel(B& b, Val<B> r, Val<B> r_lo, Val<B> z) {
  using namespace coeffs;
  Val<B> one = b.fconst(r, 1.0), half = b.fconst(r, -0.5);
  Val<B> w = b.fma(half, z, one);
  Val<B> lo = b.fma(half, z, b.sub(one, w));  // exact
  lo = b.fma(b.mul(z, z), poly(b, z, cos_f32, cos_f64), lo);
  return {w, b.fma(b.neg(r), r_lo, lo)};
}

template <class B>
Val<B> bit_test(B& b, Val<B> i, int64_t bit) {
  return b.ieq(b.iand(i, b.iconst(i, bit)), b.iconst(i, 0));
}

// The sign bit that bit 1 of q stands for.
template <class B>
Val<B> quadrant_sign(B& b, Val<B> like, Val<B> q) {
  return b.iand(b.ishl(q, b.is_f32(like) ? 30 : 62), ipick(b, like, INT32_MIN, INT64_MIN));
}

template <class B>
struct SinCos {
  Val<B> sin, cos;
};

// Both of one argument, sharing the reduction.
template <class B>
SinCos<B> sincos(B& b, Val<B> x) {
  auto [r, r_lo, q] = reduce_quadrant(b, b.abs(x));
  Val<B> z = b.mul(r, r);
  Pair<B> s = sin_kernel(b, r, r_lo, z), c = cos_kernel(b, r, r_lo, z);
  Val<B> vs = b.add(s.hi, s.lo), vc = b.add(c.hi, c.lo);
  Val<B> even = bit_test(b, q, 1);
  Val<B> sin_sign = b.ixor(quadrant_sign(b, x, q), sign_bit(b, x));
  Val<B> cos_sign = quadrant_sign(b, x, b.iadd(q, b.iconst(q, 1)));
  return {b.float_of(b.ixor(b.bits(b.select(even, vs, vc)), sin_sign)),
          b.float_of(b.ixor(b.bits(b.select(even, vc, vs)), cos_sign))};
}

template <class B>
Val<B> sin(B& b, Val<B> x) {
  auto [r, r_lo, q] = reduce_quadrant(b, b.abs(x));
  Val<B> z = b.mul(r, r);
  Pair<B> s = sin_kernel(b, r, r_lo, z), c = cos_kernel(b, r, r_lo, z);
  Val<B> even = bit_test(b, q, 1);
  Val<B> v = b.select(even, b.add(s.hi, s.lo), b.add(c.hi, c.lo));
  return b.float_of(b.ixor(b.bits(v), b.ixor(quadrant_sign(b, x, q), sign_bit(b, x))));
}

template <class B>
Val<B> cos(B& b, Val<B> x) {
  auto [r, r_lo, q] = reduce_quadrant(b, b.abs(x));
  Val<B> z = b.mul(r, r);
  Pair<B> s = sin_kernel(b, r, r_lo, z), c = cos_kernel(b, r, r_lo, z);
  Val<B> even = bit_test(b, q, 1);
  Val<B> v = b.select(even, b.add(c.hi, c.lo), b.add(s.hi, s.lo));
  return b.float_of(b.ixor(b.bits(v), quadrant_sign(b, x, b.iadd(q, b.iconst(q, 1)))));
}

template <class B>
Val<B> tan(B& b, Val<B> x) {
  auto [r, r_lo, q] = reduce_quadrant(b, b.abs(x));
  Pair<B> square = two_prod(b, r, r);
  Val<B> z = square.hi;
  Pair<B> s = sin_kernel(b, r, r_lo, z), c = cos_kernel(b, r, r_lo, z);
  s.lo = b.fma(r_lo, b.sub(c.hi, b.fconst(x, 1.0)), s.lo);  // r_lo cos(r) rather than r_lo
  c.lo = b.fma(square.lo, b.fconst(x, -0.5), c.lo);
  s = fast_two_sum(b, s.hi, s.lo);
  c = fast_two_sum(b, c.hi, c.lo);
  Val<B> even = bit_test(b, q, 1);
  Pair<B> n = {b.select(even, s.hi, c.hi), b.select(even, s.lo, c.lo)};
  Pair<B> d = {b.select(even, c.hi, s.hi), b.select(even, c.lo, s.lo)};
  Val<B> sign = b.ixor(b.ishl(q, b.is_f32(x) ? 31 : 63), sign_bit(b, x));
  return b.float_of(b.ixor(b.bits(divide_pairs(b, n, d)), sign));
}

}  // namespace numbus::math
