// Builders that compute at once, for measuring src/passes/math: one value, or one AVX-512 register,
// per handle.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

#include "passes/math/math.h"

namespace numbus::test {

// T is float or double.
template <class T>
struct ScalarBackend {
  static constexpr bool kF32 = sizeof(T) == 4;
  using I = std::conditional_t<kF32, int32_t, int64_t>;
  using U = std::make_unsigned_t<I>;
  struct V {
    I i;
  };
  static V f(T x) { return {std::bit_cast<I>(x)}; }
  static T f(V x) { return std::bit_cast<T>(x.i); }
  static V m(bool x) { return {x}; }
  static V u(U x) { return {static_cast<I>(x)}; }

  bool is_f32(V) { return kF32; }
  V fconst(V, double c) { return f(static_cast<T>(c)); }
  V iconst(V, int64_t c) { return {static_cast<I>(c)}; }
  V table(V, const double* t, int n, V i) {
    if (i.i < 0 || i.i >= n) __builtin_trap();
    return f(static_cast<T>(t[i.i]));
  }
  V add(V a, V b) { return f(f(a) + f(b)); }
  V sub(V a, V b) { return f(f(a) - f(b)); }
  V mul(V a, V b) { return f(f(a) * f(b)); }
  V div(V a, V b) { return f(f(a) / f(b)); }
  V reciprocal(V a) { return div(fconst(a, 1.0), a); }
  V fma(V a, V b, V c) {
    return f(kF32 ? T(__builtin_fmaf(f(a), f(b), f(c))) : T(__builtin_fma(f(a), f(b), f(c))));
  }
  V neg(V a) { return f(-f(a)); }
  V abs(V a) { return f(std::fabs(f(a))); }
  V sqrt(V a) { return f(std::sqrt(f(a))); }
  V rint(V a) { return f(std::rint(f(a))); }
  V floor(V a) { return f(std::floor(f(a))); }
  V trunc(V a) { return f(std::trunc(f(a))); }
  V copysign(V a, V b) { return f(std::copysign(f(a), f(b))); }
  V fmin2(V a, V b) { return f(f(a) < f(b) ? f(a) : f(b)); }
  V fmax2(V a, V b) { return f(f(a) > f(b) ? f(a) : f(b)); }
  V lt(V a, V b) { return m(f(a) < f(b)); }
  V le(V a, V b) { return m(f(a) <= f(b)); }
  V gt(V a, V b) { return m(f(a) > f(b)); }
  V ge(V a, V b) { return m(f(a) >= f(b)); }
  V eq(V a, V b) { return m(f(a) == f(b)); }
  V ne(V a, V b) { return m(f(a) != f(b)); }
  V ilt(V a, V b) { return m(a.i < b.i); }
  V ige(V a, V b) { return m(a.i >= b.i); }
  V ieq(V a, V b) { return m(a.i == b.i); }
  V mand(V a, V b) { return m(a.i & b.i); }
  V mor(V a, V b) { return m(a.i | b.i); }
  V mnot(V a) { return m(!a.i); }
  V select(V c, V a, V b) { return c.i ? a : b; }
  V bits(V x) { return x; }
  V float_of(V x) { return x; }
  V iadd(V a, V b) { return u(U(a.i) + U(b.i)); }
  V isub(V a, V b) { return u(U(a.i) - U(b.i)); }
  V imul(V a, V b) { return u(U(a.i) * U(b.i)); }
  V iand(V a, V b) { return {a.i & b.i}; }
  V ior(V a, V b) { return {a.i | b.i}; }
  V ixor(V a, V b) { return {a.i ^ b.i}; }
  V ishl(V a, int n) { return u(U(a.i) << n); }
  V ishr(V a, int n) { return u(U(a.i) >> n); }
  V isar(V a, int n) { return {a.i >> n}; }
  V to_int(V x) {
    if (!(std::fabs(f(x)) < (kF32 ? 0x1p31 : 0x1p63))) __builtin_trap();
    return {static_cast<I>(f(x))};
  }
  V from_int(V i) { return f(static_cast<T>(i.i)); }
  template <size_t N, class F>
  std::array<V, N> if_any(V mask, F&& slow, std::array<V, N> fast) {
    return __builtin_expect(mask.i != 0, 0) ? slow() : fast;
  }
};

#ifdef __AVX512DQ__
template <class T>
struct VectorBackend;

// One class body for both widths: FP/INT name the intrinsics' suffixes.
#define NUMBUS_VECTOR_BACKEND(T, LANES, FV, MV, FP, INT, SET1I, CASTI, CASTF, TOINT, FROMINT)      \
  template <>                                                                                      \
  struct VectorBackend<T> {                                                                        \
    static constexpr int kLanes = LANES;                                                           \
    struct V {                                                                                     \
      FV f;                                                                                        \
      MV m;                                                                                        \
    };                                                                                             \
    static V F(FV x) { return {x, 0}; }                                                            \
    static V I(__m512i x) { return {CASTF(x), 0}; }                                                \
    static __m512i i(V x) { return CASTI(x.f); }                                                   \
    static V M(unsigned x) { return {FV{}, static_cast<MV>(x)}; }                                  \
    static V load(const T* p) { return F(_mm512_loadu_##FP(p)); }                                  \
    static void store(T* p, V x) { _mm512_storeu_##FP(p, x.f); }                                   \
    bool is_f32(V) { return LANES == 16; }                                                         \
    V fconst(V, double c) { return F(_mm512_set1_##FP(static_cast<T>(c))); }                       \
    V iconst(V, int64_t c) { return I(SET1I(c)); }                                                 \
    V table(V, const double* t, int, V at) {                                                       \
      alignas(64) T x[LANES];                                                                      \
      alignas(64) std::conditional_t<LANES == 16, int32_t, int64_t> k[LANES];                      \
      _mm512_store_si512(k, i(at));                                                                \
      for (int n = 0; n < LANES; n++) x[n] = static_cast<T>(t[k[n]]);                              \
      return load(x);                                                                              \
    }                                                                                              \
    V add(V a, V b) { return F(_mm512_add_##FP(a.f, b.f)); }                                       \
    V sub(V a, V b) { return F(_mm512_sub_##FP(a.f, b.f)); }                                       \
    V mul(V a, V b) { return F(_mm512_mul_##FP(a.f, b.f)); }                                       \
    V div(V a, V b) { return F(_mm512_div_##FP(a.f, b.f)); }                                       \
    V reciprocal(V a) { return div(fconst(a, 1.0), a); }                                           \
    V fma(V a, V b, V c) { return F(_mm512_fmadd_##FP(a.f, b.f, c.f)); }                           \
    V neg(V a) { return F(-a.f); }                                                                 \
    V abs(V a) { return F(_mm512_abs_##FP(a.f)); }                                                 \
    V sqrt(V a) { return F(_mm512_sqrt_##FP(a.f)); }                                               \
    V rint(V a) { return F(_mm512_roundscale_##FP(a.f, 8)); }                                      \
    V floor(V a) { return F(_mm512_roundscale_##FP(a.f, 9)); }                                     \
    V trunc(V a) { return F(_mm512_roundscale_##FP(a.f, 11)); }                                    \
    V copysign(V a, V b) {                                                                         \
      return I(_mm512_ternarylogic_epi64(i(F(_mm512_set1_##FP(T(-0.0)))), i(a), i(b), 0xac));      \
    }                                                                                              \
    V fmin2(V a, V b) { return F(_mm512_min_##FP(a.f, b.f)); }                                     \
    V fmax2(V a, V b) { return F(_mm512_max_##FP(a.f, b.f)); }                                     \
    V lt(V a, V b) { return M(_mm512_cmp_##FP##_mask(a.f, b.f, _CMP_LT_OQ)); }                     \
    V le(V a, V b) { return M(_mm512_cmp_##FP##_mask(a.f, b.f, _CMP_LE_OQ)); }                     \
    V gt(V a, V b) { return M(_mm512_cmp_##FP##_mask(a.f, b.f, _CMP_GT_OQ)); }                     \
    V ge(V a, V b) { return M(_mm512_cmp_##FP##_mask(a.f, b.f, _CMP_GE_OQ)); }                     \
    V eq(V a, V b) { return M(_mm512_cmp_##FP##_mask(a.f, b.f, _CMP_EQ_OQ)); }                     \
    V ne(V a, V b) { return M(_mm512_cmp_##FP##_mask(a.f, b.f, _CMP_NEQ_UQ)); }                    \
    V ilt(V a, V b) { return M(_mm512_cmplt_##INT##_mask(i(a), i(b))); }                           \
    V ige(V a, V b) { return M(_mm512_cmpge_##INT##_mask(i(a), i(b))); }                           \
    V ieq(V a, V b) { return M(_mm512_cmpeq_##INT##_mask(i(a), i(b))); }                           \
    V mand(V a, V b) { return M(a.m & b.m); }                                                      \
    V mor(V a, V b) { return M(a.m | b.m); }                                                       \
    V mnot(V a) { return M(~a.m); }                                                                \
    V select(V c, V a, V b) {                                                                      \
      return {_mm512_mask_blend_##FP(c.m, b.f, a.f), static_cast<MV>((c.m & a.m) | (~c.m & b.m))}; \
    }                                                                                              \
    V bits(V x) { return x; }                                                                      \
    V float_of(V x) { return x; }                                                                  \
    V iadd(V a, V b) { return I(_mm512_add_##INT(i(a), i(b))); }                                   \
    V isub(V a, V b) { return I(_mm512_sub_##INT(i(a), i(b))); }                                   \
    V imul(V a, V b) { return I(_mm512_mullo_##INT(i(a), i(b))); }                                 \
    V iand(V a, V b) { return I(_mm512_and_si512(i(a), i(b))); }                                   \
    V ior(V a, V b) { return I(_mm512_or_si512(i(a), i(b))); }                                     \
    V ixor(V a, V b) { return I(_mm512_xor_si512(i(a), i(b))); }                                   \
    V ishl(V a, int n) { return I(_mm512_slli_##INT(i(a), n)); }                                   \
    V ishr(V a, int n) { return I(_mm512_srli_##INT(i(a), n)); }                                   \
    V isar(V a, int n) { return I(_mm512_srai_##INT(i(a), n)); }                                   \
    V to_int(V x) { return I(TOINT(x.f)); }                                                        \
    V from_int(V x) { return F(FROMINT(i(x))); }                                                   \
    template <size_t N, class S>                                                                   \
    std::array<V, N> if_any(V mask, S&& slow, std::array<V, N> fast) {                             \
      if (__builtin_expect(mask.m != 0, 0)) {                                                      \
        std::array<V, N> v = slow();                                                               \
        for (size_t n = 0; n < N; n++) fast[n] = select(mask, v[n], fast[n]);                      \
      }                                                                                            \
      return fast;                                                                                 \
    }                                                                                              \
  };
NUMBUS_VECTOR_BACKEND(float, 16, __m512, __mmask16, ps, epi32, _mm512_set1_epi32,
                      _mm512_castps_si512, _mm512_castsi512_ps, _mm512_cvttps_epi32,
                      _mm512_cvtepi32_ps)
NUMBUS_VECTOR_BACKEND(double, 8, __m512d, __mmask8, pd, epi64, _mm512_set1_epi64,
                      _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_cvttpd_epi64,
                      _mm512_cvtepi64_pd)
#undef NUMBUS_VECTOR_BACKEND
#endif

}  // namespace numbus::test
