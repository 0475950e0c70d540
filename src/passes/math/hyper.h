// Hyperbolic functions: tanh, sinh, cosh.
#pragma once

#include "passes/math/exp.h"

namespace numbus::math {

// (e^2x - 1) / (e^2x + 1), both kept in two parts.
template <class B>
Val<B> tanh(B& b, Val<B> x) {
  Val<B> one = b.fconst(x, 1.0), two = b.fconst(x, 2.0);
  Val<B> a = clamp_above(b, b.abs(x), fpick(b, x, 10.0, 20.0));
  auto [r, r_lo, low, n] = reduce_exp(b, b.add(a, a), exponent_bias(b, x), true);
  Val<B> s = pow2_biased(b, x, low);
  Val<B> w = exp_tail(b, r, r_lo);
  Val<B> base = b.sub(s, one);
  Val<B> hi = b.fma(s, r, base);
  Pair<B> e = fast_two_sum(b, hi, b.fma(s, w, b.fma(s, r, b.sub(base, hi))));
  Val<B> d = b.add(e.hi, two);
  Val<B> d_lo = b.add(e.lo, b.sub(e.hi, b.sub(d, two)));
  return b.copysign(divide_pairs(b, e, {d, d_lo}), x);
}

// |x| = n ln2 + r. With e = 2^n: sinh = (e - 1/e)/2 cosh(r) + (e + 1/e)/2 sinh(r), and cosh with
// the factors swapped. All is computed at half size, for e^x may overflow where the results do not.
template <class B>
struct HyperParts {
  Pair<B> diff, sum;         // (e - 1/e)/4, (e + 1/e)/4
  Val<B> r, sinh_r, cosh_r;  // r, sinh(r) - r, cosh(r) - 1
};
template <class B>
HyperParts<B> reduce_hyper(B& b, Val<B> a) {
  using namespace coeffs;
  Val<B> c = clamp_above(b, a, fpick(b, a, 89.5, 710.5));
  auto [r, r_lo, low, n] = reduce_exp(b, c, exponent_bias(b, a) - 2, true);
  Val<B> s = pow2_biased(b, a, low);
  Val<B> t = pow2_float(b, b.neg(b.fmin2(n, b.fconst(a, 64.0))), -2);
  Pair<B> sum = fast_two_sum(b, s, t), diff = fast_two_sum(b, s, b.neg(t));
  Val<B> z = b.mul(r, r);
  Val<B> sinh_r = b.fma(b.mul(r, z), poly(b, z, sinh_f32, sinh_f64), r_lo);
  return {diff, sum, r, sinh_r, b.mul(z, poly(b, z, cosh_f32, cosh_f64))};
}

// 2 (p cosh(r) + q sinh(r)) for the reduced r.
template <class B>
Val<B> join_hyper(B& b, const HyperParts<B>& h, Pair<B> p, Pair<B> q) {
  Val<B> hi = b.fma(q.hi, h.r, p.hi);
  Val<B> lo = b.add(p.lo, b.fma(q.hi, h.r, b.sub(p.hi, hi)));
  lo = b.add(lo, b.fma(p.hi, h.cosh_r, b.mul(q.hi, h.sinh_r)));
  Val<B> v = b.add(hi, lo);
  return b.add(v, v);
}

template <class B>
Val<B> sinh(B& b, Val<B> x) {
  HyperParts<B> h = reduce_hyper(b, b.abs(x));
  Val<B> v = b.copysign(join_hyper(b, h, h.diff, h.sum), x);
  return keep_tiny(b, x, fpick(b, x, 0x1p-14, 0x1p-30), v);
}

template <class B>
Val<B> cosh(B& b, Val<B> x) {
  HyperParts<B> h = reduce_hyper(b, b.abs(x));
  return join_hyper(b, h, h.sum, h.diff);
}

}  // namespace numbus::math
