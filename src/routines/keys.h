// Numbers of every type as integers of the same order, so that one sort serves them all.
//
// NaN comes after everything else and all NaN are one key; -0.0 comes just before 0.0, or is the
// same key where indices decide (order_key). Descending order negates the key: it is the exact
// reverse, NaN first.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/dtype.h"
#include "base/error.h"

namespace numbus::routines {

// float16 and bfloat16 as they are stored.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

template <class T>
struct FloatBits {
  static constexpr bool value = false;
};
template <>
struct FloatBits<Half> {
  static constexpr bool value = true;
  using Int = int16_t;
  static constexpr Int infinity = 0x7c00, nan = 0x7e00;
};
template <>
struct FloatBits<Brain> {
  static constexpr bool value = true;
  using Int = int16_t;
  static constexpr Int infinity = 0x7f80, nan = 0x7fc0;
};
template <>
struct FloatBits<float> {
  static constexpr bool value = true;
  using Int = int32_t;
  static constexpr Int infinity = 0x7f800000, nan = 0x7fc00000;
};
template <>
struct FloatBits<double> {
  static constexpr bool value = true;
  using Int = int64_t;
  static constexpr Int infinity = 0x7ff0000000000000, nan = 0x7ff8000000000000;
};

template <class T>
constexpr bool is_floating = FloatBits<T>::value;

// A key of the type's own width, and back. The way there and back changes nothing but the sign and
// the payload of NaN.
template <class T>
  requires(std::is_integral_v<T>)
constexpr auto to_key(T v) {
  using Int = std::make_signed_t<T>;
  if constexpr (std::is_signed_v<T>)
    return v;
  else
    return static_cast<Int>(v ^ static_cast<T>(std::numeric_limits<Int>::min()));
}

template <class T>
  requires(is_floating<T>)
constexpr typename FloatBits<T>::Int to_key(T v) {
  using Int = typename FloatBits<T>::Int;
  constexpr Int kMagnitude = std::numeric_limits<Int>::max();
  Int bits = std::bit_cast<Int>(v);
  Int negative = static_cast<Int>(bits >> (8 * sizeof(Int) - 1));
  Int key = static_cast<Int>(bits ^ (negative & kMagnitude));
  return (bits & kMagnitude) > FloatBits<T>::infinity ? FloatBits<T>::nan : key;
}

template <class T>
using KeyOf = decltype(to_key(T{}));

template <class T>
constexpr T from_key(KeyOf<T> key) {
  using Int = KeyOf<T>;
  if constexpr (is_floating<T>) {
    Int negative = static_cast<Int>(key >> (8 * sizeof(Int) - 1));
    Int bits = static_cast<Int>(key ^ (negative & std::numeric_limits<Int>::max()));
    return std::bit_cast<T>(bits);
  } else if constexpr (std::is_signed_v<T>) {
    return key;
  } else {
    return static_cast<T>(static_cast<T>(key) ^ static_cast<T>(std::numeric_limits<Int>::min()));
  }
}

// Whole blocks, as keys ^ flip. unload_keys puts the bits of the numbers where their keys are.
#define NUMBUS_KEYS(T)                                                   \
  void load_keys(const T* in, int64_t n, KeyOf<T> flip, KeyOf<T>* keys); \
  void unload_keys(T type, KeyOf<T>* keys, int64_t n, KeyOf<T> flip);
NUMBUS_KEYS(float)
NUMBUS_KEYS(double)
NUMBUS_KEYS(int32_t)
NUMBUS_KEYS(int64_t)
NUMBUS_KEYS(uint32_t)
NUMBUS_KEYS(uint64_t)
#undef NUMBUS_KEYS

// A key under which elements that compare equal are equal: -0.0 is 0.0.
template <class T>
constexpr KeyOf<T> order_key(T v) {
  KeyOf<T> key = to_key(v);
  if constexpr (is_floating<T>) return static_cast<KeyOf<T>>(key + (key == -1));
  return key;
}

// NumPy sorts complex numbers by the real, then the imaginary part, in four groups: neither part
// NaN, the imaginary one, the real one, both. `first` decides, then `second`.
template <class Int>
struct ComplexKey {
  Int first, second;
};

template <class R>
constexpr ComplexKey<KeyOf<R>> complex_key(R real, R imag) {
  if (imag != imag && real == real) {
    return {static_cast<KeyOf<R>>(FloatBits<R>::infinity + 1), order_key(real)};
  }
  return {order_key(real), order_key(imag)};
}

// The keys of one line, for sort_keys and select_keys.
template <class T>
struct LineKeys {
  const T* in;
  KeyOf<T> flip;
  KeyOf<T> operator()(int64_t i) const { return to_key(in[i]) ^ flip; }
  void block(int64_t begin, int64_t n, KeyOf<T>* keys) const {
    load_keys(in + begin, n, flip, keys);
  }
  // Writes the numbers whose keys are work[begin, end) to `out`, which may be `work`.
  void finish(KeyOf<T>* work, int64_t begin, int64_t end, T* out) const {
    unload_keys(T{}, work + begin, end - begin, flip);
    if (static_cast<void*>(work) == out || begin == end) return;
    std::memcpy(out + begin, work + begin, static_cast<size_t>(end - begin) * sizeof(T));
  }
};

// Calls body with a value of the C++ type of `t`; complex types are std::complex.
template <class Body>
decltype(auto) with_type(DType t, Body&& body) {
  switch (t) {
    case DType::Bool: return body(uint8_t{});
    case DType::I8: return body(int8_t{});
    case DType::I16: return body(int16_t{});
    case DType::I32: return body(int32_t{});
    case DType::I64: return body(int64_t{});
    case DType::U8: return body(uint8_t{});
    case DType::U16: return body(uint16_t{});
    case DType::U32: return body(uint32_t{});
    case DType::U64: return body(uint64_t{});
    case DType::F16: return body(Half{});
    case DType::BF16: return body(Brain{});
    case DType::F32: return body(float{});
    case DType::F64: return body(double{});
    case DType::C64: return body(std::complex<float>{});
    case DType::C128: return body(std::complex<double>{});
  }
  raise(ErrorKind::Runtime, "an element type that the routines do not know");
}

template <class T>
constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

}  // namespace numbus::routines
