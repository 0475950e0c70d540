// Generated lines of every type for the tests of src/routines, and NumPy's order of numbers.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "routines/keys.h"
#include "sampling.h"

namespace numbus::test {

using routines::Brain;
using routines::Half;

template <class T>
const char* bytes(const std::vector<T>& v) {
  return reinterpret_cast<const char*>(v.data());
}
template <class T>
char* bytes(std::vector<T>& v) {
  return reinterpret_cast<char*>(v.data());
}

// What is stored in 16 bits, for comparisons.
inline float value(Half h) { return half_to_float(h.bits); }
inline float value(Brain h) { return brain_to_float(h.bits); }
template <class T>
T value(T v) {
  return v;
}

template <class R>
bool real_less(R a, R b) {
  return a < b || (b != b && a == a);
}

// The `<` by which NumPy sorts (npysort's LT functions).
template <class T>
bool numpy_less(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else if constexpr (routines::is_floating<T>) {
    return real_less(value(a), value(b));
  } else {
    auto ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
    if (ar < br) return ai == ai || bi != bi;
    if (ar > br) return bi != bi && ai == ai;
    if (ar == br || (ar != ar && br != br)) return real_less(ai, bi);
    return br != br;
  }
}

enum class Pattern { Random, Equal, Sorted, Reversed, Few, Two, Special, Extreme, AlmostEqual };
constexpr Pattern kPatterns[] = {Pattern::Random,   Pattern::Equal,   Pattern::Sorted,
                                 Pattern::Reversed, Pattern::Few,     Pattern::Two,
                                 Pattern::Special,  Pattern::Extreme, Pattern::AlmostEqual};

inline const char* pattern_name(Pattern p) {
  const char* names[] = {"random", "equal",   "sorted",  "reversed",    "few",
                         "two",    "special", "extreme", "almost equal"};
  return names[static_cast<int>(p)];
}

template <class T>
T from_number(double v) {
  if constexpr (std::is_same_v<T, Half>) {
    return {float_to_half(v)};
  } else if constexpr (std::is_same_v<T, Brain>) {
    return {double_to_brain(v)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(v));
  } else {
    return static_cast<T>(v);
  }
}

// NaN of both signs and several payloads, infinities, zeros, the smallest numbers.
template <class T>
T special(uint64_t r) {
  if constexpr (routines::is_floating<T>) {
    using Int = typename routines::FloatBits<T>::Int;
    constexpr Int kSign = std::numeric_limits<Int>::min();
    const Int inf = routines::FloatBits<T>::infinity, nan = routines::FloatBits<T>::nan;
    const Int all[] = {0,
                       kSign,
                       inf,
                       static_cast<Int>(inf | kSign),
                       nan,
                       static_cast<Int>(nan | kSign),
                       static_cast<Int>(inf + 1),
                       std::numeric_limits<Int>::max(),
                       Int{-1},
                       1,
                       static_cast<Int>(kSign | 1),
                       static_cast<Int>(inf - 1)};
    return std::bit_cast<T>(all[r % std::size(all)]);
  } else {
    return static_cast<T>(r % 3 == 0   ? std::numeric_limits<T>::min()
                          : r % 3 == 1 ? std::numeric_limits<T>::max()
                                       : T{0});
  }
}

template <class T>
T element(Pattern pattern, uint64_t r, int64_t i, int64_t n) {
  if constexpr (routines::is_complex_type<T>) {
    using R = typename T::value_type;
    Pattern real = pattern == Pattern::Random && r % 2 ? Pattern::Few : pattern;
    return {element<R>(real, r, i, n), element<R>(pattern, r >> 32, i, n)};
  } else {
    switch (pattern) {
      case Pattern::Random:
        if constexpr (std::is_integral_v<T>) {
          return static_cast<T>(r);
        } else {
          return from_number<T>((static_cast<double>(r >> 11) * 0x1p-53 - 0.3) * 1000);
        }
      case Pattern::Equal: return from_number<T>(7);
      case Pattern::Sorted: return from_number<T>(static_cast<double>(i) / (n > 100 ? n / 100 : 1));
      case Pattern::Reversed:
        return from_number<T>(static_cast<double>(n - i) / (n > 100 ? n / 100 : 1));
      case Pattern::Few: return from_number<T>(static_cast<double>(r % 5));
      case Pattern::Two: return from_number<T>(r % 7 ? 1 : 2);
      case Pattern::Special: return special<T>(r >> 3);
      case Pattern::Extreme:
        return r % 4 ? element<T>(Pattern::Random, r >> 3, i, n) : special<T>(r >> 3);
      case Pattern::AlmostEqual: return from_number<T>(r % 1000 ? 3 : static_cast<double>(r % 11));
    }
    return T{};
  }
}

template <class T>
std::vector<T> make_line(Pattern pattern, int64_t n, uint64_t seed) {
  std::mt19937_64 engine(seed * 1000 + static_cast<uint64_t>(pattern));
  std::vector<T> line;
  for (int64_t i = 0; i < n; ++i) line.push_back(element<T>(pattern, engine(), i, n));
  return line;
}

// body(t, a value of its C++ type) for all types; bool's values are 0 and 1.
template <class Body>
void each_type(Body&& body) {
  for (int t = 1; t < kNumDTypes; ++t) {
    routines::with_type(static_cast<DType>(t),
                        [&](auto zero) { body(static_cast<DType>(t), zero); });
  }
}

}  // namespace numbus::test
