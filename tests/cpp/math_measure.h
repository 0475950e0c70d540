// Measuring errors in units in the last place, and arguments worth measuring.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "math_backends.h"

namespace numbus::test {

// Distance of y from the exact r in ULP of the format T: the distance of neighbours in the binade
// of r. R is wider than T. Below `floor` in size the unit no longer shrinks. Infinite for a wrong
// NaN or a wrong sign of zero; values that overflow T count as its first power of two too many.
template <class T, class R>
double ulp_error(T y, R r, T floor = 0) {
  using L = std::numeric_limits<T>;
  const R top = R(L::max()) * (1 + R(L::epsilon()) / 2);
  bool r_nan = r != r, y_nan = y != y;
  if (r_nan || y_nan) return r_nan && y_nan ? 0 : INFINITY;
  bool negative = r < 0 || (r == 0 && std::signbit(static_cast<double>(r)));
  if (y == 0 && floor == 0 && r > -R(L::min()) && r < R(L::min()) && std::signbit(y) != negative)
    return INFINITY;
  R exact = negative ? -r : r, value = negative ? -R(y) : R(y);
  if (std::isinf(y)) value = value > 0 ? top : -top;
  if (exact > top) exact = top;
  if (exact == value) return 0;
  int e, low = L::min_exponent;
  std::frexp(static_cast<double>(exact), &e);
  if (e > -1000 && e < 1024 && exact < R(std::ldexp(1.0, e - 1)))
    e--;  // the conversion to double rounded up
  if (floor > 0) low = std::max(low, std::ilogb(floor) + 1);
  e = std::max(e, low) - L::digits;
  R d = exact > value ? exact - value : value - exact;
  int shift = e < -500 ? 600 : 0;
  return std::ldexp(static_cast<double>(d * R(shift ? 0x1p600 : 1.0)), -e - shift);
}

template <class T>
using Bits = typename ScalarBackend<T>::I;

// Special values, limits of the functions and their neighbours, with both signs.
template <class T>
std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> e;
  for (double v : {0.0,
                   double(L::denorm_min()),
                   double(L::min()),
                   double(L::max()),
                   double(L::infinity()),
                   double(L::quiet_NaN()),
                   double(L::epsilon()),
                   1.0,
                   2.0,
                   3.0,
                   0.5,
                   1.5,
                   2.5,
                   10.0,
                   100.0,
                   1000.0,
                   M_PI,
                   M_PI_2,
                   M_PI_4,
                   M_LN2,
                   M_LN2 / 2,
                   M_SQRT1_2,
                   M_SQRT2,
                   2.0 / 3,
                   4.0 / 3,
                   M_SQRT2 - 1,
                   M_SQRT2 + 1,
                   3216.0,
                   1647000.0,
                   88.722839,
                   709.782712893384,
                   745.1332191019411,
                   710.4758600739439,
                   89.415985,
                   103.97208,
                   1024.0,
                   1075.0,
                   128.0,
                   149.0,
                   1e22,
                   0x1p14,
                   0x1p23,
                   0x1p24,
                   0x1p30,
                   0x1p52,
                   0x1p53,
                   0x1p54,
                   6381956970095103.0 * 0x1p797}) {
    T up = static_cast<T>(v), down = up;
    for (int i = 0; i < 3; i++) {
      for (T x : {up, -up, down, -down}) e.push_back(x);
      up = std::nextafter(up, L::infinity());
      down = std::nextafter(down, -L::infinity());
    }
  }
  return e;
}

// Random arguments: dense in [lo, hi], all exponents, moderate exponents, near one, near multiples
// of pi/2 and ln2/2.
template <class T>
struct Sampler {
  std::mt19937_64 rng;
  T operator()(double lo, double hi) {
    uint64_t r = rng();
    double u = static_cast<double>(rng() >> 11) * 0x1p-53;
    switch (r & 7) {
      case 0:
      case 1:
      case 2: return static_cast<T>(lo + (hi - lo) * u);
      case 3: return std::bit_cast<T>(static_cast<Bits<T>>(rng()));
      case 4:
        return static_cast<T>(
            (1 + u) * std::ldexp((r & 8) && lo < 0 ? -1 : 1, static_cast<int>(r >> 8 & 31) - 24));
      case 5: return static_cast<T>(1 + (u - 0.5) * std::ldexp(1, -static_cast<int>(r >> 8 & 31)));
      case 6: {
        double step = (r & 8) ? M_PI_2 : M_LN2 / 2;
        T near = static_cast<T>(static_cast<double>(r >> 8 & 0xfffff) * step);
        return static_cast<T>(near * (1 + (u - 0.5) * std::numeric_limits<T>::epsilon() * 4));
      }
      default: return static_cast<T>(lo + (hi - lo) * u * u * u);
    }
  }
};

// Sums that cancel are measured at the size of the larger argument: their result cannot be better
// than that.
template <class T>
T cancel_floor(const char* name, T x, T y) {
  T top = std::max(x, y);
  return std::string_view(name).starts_with("logadd") && top < 0 && top > -4 ? -top : T(0);
}

}  // namespace numbus::test
