// What the complex functions share: tests, a mask's rare lanes, the logarithm of |z|.
#pragma once

#include "passes/complex_functions.h"
#include "passes/math/math.h"

namespace numbus::complex_math {

using ir::Val;
using Pair = math::Pair<MathBuilder>;

inline Val constant_inf(MathBuilder& m, Val like) { return m.fconst(like, __builtin_inf()); }
inline Val constant_nan(MathBuilder& m, Val like) { return m.fconst(like, __builtin_nan("")); }
inline Val is_inf(MathBuilder& m, Val x) { return m.eq(m.abs(x), constant_inf(m, x)); }
inline Val is_zero(MathBuilder& m, Val x) { return m.eq(x, m.fconst(x, 0)); }
// Not below the limit in size, or NaN.
inline Val beyond(MathBuilder& m, Val x, Val limit) { return m.mnot(m.lt(m.abs(x), limit)); }
inline Val not_finite(MathBuilder& m, Val x) { return beyond(m, x, constant_inf(m, x)); }

// fast, but slow() in the lanes of mask.
template <class F>
Parts in_lanes(MathBuilder& m, Val mask, F&& slow, Parts fast) {
  auto run = [&]() -> std::array<Val, 2> {
    Parts p = slow();
    return {p.re, p.im};
  };
  std::array<Val, 2> v = m.if_any(mask, run, std::array<Val, 2>{fast.re, fast.im});
  return {v[0], v[1]};
}

inline Parts select(MathBuilder& m, Val mask, Parts x, Parts y) {
  return {m.select(mask, x.re, y.re), m.select(mask, x.im, y.im)};
}

// The larger of the parts in size.
inline Val largest(MathBuilder& m, Val x, Val y) {
  Val ax = m.abs(x), ay = m.abs(y);
  return m.select(m.gt(ay, ax), ay, ax);
}

// log((x.hi + x.lo)^2 + y^2): squares and sum to twice the precision, so that little is lost where
// the sum is near 1. Infinite if a part is.
inline Pair log_square(MathBuilder& m, Pair x, Val y) {
  Val zero = m.fconst(y, 0), one = m.fconst(y, 1), top = largest(m, x.hi, y);
  auto pick = [&](double c32, double c64) { return math::fpick(m, y, c32, c64); };
  Val large = m.gt(top, pick(0x1p60, 0x1p500)), small = m.lt(top, pick(0x1p-50, 0x1p-400));
  Val scale = m.select(large, pick(0x1p-90, 0x1p-600), m.select(small, pick(0x1p90, 0x1p600), one));
  Val extra = m.select(large, pick(180, 1200), m.select(small, pick(-180, -1200), zero));
  Val u = m.mul(x.hi, scale), v = m.mul(y, scale);
  Pair p = math::two_prod(m, u, u), q = math::two_prod(m, v, v);
  p.lo = m.fma(m.add(u, u), m.mul(x.lo, scale), p.lo);
  Pair s = math::two_sum(m, p.hi, q.hi);
  s = math::fast_two_sum(m, s.hi, m.add(s.lo, m.add(p.lo, q.lo)));
  s.hi = m.select(m.mor(is_inf(m, x.hi), is_inf(m, y)), constant_inf(m, y), s.hi);
  // log_pair takes no large lower parts; beyond 2^90 they do not matter.
  s.lo = m.select(m.lt(s.hi, m.fconst(y, 0x1p90)), s.lo, zero);
  return math::log_pair(m, s, extra);
}

// Whether both parts are so small that z is the result of odd functions.
inline Val is_small(MathBuilder& m, Parts z) {
  return m.lt(largest(m, z.re, z.im), math::fpick(m, z.re, 0x1p-14, 0x1p-28));
}

// log|z| as one number.
inline Val log_size(MathBuilder& m, Parts z) {
  Pair l = log_square(m, {z.re, m.fconst(z.re, 0)}, z.im);
  return m.mul(m.add(l.hi, l.lo), m.fconst(z.re, 0.5));
}

}  // namespace numbus::complex_math
