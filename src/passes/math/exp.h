// exp and its relatives: exp, exp2, expm1.
#pragma once

#include "passes/math/core.h"

namespace numbus::math {

// x = n ln2 + r, |r| <= ln2/2 and a hair; low holds n + bias.
template <class B>
struct ExpParts {
  Val<B> r, r_lo, low, n;
};

// r_lo is emitted only on request: exp does not need it.
template <class B>
ExpParts<B> reduce_exp(B& b, Val<B> x, int bias, bool want_lo) {
  using namespace coeffs;
  auto [n, low] = nearest(b, x, part(b, x, log2e_f32, log2e_f64, 0), bias);
  Val<B> m = b.neg(n);
  Val<B> first = b.fma(m, part(b, x, ln2_f32, ln2_f64, 0), x);  // exact
  Val<B> second = part(b, x, ln2_f32, ln2_f64, 1);
  Val<B> r = b.fma(m, second, first);
  Val<B> lo = want_lo ? b.fma(m, second, b.sub(first, r)) : r;
  return {r, lo, low, n};
}

// exp(r) - 1 - r, plus lo, by a polynomial.
template <class B>
Val<B> exp_tail(B& b, Val<B> r, Val<B> lo) {
  using namespace coeffs;
  Val<B> z = b.mul(r, r);
  return b.fma(poly(b, r, expm1_f32, expm1_f64), z, lo);
}

// exp(r) for |r| <= ln2/2.
template <class B>
Val<B> exp_poly(B& b, Val<B> r) {
  using namespace coeffs;
  Val<B> one = b.fconst(r, 1.0);
  Val<B> p = poly2(b, r, b.is_f32(r) ? r : b.mul(r, r), exp_f32, exp_f64);
  return b.fma(b.fma(p, r, one), r, one);
}

// A value before the factor 2^n; low holds n + bias.
template <class B>
struct ScaledValue {
  Val<B> v, low;
};

// The value times 2^n (the bias is zero), for about exp(x): where the result is a normal number, n
// can be added to the exponent. Where x is beyond all results, the value may be anything.
template <class B>
Val<B> exp_scaled(B& b, Val<B> x, ScaledValue<B> e) {
  Val<B> rare = b.mnot(b.le(b.abs(x), fpick(b, x, 87.0, 708.0)));
  auto slow = [&]() -> std::array<Val<B>, 1> {
    Val<B> bias = b.iconst(x, 2 * exponent_bias(b, x));
    Val<B> v = scale_twice(b, e.v, b.iadd(e.low, bias));
    v = b.select(b.lt(x, fpick(b, x, -105.0, -747.0)), b.fconst(x, 0.0), v);
    return {b.select(b.gt(x, fpick(b, x, 90.0, 711.0)), b.fconst(x, __builtin_inf()), v)};
  };
  Val<B> exponent = b.ishl(e.low, mantissa_bits(b, x));
  std::array<Val<B>, 1> fast = {b.float_of(b.iadd(b.bits(e.v), exponent))};
  return b.if_any(rare, slow, fast)[0];
}

template <class B>
Val<B> exp(B& b, Val<B> x) {
  ExpParts<B> e = reduce_exp(b, x, 0, false);
  return exp_scaled(b, x, ScaledValue<B>{exp_poly(b, e.r), e.low});
}

template <class B>
Val<B> exp2(B& b, Val<B> x) {
  using namespace coeffs;
  x = clamp_below(b, x, fpick(b, x, -152.0, -1080.0));
  x = clamp_above(b, x, fpick(b, x, 129.0, 1025.0));
  Val<B> one = b.fconst(x, 1.0);
  int bias = 2 * exponent_bias(b, x);
  Val<B> magic = fpick(b, x, 0x1.8p23 + bias, 0x1.8p52 + bias);
  Val<B> t = b.add(x, magic);
  Val<B> r = b.sub(x, b.sub(t, magic));
  // 1 + r ln2 + r^2 p, with both parts of ln2.
  Val<B> z = b.mul(r, r);
  Val<B> p =
      b.fma(poly2(b, r, z, exp2_f32, exp2_f64), z, b.mul(r, part(b, x, ln2_f32, ln2_f64, 1)));
  p = b.fma(r, part(b, x, ln2_f32, ln2_f64, 0), p);
  return scale_twice(b, b.add(p, one), b.bits(t));
}

template <class B>
Val<B> expm1(B& b, Val<B> x) {
  using namespace coeffs;
  Val<B> y = clamp_below(b, x, fpick(b, x, -20.0, -40.0));
  y = clamp_above(b, y, fpick(b, x, 88.9, 710.0));
  // s = 2^n / 2, so that it does not overflow before the result does.
  auto [r, r_lo, low, n] = reduce_exp(b, y, exponent_bias(b, x) - 1, true);
  Val<B> s = pow2_biased(b, x, low), half = b.fconst(x, 0.5), base = b.sub(s, half);
  // Of s > 1/2; for smaller s the loss is below the result's last bits.
  Val<B> base_lo = b.sub(b.sub(s, base), half);
  // e^r = 1 + r + w + w_lo
  Pair<B> z = two_prod(b, r, r);
  Pair<B> w = two_prod(b, z.hi, poly(b, r, expm1_f32, expm1_f64));
  w.lo = b.add(w.lo, b.fma(z.lo, half, r_lo));
  Val<B> hi = b.fma(s, r, base);
  Pair<B> e = fast_two_sum(b, hi, b.mul(s, w.hi));
  Val<B> lo = b.fma(s, w.lo, b.fma(s, r, b.sub(base, hi)));
  Val<B> v = b.add(e.hi, b.add(e.lo, b.add(lo, base_lo)));
  return keep_tiny(b, x, fpick(b, x, 0x1p-26, 0x1p-55), b.add(v, v));
}

// exp(x + x_lo) to about 0.7 units, for x_lo far below 1.
template <class B>
ScaledValue<B> exp_sum(B& b, Val<B> x, Val<B> x_lo) {
  using namespace coeffs;
  auto [n, low] = nearest(b, x, part(b, x, log2e_f32, log2e_f64, 0), 0);
  Val<B> m = b.neg(n);
  Val<B> first = b.fma(m, part(b, x, ln2_f32, ln2_f64, 0), x);  // exact
  Val<B> r = b.add(first, b.fma(m, part(b, x, ln2_f32, ln2_f64, 1), x_lo));
  Pair<B> p = fast_two_sum(b, b.fconst(x, 1.0), r);
  Val<B> z = b.mul(r, r);
  Val<B> q = poly4(b, r, z, expm1_f32, expm1_f64);
  return {b.add(p.hi, b.fma(q, z, p.lo)), low};
}

// exp(x.hi + x.lo) as a pair, before the factor 2^n; low = n + twice the exponent bias. For x.hi
// within exp's clamps.
template <class B>
struct ScaledPair {
  Pair<B> p;
  Val<B> low;
};
template <class B>
Pair<B> exp_reduced(B& b, Pair<B> r) {
  r = fast_two_sum(b, r.hi, r.lo);
  Pair<B> p = fast_two_sum(b, b.fconst(r.hi, 1.0), r.hi);
  return {p.hi, b.add(p.lo, exp_tail(b, r.hi, r.lo))};
}
template <class B>
ScaledPair<B> exp_pair(B& b, Pair<B> x) {
  auto [r, r_lo, low, n] = reduce_exp(b, x.hi, 2 * exponent_bias(b, x.hi), true);
  return {exp_reduced(b, Pair<B>{r, b.add(r_lo, x.lo)}), low};
}

}  // namespace numbus::math
