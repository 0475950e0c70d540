// One-element forms of the rows whose C++ operator is missing, undefined for some input, or
// different in NumPy.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace numbus::ops {

template <class T>
constexpr bool kFloat = std::is_floating_point_v<T>;

template <class T>
inline T abs_(T a) {
  if constexpr (kFloat<T>)
    return std::fabs(a);
  else if constexpr (std::is_signed_v<T>)
    return a < 0 ? static_cast<T>(-a) : a;
  else
    return a;
}
#define NUMBUS_FLOAT_ONLY(name, call) \
  template <class T>                  \
  inline T name(T a) {                \
    if constexpr (kFloat<T>)          \
      return call(a);                 \
    else                              \
      return a;                       \
  }
NUMBUS_FLOAT_ONLY(sqrt_, std::sqrt)
NUMBUS_FLOAT_ONLY(floor_, std::floor)
NUMBUS_FLOAT_ONLY(ceil_, std::ceil)
NUMBUS_FLOAT_ONLY(trunc_, std::trunc)
NUMBUS_FLOAT_ONLY(rint_, std::nearbyint)
#undef NUMBUS_FLOAT_ONLY

template <class T>
inline T copysign_(T a, T b) {
  if constexpr (kFloat<T>)
    return std::copysign(a, b);
  else
    return a;
}
template <class T>
inline bool signbit_(T a) {
  if constexpr (kFloat<T>)
    return std::signbit(a);
  else
    return a < 0;
}
template <class T>
inline T relu_(T a) {
  return a <= 0 ? T(0) : a;
}
template <class T>
inline T fma_(T a, T b, T c) {
  if constexpr (kFloat<T>)
    return std::fma(a, b, c);
  else
    return a * b + c;
}
template <class T>
inline T int_div_(T a, T b) {  // truncating; x/0 = 0 and MIN/-1 = MIN, as in NumPy
  if constexpr (kFloat<T>)
    return a / b;
  else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    return static_cast<T>(a / b);
  }
}
template <class T>
inline T fmod_(T a, T b) {
  if constexpr (kFloat<T>)
    return std::fmod(a, b);
  else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
}
template <class T>
inline T gcd_(T a, T b) {
  if constexpr (kFloat<T>)
    return 0;
  else {
    // The magnitude of the lowest number is none of its own type.
    using U = std::make_unsigned_t<T>;
    auto magnitude = [](T v) { return static_cast<U>(v < 0 ? U(0) - static_cast<U>(v) : v); };
    U x = magnitude(a), y = magnitude(b);
    while (x != 0) {
      const U rest = static_cast<U>(y % x);
      y = x;
      x = rest;
    }
    return static_cast<T>(y);
  }
}
template <class T>
inline T mul_high_(T a, T b) {
  if constexpr (kFloat<T>)
    return a * b;
  else if constexpr (sizeof(T) == 8) {
    return static_cast<T>(
        (static_cast<unsigned __int128>(static_cast<uint64_t>(a)) * static_cast<uint64_t>(b)) >>
        64);
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(
        (static_cast<uint64_t>(static_cast<U>(a)) * static_cast<uint64_t>(static_cast<U>(b))) >>
        (8 * sizeof(T)));
  }
}
#define NUMBUS_INT_ONLY(name, expr) \
  template <class T>                \
  inline T name(T a, T b) {         \
    if constexpr (kFloat<T>)        \
      return a;                     \
    else                            \
      return static_cast<T>(expr);  \
  }
NUMBUS_INT_ONLY(and_, a& b)
NUMBUS_INT_ONLY(or_, a | b)
NUMBUS_INT_ONLY(xor_, a ^ b)
// A shift by the width or more shifts everything out; NumPy treats negative amounts likewise.
NUMBUS_INT_ONLY(shl_, static_cast<uint64_t>(b) < 8 * sizeof(T)
                          ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b)
                          : T(0))
NUMBUS_INT_ONLY(shr_, static_cast<uint64_t>(b) < 8 * sizeof(T) ? static_cast<T>(a >> b)
                                                               : (a < 0 ? T(-1) : T(0)))
#undef NUMBUS_INT_ONLY
template <class T>
inline T not_(T a) {
  return static_cast<T>(a == T(0));
}
template <class T>
inline T invert_(T a) {
  if constexpr (kFloat<T>)
    return a;
  else
    return static_cast<T>(~a);
}
template <class T>
inline uint8_t popcount_(T a) {
  if constexpr (kFloat<T>)
    return 0;
  else
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(abs_(a))));
}

// Conversions between element types as NumPy on x86 does them.
template <class To, class From>
inline To cast_(From a) {
  if constexpr (kFloat<From> && !kFloat<To>) {
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (a >= From(9223372036854775808.0))
        return a < From(18446744073709551616.0) ? static_cast<uint64_t>(a) : (uint64_t(1) << 63);
    }
    bool in_range = a >= From(-9223372036854775808.0) && a < From(9223372036854775808.0);
    int64_t wide = in_range ? static_cast<int64_t>(a) : INT64_MIN;
    if constexpr (sizeof(To) <= 4) {
      // 32-bit and narrower conversions go through int32 in NumPy's loops.
      bool narrow = a > From(-2147483649.0) && a < From(2147483648.0);
      if constexpr (std::is_signed_v<To> || sizeof(To) < 4)
        return static_cast<To>(narrow ? static_cast<int32_t>(wide) : INT32_MIN);
    }
    return static_cast<To>(wide);
  } else {
    return static_cast<To>(a);
  }
}

}  // namespace numbus::ops
