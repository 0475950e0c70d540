// Powers and roots: pow, cbrt, hypot, logaddexp, logaddexp2.
#pragma once

#include "passes/math/exp.h"
#include "passes/math/log.h"

namespace numbus::math {

// log(a), a >= 0, to about 2^-64 | 2^-33 as a pair whose lo may be up to 2^-11 of hi; infinite or
// NaN (in hi, lo is any) for 0, inf and NaN.
// The first two terms of log(1 + r) are taken with their rounding errors.
template <class B>
Pair<B> precise_log(B& b, Val<B> a) {
  using namespace coeffs;
  auto [r, c, base, rest, k, half] = reduce_near(b, a);
  Pair<B> s = fast_two_sum(b, base, r);
  Val<B> low = b.add(rest, s.lo);
  Val<B> part2 = b.mul(r, half), z = b.mul(r, part2);
  low = b.add(low, b.fma(part2, r, b.neg(z)));
  Pair<B> v = fast_two_sum(b, s.hi, z);
  low = b.add(low, v.lo);
  Val<B> square = b.mul(r, r);
  Val<B> p = poly4(b, r, square, log_near_f32, log_near_f64);
  return {v.hi, b.fma(b.mul(r, square), p, low)};
}

// What pow makes of a negative x and where its own steps gave NaN; v is the power of |x|.
template <class B>
Val<B> pow_special(B& b, Val<B> x, Val<B> y, Val<B> v) {
  Val<B> zero = b.fconst(x, 0.0), one = b.fconst(x, 1.0), inf = b.fconst(x, __builtin_inf());
  Val<B> a = b.abs(x);
  // Negative x: the sign of odd powers; NaN for finite x and other than integer powers.
  Val<B> half = b.mul(y, b.fconst(x, 0.5));
  Val<B> whole = b.eq(b.rint(y), y), odd = b.mand(whole, b.ne(b.rint(half), half));
  v = b.float_of(b.ixor(b.bits(v), b.select(odd, sign_bit(b, x), b.iconst(x, 0))));
  Val<B> bad = b.mand(b.mand(b.lt(x, zero), b.lt(a, inf)), b.mnot(whole));
  v = b.select(bad, b.fconst(x, __builtin_nan("")), v);
  Val<B> unit = b.mor(b.eq(y, zero), b.eq(x, one));
  unit = b.mor(unit, b.mand(b.eq(a, one), b.eq(b.abs(y), inf)));
  return b.select(unit, one, v);
}

template <class B>
Val<B> general_pow(B& b, Val<B> x, Val<B> y) {
  Pair<B> l = precise_log(b, b.abs(x));
  Val<B> e = b.mul(y, l.hi), e_lo = b.fma(y, l.lo, b.fma(y, l.hi, b.neg(e)));
  Val<B> v = exp_scaled(b, e, exp_sum(b, e, e_lo));
  Val<B> special = b.mor(b.ilt(b.bits(x), b.iconst(x, 0)), b.ne(v, v));
  auto fixed = [&]() -> std::array<Val<B>, 1> { return {pow_special(b, x, y, v)}; };
  std::array<Val<B>, 1> fast = {v};
  return b.if_any(special, fixed, fast)[0];
}

// The least power whose parts are no subnormals.
template <class B>
Val<B> least_product(B& b, Val<B> x) {
  return fpick(b, x, 0x1p-100, 0x1p-960);
}

// x^n by products of pairs, n from 1 to 15 as a float: rounded once, where no part is subnormal.
// Powers of the upper bits of n are squared, and multiplied by x for the next bit. Pairs are not
// made neat in between: their low parts stay below 16 units of the high ones.
template <class B>
Val<B> product_pow(B& b, Val<B> x, Val<B> n) {
  constexpr int kBits = 4;
  Val<B> i = b.to_int(n), zero = b.fconst(x, 0.0), none = b.iconst(x, 0);
  Pair<B> r = {b.fconst(x, 1.0), zero};
  for (int bit = kBits - 1; bit >= 0; --bit) {
    Val<B> first = b.ieq(b.ishr(i, bit + 1), none);
    Val<B> takes = b.mnot(b.ieq(b.iand(i, b.iconst(x, int64_t{1} << bit)), none));
    if (bit < kBits - 1) {
      Pair<B> square = two_prod(b, r.hi, r.hi);
      r = {square.hi, b.fma(b.add(r.hi, r.hi), r.lo, square.lo)};
    }
    Pair<B> more = two_prod(b, r.hi, x);
    more.lo = b.fma(r.lo, x, more.lo);
    r = pick_pair(b, takes, pick_pair(b, first, Pair<B>{x, zero}, more), r);
  }
  return b.select(b.lt(b.abs(r.hi), least_product(b, x)), r.hi, b.add(r.hi, r.lo));
}

// Whole powers are products, whether the exponent is known or not: the bits are the same. What
// overflows, becomes small or has no number is left to the general way.
template <class B>
Val<B> pow(B& b, Val<B> x, Val<B> y) {
  Val<B> one = b.fconst(x, 1.0), none = b.fconst(x, __builtin_nan(""));
  Val<B> whole = b.mand(b.eq(b.rint(y), y), b.mand(b.ge(y, one), b.le(y, b.fconst(x, 15.0))));
  auto products = [&]() -> std::array<Val<B>, 1> {
    return {b.select(whole, product_pow(b, x, b.select(whole, y, one)), none)};
  };
  std::array<Val<B>, 1> start = {none};
  std::array<Val<B>, 1> v = b.if_any(whole, products, start);
  Val<B> size = b.abs(v[0]);
  Val<B> done = b.mand(b.ge(size, least_product(b, x)), b.lt(size, b.fconst(x, __builtin_inf())));
  // A square is one product, which is rounded correctly however small it is.
  done = b.mor(done, b.mand(b.le(y, b.fconst(x, 2.0)), b.eq(v[0], v[0])));
  auto general = [&]() -> std::array<Val<B>, 1> { return {general_pow(b, x, y)}; };
  return b.if_any(b.mnot(done), general, v)[0];
}

template <class B>
Val<B> cbrt(B& b, Val<B> x) {
  using namespace coeffs;
  int shift = mantissa_bits(b, x);
  Val<B> one = b.fconst(x, 1.0), zero = b.fconst(x, 0.0), a = b.abs(x);
  Val<B> small = b.lt(a, fpick(b, x, 0x1p-126, 0x1p-1022));
  Val<B> i = b.bits(b.mul(a, b.select(small, fpick(b, x, 0x1p24, 0x1p54), one)));
  // a = 2^(3 third) 2^rem m, 1 <= m < 2; the biases are 1023 = 3 * 341 and 127 = 3 * 42 + 1.
  Val<B> e = b.iadd(b.ishr(i, shift), ipick(b, x, 2, 0));
  Val<B> third = b.ishr(b.imul(e, b.iconst(x, 21846)), 16);
  Val<B> rem = b.isub(e, b.imul(third, b.iconst(x, 3)));
  Val<B> field = b.iconst(x, (int64_t{1} << shift) - 1);
  Val<B> m = b.float_of(b.ior(b.iand(i, field), b.bits(one)));
  Val<B> is0 = b.ieq(rem, b.iconst(x, 0)), is1 = b.ieq(rem, b.iconst(x, 1));
  Val<B> y = b.mul(poly(b, m, rcbrt_f32, rcbrt_f64),
                   b.select(is0, one,
                            b.select(is1, part(b, x, rcbrt2_f32, rcbrt2_f64, 0),
                                     part(b, x, rcbrt4_f32, rcbrt4_f64, 0))));
  m = b.mul(m, b.select(is0, one, b.select(is1, b.fconst(x, 2.0), b.fconst(x, 4.0))));
  // y (1 - r)^(-1/3) with r = 1 - m y^3, three terms: y becomes 1 / cbrt(m).
  Val<B> c3 = part(b, x, third_f32, third_f64, 0);
  Val<B> r = b.fma(b.neg(b.mul(m, y)), b.mul(y, y), one);
  Val<B> t = b.fma(r, b.fma(r, b.fconst(x, 14.0 / 81), b.fconst(x, 2.0 / 9)), c3);
  y = b.fma(b.mul(y, r), t, y);
  // c = m y^2, and one step with the exact m - c^3.
  Val<B> y2 = b.mul(y, y), c = b.mul(m, y2);
  Pair<B> p = two_prod(b, c, c);
  Val<B> rest = b.fma(b.neg(c), p.lo, b.fma(b.neg(c), p.hi, m));
  c = b.fma(rest, b.mul(y2, c3), c);
  Val<B> s = b.float_of(b.ishl(b.iadd(third, ipick(b, x, 127 - 43, 1023 - 341)), shift));
  c = b.mul(b.mul(c, s), b.select(small, fpick(b, x, 0x1p-8, 0x1p-18), one));
  Val<B> ok = b.mand(b.gt(a, zero), b.lt(a, b.fconst(x, __builtin_inf())));
  return b.select(ok, b.copysign(c, x), x);
}

template <class B>
Val<B> hypot(B& b, Val<B> x, Val<B> y) {
  Val<B> one = b.fconst(x, 1.0), inf = b.fconst(x, __builtin_inf());
  Val<B> ax = b.abs(x), ay = b.abs(y), swap = b.gt(ay, ax);
  Val<B> big = b.select(swap, ay, ax), little = b.select(swap, ax, ay);
  Val<B> large = b.gt(big, fpick(b, x, 0x1p60, 0x1p500)),
         small = b.lt(big, fpick(b, x, 0x1p-50, 0x1p-400));
  Val<B> up = fpick(b, x, 0x1p90, 0x1p600), down = fpick(b, x, 0x1p-90, 0x1p-600);
  Val<B> scale = b.select(large, down, b.select(small, up, one));
  Val<B> back = b.select(large, up, b.select(small, down, one));
  big = b.mul(big, scale);
  little = b.mul(little, scale);
  Pair<B> p = two_prod(b, big, big), q = two_prod(b, little, little);
  Pair<B> s = fast_two_sum(b, p.hi, q.hi);
  s.lo = b.add(s.lo, b.add(p.lo, q.lo));
  Pair<B> root = sqrt_pair(b, s);
  Val<B> v = b.mul(b.add(root.hi, root.lo), back);
  return b.select(b.mor(b.eq(ax, inf), b.eq(ay, inf)), inf, v);
}

// The larger argument and the negative distance to the smaller, as a pair (zero for equal ones) not
// below `least`, nor below `near` where that makes no difference.
template <class B>
struct AddParts {
  Val<B> top;
  Pair<B> d;
  Val<B> same;
};
template <class B>
AddParts<B> reduce_addexp(B& b, Val<B> x, Val<B> y, Val<B> least, Val<B> near) {
  Val<B> zero = b.fconst(x, 0.0), swap = b.gt(y, x), same = b.eq(x, y);
  Val<B> top = b.select(swap, y, x), bottom = b.select(swap, x, y);
  // Beside a sizeable top a far smaller argument is lost: avoid subnormal steps, which are slow.
  least = b.select(b.gt(b.abs(top), b.fconst(x, 0x1p-10)), near, least);
  Pair<B> d = two_sum(b, bottom, b.neg(top));
  d.hi = b.select(same, zero, d.hi);
  d.lo = b.select(b.gt(d.hi, least), d.lo, zero);
  d.hi = clamp_below(b, d.hi, least);
  return {top, d, same};
}

// top + log in two parts; infinite and NaN arguments.
template <class B>
Val<B> finish_addexp(B& b, Val<B> x, Val<B> y, Val<B> top, Pair<B> l) {
  Pair<B> s = two_sum(b, top, l.hi);
  Val<B> v = b.add(s.hi, b.add(s.lo, l.lo));
  v = b.select(b.eq(b.abs(top), b.fconst(x, __builtin_inf())), top, v);
  return b.select(b.mor(b.ne(x, x), b.ne(y, y)), b.add(x, y), v);
}

// log(1 + 2^n p) for p of exp_pair; 2^n p <= 1.
template <class B>
Pair<B> log_one_plus(B& b, ScaledPair<B> e) {
  Pair<B> p = fast_two_sum(b, e.p.hi, e.p.lo);
  Val<B> hi = scale_twice(b, p.hi, e.low), lo = scale_twice(b, p.lo, e.low);
  Pair<B> v = fast_two_sum(b, b.fconst(hi, 1.0), hi);
  Pair<B> rest = fast_two_sum(b, v.lo, lo);  // where 2^n p is small, v.lo is all of it
  Pair<B> l = log_pair(b, {v.hi, rest.hi}, b.fconst(hi, 0.0));
  return {l.hi, b.add(l.lo, rest.lo)};
}

template <class B>
Val<B> logaddexp(B& b, Val<B> x, Val<B> y) {
  auto [top, d, same] =
      reduce_addexp(b, x, y, fpick(b, x, -104.5, -746.0), fpick(b, x, -28.0, -64.0));
  return finish_addexp(b, x, y, top, log_one_plus(b, exp_pair(b, d)));
}

template <class B>
Val<B> logaddexp2(B& b, Val<B> x, Val<B> y) {
  using namespace coeffs;
  auto [top, d, same] =
      reduce_addexp(b, x, y, fpick(b, x, -152.0, -1080.0), fpick(b, x, -40.0, -92.0));
  // 2^d = 2^n exp(r ln2)
  int bias = 2 * exponent_bias(b, x);
  Val<B> magic = fpick(b, x, 0x1.8p23 + bias, 0x1.8p52 + bias), sum = b.add(d.hi, magic);
  Pair<B> r = {b.sub(d.hi, b.sub(sum, magic)), d.lo};
  Pair<B> p = exp_reduced(b, mul_pairs(b, r, const_pair(b, x, ln2_f32, ln2_f64)));
  Val<B> low = b.bits(sum);
  Pair<B> log2e = const_pair(b, x, log2e_f32, log2e_f64);
  Pair<B> l = mul_pairs(b, log_one_plus(b, ScaledPair<B>{p, low}), log2e);
  // A tiny 2^d is its own log1p: scaled last, so that subnormal results are rounded once.
  Pair<B> small = mul_pairs(b, fast_two_sum(b, p.hi, p.lo), log2e);
  small = {scale_twice(b, small.hi, low), scale_twice(b, small.lo, low)};
  l = pick_pair(b, b.lt(d.hi, fpick(b, x, -60.0, -120.0)), small, l);
  l = pick_pair(b, same, Pair<B>{b.fconst(x, 1.0), b.fconst(x, 0.0)}, l);  // exactly x + 1
  return finish_addexp(b, x, y, top, l);
}

}  // namespace numbus::math
