// exp and its relatives: exp, exp2, expm1.
#pragma once

#include "passes/math/core.h"

namespace numbus::math {

// x = n ln2 + r, |r| <= ln2/2 and a hair; low holds n + bias.
template <class B>
struct ExpParts {
  Val<B> r, r_lo, low;
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
  return {r, lo, low};
}

template <class B>
Val<B> exp(B& b, Val<B> x) {
  using namespace coeffs;
  // Beyond the clamps the result is inf or 0 in any case.
  x = clamp_below(b, x, fpick(b, x, -104.5, -746.0));
  x = clamp_above(b, x, fpick(b, x, 89.5, 710.0));
  ExpParts<B> e = reduce_exp(b, x, 2 * exponent_bias(b, x), false);
  Val<B> one = b.fconst(x, 1.0);
  Val<B> p = poly2(b, e.r, b.is_f32(x) ? e.r : b.mul(e.r, e.r), exp_f32, exp_f64);
  p = b.fma(b.fma(p, e.r, one), e.r, one);
  return scale_twice(b, p, e.low);
}

}  // namespace numbus::math
