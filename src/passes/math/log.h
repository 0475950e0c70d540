// log and its relatives: log, log2, log10, log1p.
#pragma once

#include "passes/math/core.h"

namespace numbus::math {

// x = 2^k m, m from `lowest` (given by its bits) to twice that; place is the distance of m's bits
// from lowest's in the low bits. half is -1/2, the second coefficient of log(1 + f); where the
// logarithm is infinite or NaN, half is that value, which carries it into the result (m is 5/4).
template <class B>
struct Mantissa {
  Val<B> m, k, half, distance;
};

template <class B>
Mantissa<B> split_mantissa(B& b, Val<B> x, int64_t lowest32, int64_t lowest64) {
  int shift = mantissa_bits(b, x);
  Val<B> smallest = ipick(b, x, 0x00800000, 0x0010000000000000);
  Val<B> inf = ipick(b, x, 0x7f800000, 0x7ff0000000000000);
  Val<B> i = b.bits(x);
  Val<B> rare = b.mor(b.ilt(i, smallest), b.ige(i, inf));
  auto slow = [&]() -> std::array<Val<B>, 3> {
    Val<B> zero = b.fconst(x, 0.0), half = b.fconst(x, -0.5);
    Val<B> nan = b.fconst(x, __builtin_nan("")), infinity = b.fconst(x, __builtin_inf());
    Val<B> ok = b.mand(b.gt(x, zero), b.lt(x, infinity));
    Val<B> up = b.mul(x, fpick(b, x, 0x1p24, 0x1p54));
    Val<B> special = b.select(b.eq(x, infinity), infinity, nan);
    special = b.select(b.eq(x, zero), b.neg(infinity), special);
    return {b.select(ok, up, b.fconst(x, 1.25)), fpick(b, x, 0x1.8p23 + 24, 0x1.8p52 + 54),
            b.select(ok, half, special)};
  };
  Val<B> magic = fpick(b, x, 0x1.8p23, 0x1.8p52);
  std::array<Val<B>, 3> fast = {x, magic, b.fconst(x, -0.5)};
  auto [y, shifted, half] = b.if_any(rare, slow, fast);
  i = b.bits(y);
  Val<B> distance = b.isub(i, ipick(b, x, lowest32, lowest64)), k = b.isar(distance, shift);
  Val<B> m = b.float_of(b.isub(i, b.ishl(k, shift)));
  // An int becomes a float by adding it to the bits of 1.5 * 2^mantissa.
  Val<B> kf = b.float_of(b.iadd(k, b.bits(magic)));
  return {m, b.sub(kf, shifted), half, distance};
}

// The same with 1 + f for m: f in [-1/3, 1/3), since lowest is 2/3.
template <class B>
struct LogParts {
  Val<B> f, k, half;
};

template <class B>
LogParts<B> reduce_log(B& b, Val<B> x) {
  Mantissa<B> s = split_mantissa(b, x, 0x3f2aaaab, 0x3fe5555555555555);
  return {b.sub(s.m, b.fconst(x, 1.0)), s.k, s.half};
}

// k * c + f + tail, where f + tail is the logarithm of the mantissa; k * c.hi is exact.
template <class B>
Pair<B> join_log(B& b, Val<B> k, Pair<B> c, Val<B> f, Val<B> tail) {
  Val<B> s = b.fma(k, c.hi, f);
  Val<B> low = b.add(b.fma(k, c.hi, b.neg(s)), f);
  return {s, b.add(low, b.fma(k, c.lo, tail))};
}

template <class B>
Val<B> log(B& b, Val<B> x) {
  using namespace coeffs;
  auto [f, k, half] = reduce_log(b, x);
  Val<B> z = b.mul(f, f), p = b.fma(poly2(b, f, z, log_short_f32, log_short_f64), f, half);
  // k ln2 + f, the rest of which takes the smaller part of k ln2 and log1p(f) - f.
  Val<B> c = part(b, x, ln2_short_f32, ln2_short_f64, 0);
  Val<B> s = b.fma(k, c, f);
  Val<B> low = b.add(b.fma(k, c, b.neg(s)), f);
  low = b.fma(k, part(b, x, ln2_short_f32, ln2_short_f64, 1), low);
  return b.add(s, b.fma(z, p, low));
}

// log1p(f) for |f| <= 1/3 with f - f^2/2 in two parts: a quarter of the error.
template <class B>
Pair<B> log_mantissa(B& b, Val<B> f, Val<B> half) {
  using namespace coeffs;
  Val<B> minus = b.fconst(f, -0.5);
  Pair<B> z = two_prod(b, f, f);
  Pair<B> s = fast_two_sum(b, f, b.mul(z.hi, minus));
  // half is -1/2 but for the special arguments.
  Val<B> p = b.fma(poly2(b, f, z.hi, log_f32, log_f64), b.mul(f, z.hi), b.sub(half, minus));
  return {s.hi, b.add(p, b.fma(z.lo, minus, s.lo))};
}

template <class B>
Val<B> log2(B& b, Val<B> x) {
  using namespace coeffs;
  auto [f, k, half] = reduce_log(b, x);
  Pair<B> p = mul_pairs(b, log_mantissa(b, f, half), const_pair(b, x, log2e_f32, log2e_f64));
  Pair<B> s = fast_two_sum(b, k, p.hi);
  return b.add(s.hi, b.add(s.lo, p.lo));
}

template <class B>
Val<B> log10(B& b, Val<B> x) {
  using namespace coeffs;
  auto [f, k, half] = reduce_log(b, x);
  Pair<B> p = mul_pairs(b, log_mantissa(b, f, half), const_pair(b, x, log10e_f32, log10e_f64));
  Pair<B> v = join_log(b, k, const_pair(b, x, log10_2_f32, log10_2_f64), p.hi, p.lo);
  return b.add(v.hi, v.lo);
}

// x = 2^k (1 + r) / c with c from a table, so that log(x) = k ln2 - log(c) + log(1 + r): r is
// exact, base + low the rest, base exact in its bits and zero beside 1.
template <class B>
struct NearLog {
  Val<B> r, c, base, low, k, half;
};

template <class B>
NearLog<B> reduce_near(B& b, Val<B> x, const Val<B>* extra = nullptr) {
  using namespace coeffs;
  auto [m, k, half, distance] = split_mantissa(b, x, 0x3f360000, 0x3fe6c00000000000);  // 91/128
  Val<B> j = b.iand(b.ishr(distance, mantissa_bits(b, x) - 5), b.iconst(x, 31));
  Val<B> c = pick_table(b, x, log_table, log_table, j);
  Val<B> hi = pick_table(b, x, log_table_hi_f32, log_table_hi_f64, j);
  Val<B> lo = pick_table(b, x, log_table_lo_f32, log_table_lo_f64, j);
  Val<B> r = b.fma(m, c, b.fconst(x, -1.0)), n = extra ? b.add(k, *extra) : k;
  Pair<B> ln2 = const_pair(b, x, ln2_short_f32, ln2_short_f64);
  return {r, c, b.fma(n, ln2.hi, hi), b.fma(n, ln2.lo, lo), k, half};
}

// log(v.hi + v.lo) + extra ln2, accurate near 1 too (v.lo may be all of v - 1). Of the sum of hi
// and lo one rounding remains.
template <class B>
Pair<B> log_pair(B& b, Pair<B> v, Val<B> extra) {
  using namespace coeffs;
  auto [r0, c, base, low, k, half] = reduce_near(b, v.hi, &extra);
  // v.lo is scaled like v.hi; beyond 2^100 it does not matter.
  Val<B> s = pow2_float(b, b.neg(b.fmin2(k, b.fconst(k, 100.0))), 0);
  Pair<B> r = fast_two_sum(b, r0, b.mul(b.mul(v.lo, s), c));
  Pair<B> sum = fast_two_sum(b, base, r.hi);
  Val<B> z = b.mul(r.hi, r.hi);
  Val<B> p = b.fma(poly4(b, r.hi, z, log_near_f32, log_near_f64), r.hi, half);
  Val<B> tail = b.add(sum.lo, b.add(low, b.fma(b.neg(r.lo), r.hi, r.lo)));
  return {sum.hi, b.fma(z, p, tail)};
}

template <class B>
Val<B> log1p(B& b, Val<B> x) {
  Val<B> zero = b.fconst(x, 0.0);
  Pair<B> v = two_sum(b, b.fconst(x, 1.0), x);
  v.lo = b.select(b.lt(x, fpick(b, x, 0x1p60, 0x1p100)), v.lo, zero);  // no inf - inf
  Pair<B> y = log_pair(b, v, zero);
  return b.copysign(b.add(y.hi, y.lo), x);
}

}  // namespace numbus::math
