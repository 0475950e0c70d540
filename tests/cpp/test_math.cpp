// Regression test of the elementary functions: sampled errors stay below one ULP, special values
// are right. ulp.cpp measures them thoroughly.
#include <doctest/doctest.h>

#include <string>

#include "math_functions.h"
#include "math_measure.h"

using namespace numbus;
using namespace numbus::test;

namespace {

template <class T, class F>
T run(F f, T x, T y = 0) {
  using B = ScalarBackend<T>;
  B b;
  return B::f(f(b, B::f(x), B::f(y)));
}

template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

template <class T, class F, class R>
void check_ulp(const char* name, F f, R ref, bool two, double lo, double hi, double lo2,
               double hi2) {
  double worst = 0;
  T at = 0, at2 = 0;
  auto measure = [&](T x, T y) {
    T v = run<T>(f, x, y);
    double e = ulp_error(v, ref(Wide<T>(x), Wide<T>(y)), cancel_floor(name, x, y));
    if (e > worst) worst = e, at = x, at2 = y;
  };
  std::vector<T> special = edges<T>();
  for (size_t i = 0; i < special.size(); i++) {
    if (!two) measure(special[i], 0);
    for (size_t j = i % 7; two && j < special.size(); j += 7) measure(special[i], special[j]);
  }
  Sampler<T> s{std::mt19937_64(1)};
  for (int i = 0; i < 10000; i++) {
    T x = s(lo, hi);
    measure(x, two ? s(lo2, hi2) : 0);
  }
  INFO(name, sizeof(T) == 4 ? " f32" : " f64", " at ", at, ", ", at2);
  CHECK(worst <= 1.0);
}

#define UNARY(name, ref, refq, lo, hi)                                                 \
  {                                                                                    \
    auto f = [](auto& b, auto x, auto) { return math::name(b, x); };                   \
    auto r = [](auto x, auto) { return ref(x); };                                      \
    check_ulp<float>(#name, f, r, false, std::max(lo, -110), std::min(hi, 110), 0, 0); \
    check_ulp<double>(#name, f, r, false, lo, hi, 0, 0);                               \
  }
#define BINARY(name, ref, refq, lo, hi, lo2, hi2)                         \
  {                                                                       \
    auto f = [](auto& b, auto x, auto y) { return math::name(b, x, y); }; \
    auto r = [](auto x, auto y) { return ref(x, y); };                    \
    check_ulp<float>(#name, f, r, true, lo, hi, lo2, hi2);                \
    check_ulp<double>(#name, f, r, true, lo, hi, lo2, hi2);               \
  }

template <class T>
T power(T x, T y) {
  return run<T>([](auto& b, auto u, auto v) { return math::pow(b, u, v); }, x, y);
}

// Whether two numbers have the same bits, NaNs taken as one.
template <class T>
bool same(T x, T y) {
  return std::bit_cast<Bits<T>>(x) == std::bit_cast<Bits<T>>(y) || (x != x && y != y);
}

template <class T>
void check_exact() {
  for (int x = -40; x <= 40; x++) {
    T exact = 1;
    for (int y = 0; y < 12 && std::fabs(exact) < 1 / std::numeric_limits<T>::epsilon();
         y++, exact *= T(x)) {
      CHECK(power<T>(T(x), T(y)) == exact);
    }
  }
  auto exp2 = [](auto& b, auto x, auto) { return math::exp2(b, x); };
  auto log2 = [](auto& b, auto x, auto) { return math::log2(b, x); };
  auto log10 = [](auto& b, auto x, auto) { return math::log10(b, x); };
  auto cbrt = [](auto& b, auto x, auto) { return math::cbrt(b, x); };
  using L = std::numeric_limits<T>;
  for (int n = L::min_exponent - L::digits; n < L::max_exponent; n++) {
    T p = std::ldexp(T(1), n);
    CHECK(run<T>(exp2, T(n)) == p);
    CHECK(run<T>(log2, p) == T(n));
  }
  T ten = 1;
  for (int n = 0; n < (sizeof(T) == 4 ? 11 : 23); n++, ten *= 10) CHECK(run<T>(log10, ten) == T(n));
  for (int n = -255; n < 256; n++) CHECK(run<T>(cbrt, T(n) * T(n) * T(n)) == T(n));
}

}  // namespace

TEST_CASE("elementary functions stay within one ULP"){NUMBUS_UNARY(UNARY) NUMBUS_BINARY(BINARY)}

TEST_CASE("exact results of elementary functions are exact") {
  check_exact<float>();
  check_exact<double>();
}

TEST_CASE("pow follows C99 in all special cases") {
  const double values[] = {0.0,    0.5,   1.0,    1.5,    2.0,      3.0, 0x1p53 - 1,
                           0x1p60, 1e300, 1e-300, 5e-324, HUGE_VAL, NAN};
  for (double u : values) {
    for (double v : values) {
      for (double x : {u, -u}) {
        for (double y : {v, -v}) {
          double want = std::pow(x, y), got = power(x, y);
          INFO(x, " ^ ", y, " = ", got, ", not ", want);
          bool special = want == 0 || want != want || std::isinf(want) || want == 1;
          CHECK((special ? same(got, want)
                         : ulp_error(got, std::pow(static_cast<long double>(x), y)) <= 1));
        }
      }
    }
  }
}

TEST_CASE("large arguments of circular functions") {
  // The doubles next to multiples of pi/2 are the hardest to reduce.
  auto sin = [](auto& b, auto x, auto) { return math::sin(b, x); };
  auto cos = [](auto& b, auto x, auto) { return math::cos(b, x); };
  CHECK(run<double>(cos, 6381956970095103.0 * 0x1p797) ==
        doctest::Approx(4.68716592425462761112e-19).epsilon(1e-15));
  CHECK(run<double>(sin, 1e22) == doctest::Approx(-0.8522008497671888017727).epsilon(1e-15));
  CHECK(ulp_error(run<float>(sin, 1e22f), std::sin(static_cast<double>(1e22f))) <= 1);
  CHECK(std::isnan(run<double>(sin, HUGE_VAL)));
  CHECK(std::isnan(run<float>(cos, -HUGE_VALF)));
}
