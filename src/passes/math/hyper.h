// Hyperbolic functions: tanh.
#pragma once

#include "passes/math/exp.h"

namespace numbus::math {

// (e^2x - 1) / (e^2x + 1), both kept in two parts.
template <class B>
Val<B> tanh(B& b, Val<B> x) {
  using namespace coeffs;
  Val<B> one = b.fconst(x, 1.0), two = b.fconst(x, 2.0);
  Val<B> a = clamp_above(b, b.abs(x), fpick(b, x, 10.0, 20.0));
  auto [r, r_lo, low] = reduce_exp(b, b.add(a, a), exponent_bias(b, x), true);
  Val<B> s = pow2_biased(b, x, low);
  Val<B> z = b.mul(r, r);
  Val<B> w = b.fma(poly2(b, r, z, exp_f32, exp_f64), z, r_lo);  // e^r = 1 + r + w
  Val<B> base = b.sub(s, one);
  Val<B> hi = b.fma(s, r, base);
  Pair<B> e = fast_two_sum(b, hi, b.fma(s, w, b.fma(s, r, b.sub(base, hi))));
  Val<B> d = b.add(e.hi, two);
  Val<B> d_lo = b.add(e.lo, b.sub(e.hi, b.sub(d, two)));
  return b.copysign(divide_pairs(b, e, {d, d_lo}), x);
}

}  // namespace numbus::math
