// What all elementary functions share: the builder they are written over, polynomials, powers of
// two, exact sums.
//
// The functions are templates over a builder B: B::V is a handle of a value (float, same-width int
// or mask), and each method emits one step. The compiler's builder emits IR; a test's builder
// computes at once. Every step is one IEEE operation, so all builders give the same bits.
// So no fast-math flag may reach these steps, contraction and reassociation included, whatever the
// kernel asks for.
//
// - constants: fconst(like, double) iconst(like, int64) is_f32(like) table(like, values, n, index)
// - float: add sub mul div fma neg abs sqrt rint floor trunc copysign, fmin2 fmax2 (without NaN),
//   reciprocal (of arguments between 2^-60 and 2^60, or NaN)
// - compare: lt le gt ge eq ne (false on NaN, but ne), ilt ige ieq (signed)
// - masks: mand mor mnot, select(mask, a, b)
// - bits: bits float_of, to_int (in range, truncates) from_int, iadd isub imul iand ior ixor,
//   ishl ishr isar by a constant
// - control: if_any(mask, slow, fast) is fast, but slow()[i] in the lanes of mask; slow is run only
//   when a lane is set. fast and the result of slow are std::array<V, N>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "passes/math/coeffs.h"

namespace numbus::math {

template <class B>
using Val = typename B::V;

// An unevaluated sum hi + lo.
template <class B>
struct Pair {
  Val<B> hi, lo;
};

// c[0] + c[1] x + ..., in Horner's order.
template <class B>
Val<B> horner(B& b, Val<B> x, const double* c, size_t n) {
  Val<B> p = b.fconst(x, c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) p = b.fma(p, x, b.fconst(x, c[i]));
  return p;
}

// The same by even and odd powers: one step more, half the latency; x2 is x * x.
template <class B>
Val<B> even_odd(B& b, Val<B> x, Val<B> x2, const double* c, size_t n) {
  auto half = [&](size_t first) {
    size_t last = first + (n - 1 - first) / 2 * 2;
    Val<B> p = b.fconst(x, c[last]);
    for (size_t i = last; i > first;) p = b.fma(p, x2, b.fconst(x, c[i -= 2]));
    return p;
  };
  return b.fma(half(1), x, half(0));
}

// The same by fours (Estrin): two steps more, the least latency for long sums.
template <class B>
Val<B> by_fours(B& b, Val<B> x, Val<B> x2, const double* c, size_t n) {
  auto four = [&](size_t first) {
    auto two = [&](size_t i) {
      Val<B> p = b.fconst(x, c[i]);
      return i + 1 < n ? b.fma(b.fconst(x, c[i + 1]), x, p) : p;
    };
    Val<B> p = two(first);
    return first + 2 < n ? b.fma(two(first + 2), x2, p) : p;
  };
  Val<B> x4 = b.mul(x2, x2);
  size_t last = (n - 1) / 4 * 4;
  Val<B> p = four(last);
  for (size_t i = last; i > 0;) p = b.fma(p, x4, four(i -= 4));
  return p;
}

// horner with the coefficients of x's type.
template <class B, size_t N, size_t M>
Val<B> poly(B& b, Val<B> x, const double (&c32)[N], const double (&c64)[M]) {
  return b.is_f32(x) ? horner(b, x, c32, N) : horner(b, x, c64, M);
}

template <class B, size_t N, size_t M>
Val<B> poly2(B& b, Val<B> x, Val<B> x2, const double (&c32)[N], const double (&c64)[M]) {
  return b.is_f32(x) ? horner(b, x, c32, N) : even_odd(b, x, x2, c64, M);
}

template <class B, size_t N, size_t M>
Val<B> poly4(B& b, Val<B> x, Val<B> x2, const double (&c32)[N], const double (&c64)[M]) {
  return b.is_f32(x) ? by_fours(b, x, x2, c32, N) : by_fours(b, x, x2, c64, M);
}

// Entry i of a constant of x's type.
template <class B, size_t N, size_t M>
Val<B> part(B& b, Val<B> x, const double (&c32)[N], const double (&c64)[M], size_t i) {
  return b.fconst(x, b.is_f32(x) ? c32[i] : c64[i]);
}

template <class B, size_t N, size_t M>
Pair<B> const_pair(B& b, Val<B> x, const double (&c32)[N], const double (&c64)[M]) {
  return {part(b, x, c32, c64, 0), part(b, x, c32, c64, 1)};
}

// Entry `index`, below N, of a table of x's type.
template <class B, size_t N>
Val<B> pick_table(B& b, Val<B> x, const double (&t32)[N], const double (&t64)[N], Val<B> index) {
  return b.table(x, b.is_f32(x) ? t32 : t64, static_cast<int>(N), index);
}

// Constants that depend on the format: f32 | f64.
template <class B>
Val<B> fpick(B& b, Val<B> x, double c32, double c64) {
  return b.fconst(x, b.is_f32(x) ? c32 : c64);
}
template <class B>
Val<B> ipick(B& b, Val<B> x, int64_t c32, int64_t c64) {
  return b.iconst(x, b.is_f32(x) ? c32 : c64);
}
template <class B>
int mantissa_bits(B& b, Val<B> x) {
  return b.is_f32(x) ? 23 : 52;
}

// Only the sign bit of x, as an int.
template <class B>
Val<B> sign_bit(B& b, Val<B> x) {
  return b.iand(b.bits(x), ipick(b, x, INT32_MIN, INT64_MIN));
}

// x with NaN kept: select rather than fmin2.
template <class B>
Val<B> clamp_above(B& b, Val<B> x, Val<B> hi) {
  return b.select(b.gt(x, hi), hi, x);
}
template <class B>
Val<B> clamp_below(B& b, Val<B> x, Val<B> lo) {
  return b.select(b.lt(x, lo), lo, x);
}

// x itself where |x| is below limit: keeps the sign of zero and the bits of subnormals.
template <class B>
Val<B> keep_tiny(B& b, Val<B> x, Val<B> limit, Val<B> v) {
  return b.select(b.lt(b.abs(x), limit), x, v);
}

// n, the integer nearest to x * c, as a float and, plus `bias`, in the low bits of an int:
// adding 1.5 * 2^mantissa leaves the integer in the last bits of the sum. |x * c| must stay below
// 2^21 | 2^50.
template <class B>
struct Nearest {
  Val<B> n, low;
};
template <class B>
Nearest<B> nearest(B& b, Val<B> x, Val<B> c, int bias) {
  Val<B> magic = fpick(b, x, 0x1.8p23 + bias, 0x1.8p52 + bias);
  Val<B> t = b.fma(x, c, magic);
  return {b.sub(t, magic), b.bits(t)};
}

// 2^n from the low bits of an int that hold n + exponent bias; the bits above them are shifted out.
template <class B>
Val<B> pow2_biased(B& b, Val<B> like, Val<B> low) {
  return b.float_of(b.ishl(low, mantissa_bits(b, like)));
}
template <class B>
int exponent_bias(B& b, Val<B> x) {
  return b.is_f32(x) ? 127 : 1023;
}

// 2^(n + offset) for an integer n given as a float; the result must be normal.
template <class B>
Val<B> pow2_float(B& b, Val<B> n, int offset) {
  double low = exponent_bias(b, n) + offset;
  return pow2_biased(b, n, b.bits(b.add(n, fpick(b, n, 0x1.8p23 + low, 0x1.8p52 + low))));
}

// p * 2^n where low = n + twice the exponent bias: two factors, so that results may be subnormal
// (one rounding) or overflow.
template <class B>
Val<B> scale_twice(B& b, Val<B> p, Val<B> low) {
  Val<B> half = b.ishr(low, 1);
  Val<B> other = b.isub(low, half);
  return b.mul(b.mul(p, pow2_biased(b, p, half)), pow2_biased(b, p, other));
}

template <class B>
Pair<B> pick_pair(B& b, Val<B> mask, Pair<B> x, Pair<B> y) {
  return {b.select(mask, x.hi, y.hi), b.select(mask, x.lo, y.lo)};
}

// x + y exactly, if |x| >= |y| or x = 0.
template <class B>
Pair<B> fast_two_sum(B& b, Val<B> x, Val<B> y) {
  Val<B> s = b.add(x, y);
  return {s, b.add(b.sub(x, s), y)};
}

// x + y exactly.
template <class B>
Pair<B> two_sum(B& b, Val<B> x, Val<B> y) {
  Val<B> s = b.add(x, y), t = b.sub(s, x);
  return {s, b.add(b.sub(x, b.sub(s, t)), b.sub(y, t))};
}

// x * y, exactly unless it underflows.
template <class B>
Pair<B> two_prod(B& b, Val<B> x, Val<B> y) {
  Val<B> p = b.mul(x, y);
  return {p, b.fma(x, y, b.neg(p))};
}

// x * y of pairs, to about twice the precision.
template <class B>
Pair<B> mul_pairs(B& b, Pair<B> x, Pair<B> y) {
  Pair<B> p = two_prod(b, x.hi, y.hi);
  return {p.hi, b.add(p.lo, b.fma(x.hi, y.lo, b.mul(x.lo, y.hi)))};
}

// c + x for a pair of constants c.hi, not below |x| in size.
template <class B>
Pair<B> add_pair(B& b, Pair<B> c, Pair<B> x) {
  Pair<B> s = fast_two_sum(b, c.hi, x.hi);
  return {s.hi, b.add(s.lo, b.add(c.lo, x.lo))};
}

// sqrt(x.hi + x.lo) as a pair; zero stays zero.
template <class B>
Pair<B> sqrt_pair(B& b, Pair<B> x) {
  Val<B> t = b.sqrt(x.hi);
  Val<B> rest = b.add(b.fma(b.neg(t), t, x.hi), x.lo);
  Val<B> twice = b.fmax2(b.add(t, t), fpick(b, t, 0x1p-100, 0x1p-1000));
  return {t, b.div(rest, twice)};
}

// (n.hi + n.lo) / (d.hi + d.lo), nearly correctly rounded, with one division.
template <class B>
Val<B> divide_pairs(B& b, Pair<B> n, Pair<B> d) {
  Val<B> r = b.div(b.fconst(n.hi, 1.0), d.hi);
  Val<B> q = b.mul(n.hi, r);
  Val<B> rest = b.fma(b.neg(q), d.hi, n.hi);
  Val<B> low = b.fma(b.neg(q), d.lo, n.lo);
  return b.fma(b.add(rest, low), r, q);
}

}  // namespace numbus::math
