// Measures the elementary functions: error in ULP (float32 over all 2^32 arguments, float64
// sampled) and speed.
//
//   g++ -std=gnu++20 -O2 -march=native -ffp-contract=off -Wno-uninitialized -Isrc -o /tmp/ulp
//       tests/cpp/ulp.cpp -lquadmath -lpthread
//   nice -n 10 /tmp/ulp f32|f32s|f64|speed [name ...] [--samples n]
//
// f32 runs over all floats (functions of two arguments are sampled, as all are by f32s), f64
// samples. The reference is libm in double for f32, libquadmath for the rest. Needs AVX-512 for the
// vector builder, whose lanes are compared with the scalar builder. For speed compile with clang++
// -mllvm -inline-threshold=100000 -mprefer-vector-width=512 (and a copy of GCC's quadmath.h in the
// include path): its code is nearest to what the compiler of Numbus makes.
#include <quadmath.h>

#include <algorithm>
#include <array>
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
#include "math_measure.h"

using namespace numbus;
using namespace numbus::test;

namespace {

__float128 logaddexp_refq(__float128 x, __float128 y) {
  if (x != x || y != y) return x + y;
  __float128 top = x > y ? x : y, bottom = x > y ? y : x;
  return isinfq(top) ? top : top + log1pq(expq(bottom - top));
}
__float128 logaddexp2_refq(__float128 x, __float128 y) {
  if (x != x || y != y) return x + y;
  __float128 top = x > y ? x : y, bottom = x > y ? y : x;
  return isinfq(top) ? top : top + log1pq(expq((bottom - top) * M_LN2q)) * M_LOG2Eq;
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

#define FORMS(name, call, reff, refqq)                                                             \
  [](const float* x, const float* y, float* o) {                                                   \
    run_vector<float>([](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, \
                      y, o);                                                                       \
  },                                                                                               \
      [](const double* x, const double* y, double* o) {                                            \
        run_vector<double>(                                                                        \
            [](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, y, o);    \
      },                                                                                           \
      [](float x, float y) {                                                                       \
        return run_scalar<float>(                                                                  \
            [](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, y);       \
      },                                                                                           \
      [](double x, double y) {                                                                     \
        return run_scalar<double>(                                                                 \
            [](auto& b, auto u, [[maybe_unused]] auto v) { return math::name call; }, x, y);       \
      },                                                                                           \
      [](double u, [[maybe_unused]] double v) -> double { return reff; },                          \
      [](__float128 u, [[maybe_unused]] __float128 v) -> __float128 { return refqq; }

#define UNARY(name, ref, refq, lo, hi) \
  {#name, 1, FORMS(name, (b, u), ref(u), refq(u)), lo, hi, 0, 0},
#define BINARY(name, ref, refq, lo, hi, lo2, hi2) \
  {#name, 2, FORMS(name, (b, u, v), ref(u, v), refq(u, v)), lo, hi, lo2, hi2},
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
      for (int i = 0; i < 16; i++)
        x[i] = std::bit_cast<float>(static_cast<uint32_t>(block * 16 + i));
      f.v32(x, x, y);
      for (int i = 0; i < 16; i++) {
        w.add(ulp_error(y[i], f.ref(x[i], 0)), x[i], 0);
        if (block % 8 == 0 && !same(y[i], f.s32(x[i], x[i]))) w.differ++;
      }
    }
    return w;
  });
}

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
      double err =
          ulp_error<T, __float128>(out[i], f.refq(x[i], y[i]), cancel_floor(f.name, x[i], y[i]));
      w.add(err, x[i], y[i]);
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
      for (int i = 0; i < 16; i++)
        x[i] = s(f.lo, f.hi), y[i] = f.arity == 1 ? x[i] : s(f.lo2, f.hi2);
      measure(part, x, y, true);
    }
    return part;
  });
  total.merge(w);
  return total;
}

void report(const char* kind, const Function& f, const Worst& w, double seconds) {
  std::printf(
      "%-4s %-12s max %.4f ULP at (%a, %a)  n=%llu  wrong specials %llu  scalar differs %llu  "
      "(%.0f s)\n",
      kind, f.name, w.ulp, w.x, w.y, static_cast<unsigned long long>(w.count),
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

// Nanoseconds per element of ours and libm's, with 2048 arguments in L1.
template <class T, class F, class R>
void time_one(F ours, R ref, std::array<double, 4> range) {
  using B = VectorBackend<T>;
  std::vector<T> x(2048), y(2048), out(2048);
  std::mt19937 g(1);
  auto fill = [&](std::vector<T>& to, double lo, double hi) {
    std::uniform_real_distribution<double> d(std::max(lo, -80.0), std::min(hi, 80.0));
    for (T& v : to) v = static_cast<T>(d(g));
  };
  fill(x, range[0], range[1]);
  fill(y, range[2], range[3]);
  double a = best_ns(x.size(), [&] {
    B b;
    for (size_t i = 0; i < x.size(); i += B::kLanes)
      B::store(&out[i], ours(b, B::load(&x[i]), B::load(&y[i])));
    asm volatile("" ::"r"(out.data()) : "memory");
  });
  double c = best_ns(x.size(), [&] {
    for (size_t i = 0; i < x.size(); i++) out[i] = ref(x[i], y[i]);
    asm volatile("" ::"r"(out.data()) : "memory");
  });
  std::printf("  %s %.3f ns (libm %.2f)", sizeof(T) == 4 ? "f32" : "f64", a, c);
}

template <class F, class R>
void time_both(const char* name, F ours, R ref, std::array<double, 4> range) {
  std::printf("%-12s", name);
  time_one<float>(ours, ref, range);
  time_one<double>(ours, ref, range);
  std::printf("\n");
}

#define TIME1(name, ref, refq, lo, hi)                                 \
  if (wanted(#name))                                                   \
    time_both(                                                         \
        #name, [](auto& b, auto u, auto) { return math::name(b, u); }, \
        [](auto u, auto) { return ref(u); }, {lo, hi, 0, 1});
#define TIME2(name, ref, refq, lo, hi, lo2, hi2)                            \
  if (wanted(#name))                                                        \
    time_both(                                                              \
        #name, [](auto& b, auto u, auto v) { return math::name(b, u, v); }, \
        [](auto u, auto v) { return ref(u, v); }, {lo, hi, lo2, hi2});

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
  auto wanted = [&](const char* n) {
    return names.empty() || std::find(names.begin(), names.end(), n) != names.end();
  };
  if (mode == "speed") {
    NUMBUS_UNARY(TIME1)
    NUMBUS_BINARY(TIME2)
    auto both = [](auto& b, auto u, auto) {
      auto v = math::sincos(b, u);
      return b.add(v.sin, v.cos);
    };
    auto libm = [](auto u, auto) { return std::sin(u) + std::cos(u); };
    if (wanted("sincos")) time_both("sincos", both, libm, {-100, 100, 0, 1});
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
