// log and its relatives: log, log2, log10, log1p.
#pragma once

#include "passes/math/core.h"

namespace numbus::math {

// x = 2^k (1 + f), f in [-1/3, 1/3). half is -1/2, the second coefficient of log(1 + f); where the logarithm is
// infinite or NaN, half is that value and carries it into the result.
template <class B>
struct LogParts {
  Val<B> f, k, half;
};

template <class B>
LogParts<B> reduce_log(B& b, Val<B> x) {
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
  Val<B> k = b.isar(b.isub(i, ipick(b, x, 0x3f2aaaab, 0x3fe5555555555555)), shift);  // 2/3
  Val<B> m = b.float_of(b.isub(i, b.ishl(k, shift)));
  // An int becomes a float by adding it to the bits of 1.5 * 2^mantissa.
  Val<B> kf = b.float_of(b.iadd(k, b.bits(magic)));
  return {b.sub(m, b.fconst(x, 1.0)), b.sub(kf, shifted), half};
}

// log1p(f) - f for |f| <= 1/3.
template <class B>
Val<B> log_tail(B& b, Val<B> f, Val<B> half) {
  using namespace coeffs;
  Val<B> z = b.mul(f, f);
  Val<B> p = poly2(b, f, z, log_f32, log_f64);
  return b.mul(z, b.fma(p, f, half));
}

template <class B>
Val<B> log(B& b, Val<B> x) {
  using namespace coeffs;
  auto [f, k, half] = reduce_log(b, x);
  Val<B> tail = log_tail(b, f, half);
  // k * first is exact, and its sum with f is kept in two parts.
  Val<B> whole = b.mul(k, part(b, x, ln2_short_f32, ln2_short_f64, 0));
  Val<B> hi = b.add(whole, f);
  Val<B> lo = b.sub(f, b.sub(hi, whole));
  lo = b.add(lo, b.fma(k, part(b, x, ln2_short_f32, ln2_short_f64, 1), tail));
  return b.add(hi, lo);
}

}  // namespace numbus::math
