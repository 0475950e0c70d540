// Measures the elementary functions: error in ULP (float32 over all 2^32 arguments, float64 sampled) and speed.
//
//   g++ -std=gnu++20 -O2 -march=native -ffp-contract=off -Isrc tests/cpp/ulp.cpp -o /tmp/ulp -lquadmath -lpthread
//   nice -n 10 /tmp/ulp f32|f64|speed [name ...] [--samples n]
//
// One ULP is the distance of neighbours in the binade of the exact result; the reference is libm in double for float32
// and libquadmath for float64. Needs AVX-512 for the vector builder; lanes are compared with the scalar builder.
#include <quadmath.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "math_functions.h"

using namespace numbus;
using namespace numbus::test;

namespace {

// Distance of y from the exact r in ULP of the format T; R is wider than T.
// `floor`: the size below which the ULP no longer shrinks.
template <class T, class R>
double ulp_error(T y, R r, T floor = 0) {
  constexpr int kDigits = std::numeric_limits<T>::digits, kMin = std::numeric_limits<T>::min_exponent;
  const R kTop = R(std::numeric_limits<T>::max()) * (1 + R(std::numeric_limits<T>::epsilon()) / 2);
  bool r_nan = r != r, y_nan = y != y;
  if (r_nan || y_nan) return r_nan && y_nan ? 0 : INFINITY;
  bool r_neg = sizeof(R) == 8 ? std::signbit(double(r)) : signbitq(r);
  if (y == 0 && floor == 0 && (r == 0 || std::fabs(double(r)) < 1e-290)) {
    if (std::signbit(y) != r_neg) return INFINITY;
  }
  R a = r_neg ? -r : r, b = r_neg ? -R(y) : R(y);
  if (a >= kTop * 2) a = kTop * 2;
  if (std::isinf(y)) b = (b > 0 ? 1 : -1) * kTop;
  if (a > kTop) a = kTop;
  if (a == kTop && b == kTop) return 0;
  int e;
  if constexpr (sizeof(R) == 8) {
    std::frexp(a, &e);
  } else {
    frexpq(a, &e);
  }
  int low = kMin;
  if (floor > 0) std::frexp(floor, &low);
  e = std::max(e, std::max(low, kMin)) - kDigits;
  R d = a > b ? a - b : b - a;
  if constexpr (sizeof(R) == 8) return std::ldexp(d, -e);
  return double(ldexpq(d, -e));
}

struct Worst {
  double ulp = -1;
  double x = 0, y = 0;
  uint64_t wrong = 0, count = 0, differ = 0;
  void add(double e, double x0, double y0) {
    count++;
    if (std::isinf(e)) {
      if (wrong++ == 0) std::printf("  special value wrong: f(%a, %a)\n", x0, y0);
    } else if (e > ulp) {
      ulp = e, x = x0, y = y0;
    }
  }
  void merge(const Worst& o) {
    if (o.ulp > ulp) ulp = o.ulp, x = o.x, y = o.y;
    wrong += o.wrong, count += o.count, differ += o.differ;
  }
};

template <class T>
using Bits = typename ScalarBackend<T>::I;

// One function in all forms.
struct Function {
  const char* name;
  int arity;
  void (*v32)(const float*, const float*, float*);
  void (*v64)(const double*, const double*, double*);
  float (*s32)(float, float);
  double (*s64)(double, double);
  double (*ref)(double, double);
  __float128 (*refq)(__float128, __float128);
  double lo, hi, lo2, hi2;
};

template <class T, class F>
void run_vector(F f, const T* x, const T* y, T* out) {
  using B = VectorBackend<T>;
  B b;
  for (int i = 0; i < 16; i += B::kLanes) B::store(out + i, f(b, B::load(x + i), B::load(y + i)));
}
template <class T, class F>
T run_scalar(F f, T x, T y) {
  using B = ScalarBackend<T>;
  B b;
  return B::f(f(b, B::f(x), B::f(y)));
}

#define FORMS(name, call, reff, refqq)                                                                      \
  [](const float* x, const float* y, float* o) {                                                            \
    run_vector<float>([](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, y, o);   \
  },                                                                                                        \
      [](const double* x, const double* y, double* o) {                                                     \
        run_vector<double>([](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, y, o); \
      },                                                                                                    \
      [](float x, float y) {                                                                                \
        return run_scalar<float>([](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, y); \
      },                                                                                                    \
      [](double x, double y) {                                                                              \
        return run_scalar<double>([](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, y); \
      },                                                                                                    \
      [](double u, [[maybe_unused]] double v) -> double { return reff; },                                   \
      [](__float128 u, [[maybe_unused]] __float128 v) -> __float128 { return refqq; }

#define UNARY(name, ref, refq, lo, hi) {#name, 1, FORMS(name, (b, u), ref(u), refq(u)), lo, hi, 0, 0},
#define BINARY(name, refq, lo, hi, lo2, hi2) {#name, 2, FORMS(name, (b, u, v), u, refq(u, v)), lo, hi, lo2, hi2},
const Function kFunctions[] = {NUMBUS_UNARY(UNARY) NUMBUS_BINARY(BINARY)};

template <class Work>
Worst parallel(uint64_t n, Work work) {
  Worst w[2];
  std::thread t([&] { w[1] = work(n / 2, n); });
  w[0] = work(0, n / 2);
  t.join();
  w[0].merge(w[1]);
  return w[0];
}

template <class T>
bool same(T a, T b) {
  return std::bit_cast<Bits<T>>(a) == std::bit_cast<Bits<T>>(b) || (a != a && b != b);
}

// All floats.
Worst exhaustive(const Function& f) {
  return parallel(1ull << 28, [&](uint64_t first, uint64_t last) {
    Worst w;
    for (uint64_t block = first; block < last; block++) {
      float x[16], y[16];
      for (int i = 0; i < 16; i++) x[i] = std::bit_cast<float>(static_cast<uint32_t>(block * 16 + i));
      f.v32(x, x, y);
      for (int i = 0; i < 16; i++) {
        w.add(ulp_error<float, double>(y[i], f.ref(x[i], 0)), x[i], 0);
        if (block % 8 == 0 && !same(y[i], f.s32(x[i], x[i]))) w.differ++;
      }
    }
    return w;
  });
}

template <class T>
std::vector<T> edges() {
  std::vector<T> e;
  using L = std::numeric_limits<T>;
  for (T v : {T(0), L::denorm_min(), L::min(), L::max(), L::infinity(), L::quiet_NaN(), L::epsilon(), T(1), T(2), T(3),
              T(0.5), T(1.5), T(2.5), T(10), T(100), T(1000), T(M_PI), T(M_PI_2), T(M_PI_4), T(M_LN2), T(M_LN2 / 2),
              T(M_SQRT1_2), T(M_SQRT2), T(2.0 / 3), T(4.0 / 3), T(3216), T(1647000), T(88.722839), T(709.782712893384),
              T(745.1332191019411), T(710.4758600739439), T(1024), T(1075), T(1e22), T(0x1p23), T(0x1p24), T(0x1p52),
              T(0x1p53), T(0x1p54), T(6381956970095103.0 * 0x1p797)}) {
    T n = v;
    for (int i = 0; i < 3; i++) e.push_back(n), e.push_back(-n), n = std::nextafter(n, L::infinity());
    n = v;
    for (int i = 0; i < 3; i++) e.push_back(n), e.push_back(-n), n = std::nextafter(n, -L::infinity());
  }
  return e;
}

// Random arguments: dense in [lo, hi], all exponents, moderate exponents, near one.
template <class T>
struct Sampler {
  std::mt19937_64 rng;
  T operator()(double lo, double hi) {
    uint64_t r = rng();
    double u = static_cast<double>(rng() >> 11) * 0x1p-53;
    switch (r & 7) {
      case 0:
      case 1:
      case 2:
        return static_cast<T>(lo + (hi - lo) * u);
      case 3:
        return std::bit_cast<T>(static_cast<Bits<T>>(rng()));
      case 4:
        return static_cast<T>((1 + u) * std::ldexp((r & 8) && lo < 0 ? -1 : 1, static_cast<int>(r >> 8 & 31) - 24));
      case 5:
        return static_cast<T>(1 + (u - 0.5) * std::ldexp(1, -static_cast<int>(r >> 8 & 31)));
      case 6:  // beside a multiple of pi/2 or ln2/2
        return static_cast<T>(static_cast<T>(static_cast<double>(r >> 8 & 0xfffff) * ((r & 8) ? M_PI_2 : M_LN2 / 2)) *
                              (1 + (u - 0.5) * std::numeric_limits<T>::epsilon() * 4));
      default:
        return static_cast<T>(lo + (hi - lo) * u * u * u);
    }
  }
};

template <class T>
Worst sampled(const Function& f, uint64_t samples) {
  auto measure = [&](Worst& w, const T* x, const T* y, bool compare) {
    T out[16];
    if constexpr (sizeof(T) == 8) {
      f.v64(x, y, out);
    } else {
      f.v32(x, y, out);
    }
    for (int i = 0; i < 16; i++) {
      // Sums that cancel are measured at the size of the larger argument.
      T floor = 0, top = std::max(x[i], y[i]);
      if (std::strncmp(f.name, "logadd", 6) == 0 && top < 0 && top > -4) floor = -top;
      w.add(ulp_error<T, __float128>(out[i], f.refq(x[i], y[i]), floor), x[i], y[i]);
      if (!compare) continue;
      if constexpr (sizeof(T) == 8) {
        w.differ += !same(out[i], f.s64(x[i], y[i]));
      } else {
        w.differ += !same(out[i], f.s32(x[i], y[i]));
      }
    }
  };
  Worst total;
  std::vector<T> e = edges<T>();
  while (e.size() % 16) e.push_back(0);
  for (size_t i = 0; i < e.size(); i += 16) {
    if (f.arity == 1) {
      measure(total, &e[i], &e[i], true);
    } else {
      for (T v : e) {
        T y[16];
        std::fill(y, y + 16, v);
        measure(total, &e[i], y, true);
      }
    }
  }
  Worst w = parallel(samples / 16, [&](uint64_t first, uint64_t last) {
    Worst part;
    Sampler<T> s{std::mt19937_64(first + 12345)};
    for (uint64_t k = first; k < last; k++) {
      T x[16], y[16];
      for (int i = 0; i < 16; i++) x[i] = s(f.lo, f.hi), y[i] = f.arity == 1 ? x[i] : s(f.lo2, f.hi2);
      measure(part, x, y, true);
    }
    return part;
  });
  total.merge(w);
  return total;
}

void report(const char* kind, const Function& f, const Worst& w, double seconds) {
  std::printf("%-4s %-12s max %.4f ULP at (%a, %a)  n=%llu  wrong specials %llu  scalar differs %llu  (%.0f s)\n", kind,
              f.name, w.ulp, w.x, w.y, static_cast<unsigned long long>(w.count),
              static_cast<unsigned long long>(w.wrong), static_cast<unsigned long long>(w.differ), seconds);
  std::fflush(stdout);
}

template <class F>
double best_ns(size_t n, F run) {
  double best = 1e30;
  for (int rep = 0; rep < 200; rep++) {
    auto t0 = std::chrono::steady_clock::now();
    run();
    std::chrono::duration<double, std::nano> d = std::chrono::steady_clock::now() - t0;
    best = std::min(best, d.count() / static_cast<double>(n));
  }
  return best;
}

// Arguments in L1: 2048 elements from [lo, hi].
#define SPEED(name, ref, refq, lo, hi)                                                                                \
  if (wanted(#name)) {                                                                                                \
    auto time = [&]<class T>(T) {                                                                                     \
      using B = VectorBackend<T>;                                                                                     \
      std::vector<T> x(2048), y(2048);                                                                                \
      std::mt19937 g(1);                                                                                              \
      for (T& v : x) v = static_cast<T>(std::uniform_real_distribution<double>(std::max(lo * 1.0, -80.0), std::min(hi * 1.0, 80.0))(g)); \
      double ours = best_ns(x.size(), [&] {                                                                           \
        B b;                                                                                                          \
        for (size_t i = 0; i < x.size(); i += B::kLanes) B::store(&y[i], math::name(b, B::load(&x[i])));              \
        asm volatile("" ::"r"(y.data()) : "memory");                                                                  \
      });                                                                                                             \
      double libm = best_ns(x.size(), [&] {                                                                           \
        for (size_t i = 0; i < x.size(); i++) y[i] = ref(x[i]);                                                       \
        asm volatile("" ::"r"(y.data()) : "memory");                                                                  \
      });                                                                                                             \
      std::printf("  %s %.3f ns (libm %.2f)", sizeof(T) == 4 ? "f32" : "f64", ours, libm);                            \
    };                                                                                                                \
    std::printf("%-12s", #name);                                                                                      \
    time(1.0f);                                                                                                       \
    time(1.0);                                                                                                        \
    std::printf("\n");                                                                                                \
  }

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "f64";
  uint64_t samples = 1 << 24;
  std::vector<std::string> names;
  for (int i = 2; i < argc; i++) {
    if (!std::strcmp(argv[i], "--samples") && i + 1 < argc) {
      samples = std::strtoull(argv[++i], nullptr, 10);
    } else {
      names.push_back(argv[i]);
    }
  }
  auto wanted = [&](const char* n) { return names.empty() || std::find(names.begin(), names.end(), n) != names.end(); };
  if (mode == "speed") {
    NUMBUS_UNARY(SPEED)
    return 0;
  }
  for (const Function& f : kFunctions) {
    if (!wanted(f.name)) continue;
    auto t0 = std::chrono::steady_clock::now();
    Worst w;
    if (mode == "f64") {
      w = sampled<double>(f, samples);
    } else if (f.arity == 1 && mode == "f32") {
      w = exhaustive(f);
    } else {
      w = sampled<float>(f, samples);
    }
    std::chrono::duration<double> d = std::chrono::steady_clock::now() - t0;
    report(mode.c_str(), f, w, d.count());
  }
}
