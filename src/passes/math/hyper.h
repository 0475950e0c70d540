// Hyperbolic functions: tanh, sinh, cosh.
#pragma once

#include "passes/math/exp.h"

namespace numbus::math {

// |x| = n ln2/2 + r, s = 2^n, t = tanh(r): tanh = (s - 1 + (s + 1) t) / (s + 1 + (s - 1) t).
// A quotient cut to half the bits makes its remainder nearly exact, so that no rounding of the two
// sums matters.
template <class B>
Val<B> tanh(B& b, Val<B> x) {
  using namespace coeffs;
  Val<B> one = b.fconst(x, 1.0);
  Val<B> a = clamp_above(b, b.abs(x), fpick(b, x, 10.0, 20.0));
  Val<B> twice_log2e = b.fconst(x, 2 * (b.is_f32(x) ? log2e_f32[0] : log2e_f64[0]));
  auto half_ln2 = [&](int i) { return b.fconst(x, (b.is_f32(x) ? ln2_f32 : ln2_f64)[i] / 2); };
  auto [n, low] = nearest(b, a, twice_log2e, exponent_bias(b, x));
  Val<B> r = b.fma(b.neg(n), half_ln2(0), a);  // exact
  Val<B> z = b.mul(r, r), p = poly(b, z, tanh_f32, tanh_f64), rz = b.mul(r, z);
  // t = r + w; a float's ln2 needs no second part.
  Val<B> w = b.is_f32(x) ? b.mul(rz, p) : b.fma(rz, p, b.mul(b.neg(n), half_ln2(1)));
  Val<B> t = b.add(r, w);
  Val<B> s = pow2_biased(b, x, low), sum = b.add(s, one);
  Val<B> diff = b.sub(sum, b.fconst(x, 2.0));  // their distance stays 2 where s + 1 is rounded
  Val<B> over = b.reciprocal(b.fma(diff, t, sum));
  Val<B> q = b.mul(b.fma(sum, t, diff), over);
  q = b.float_of(b.iand(b.bits(q), ipick(b, x, -1 << 12, -1 << 27)));
  Val<B> u = b.fma(b.neg(q), sum, diff), v = b.fma(b.neg(q), diff, sum);  // exact
  Val<B> rest = b.fma(w, v, b.fma(r, v, u));
  return b.copysign(b.fma(rest, over, q), x);
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
