// Linear algebra by cuSOLVER: the arguments against a fake one, by what the results have to
// satisfy.
#include <doctest/doctest.h>

#include <complex>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"
#include "vendor/library.h"
#include "vendor/solver.h"

namespace numbus {
namespace {

using Complex = std::complex<double>;

class FakeCusolver {
 public:
  FakeCusolver() {
    vendor::reset_libraries_for_tests();
    vendor::set_candidates("cusolver", {library_.path()});
  }
  ~FakeCusolver() { vendor::reset_libraries_for_tests(); }
  bool has_lapack() { return call<int()>("fake_has_lapack")(); }
  int handles() { return call<int()>("fake_handles")(); }
  void fail_next(int status) { call<void(int)>("fake_fail_next")(status); }

 private:
  template <class Signature>
  Signature* call(const char* name) {
    return library_.call<Signature>(name);
  }
  FakeLibrary library_{"cusolver"};
};

template <class T>
constexpr DType type_of() {
  if constexpr (std::is_same_v<T, float>) return DType::F32;
  if constexpr (std::is_same_v<T, double>) return DType::F64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::C64;
  return DType::C128;
}

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};

constexpr int64_t kCount = 3;

// Matrices by columns on the device, with a copy of what they were.
template <class T>
struct Stack {
  Device& d;
  int64_t rows, cols;
  char* data;
  std::vector<T> before;

  Stack(Device& device, int64_t m, int64_t n, int seed = 0)
      : d(device), rows(m), cols(n), before(static_cast<size_t>(kCount * m * n)) {
    data = static_cast<char*>(d.allocate(before.size() * sizeof(T)));
    std::mt19937 random(static_cast<unsigned>(seed));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (T& x : before) {
      if constexpr (std::is_floating_point_v<T>)
        x = static_cast<T>(uniform(random));
      else
        x = T(static_cast<typename T::value_type>(uniform(random)),
              static_cast<typename T::value_type>(uniform(random)));
    }
    upload();
  }
  ~Stack() { d.free(data, before.size() * sizeof(T)); }
  Stack(const Stack&) = delete;

  size_t offset(int64_t s, int64_t i, int64_t j) const {
    return static_cast<size_t>(s * rows * cols + j * rows + i);
  }
  Complex was(int64_t s, int64_t i, int64_t j) const { return Complex(before[offset(s, i, j)]); }
  void upload() {
    d.copy_from_host(data, before.data(), before.size() * sizeof(T));
    d.synchronize();
  }
  std::vector<T> now() const {
    std::vector<T> values(before.size());
    d.copy_to_host(values.data(), data, values.size() * sizeof(T));
    return values;
  }
  // a + aᴴ, and so much on the diagonal.
  void make_hermitian(double diagonal) {
    std::vector<T> x = before;
    for (int64_t s = 0; s < kCount; ++s)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < rows; ++j) {
          Complex v = was(s, i, j) + std::conj(was(s, j, i)) + (i == j ? diagonal : 0);
          if constexpr (std::is_floating_point_v<T>)
            x[offset(s, i, j)] = static_cast<T>(v.real());
          else
            x[offset(s, i, j)] = T(v);
        }
    before = x;
    upload();
  }
};

template <class T>
struct Checks {
  using Real = typename RealOf<T>::type;
  Device& d;
  char* info;
  double limit = sizeof(Real) == 4 ? 1e-4 : 1e-11;

  explicit Checks(Device& device)
      : d(device), info(static_cast<char*>(d.allocate(kCount * sizeof(int)))) {}
  ~Checks() { d.free(info, kCount * sizeof(int)); }

  vendor::Matrices of(const Stack<T>& a) {
    return {type_of<T>(), kCount, a.rows, a.cols, a.data, info};
  }
  std::vector<int> infos() {
    std::vector<int> all(kCount);
    d.copy_to_host(all.data(), info, kCount * sizeof(int));
    return all;
  }
  // f(s, i, j) for every element has to be zero.
  template <class F>
  void vanishes(int64_t rows, int64_t cols, F f) {
    double worst = 0;
    for (int64_t s = 0; s < kCount; ++s)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j) worst = std::max(worst, std::abs(f(s, i, j)));
    CHECK(worst < limit);
    CHECK(infos() == std::vector<int>(kCount, 0));
  }

  void lu(bool transposed) {
    const int64_t n = 5, sides = 2;
    Stack<T> a(d, n, n, 1), b(d, n, sides, 2);
    char* pivots = static_cast<char*>(d.allocate(kCount * n * sizeof(int)));
    vendor::solver_getrf(d, of(a), pivots);
    vendor::solver_getrs(d, of(a), pivots, transposed, sides, b.data);
    auto x = b.now();
    vanishes(n, sides, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -b.was(s, i, j);
      for (int64_t k = 0; k < n; ++k)
        sum += (transposed ? a.was(s, k, i) : a.was(s, i, k)) * Complex(x[b.offset(s, k, j)]);
      return sum / 10.0;
    });
    d.free(pivots, kCount * n * sizeof(int));
  }

  void cholesky(bool upper) {
    const int64_t n = 4;
    Stack<T> a(d, n, n);
    a.make_hermitian(10);
    vendor::solver_potrf(d, of(a), upper);
    auto x = a.now();
    auto factor = [&](int64_t s, int64_t i, int64_t j) {  // the lower one
      if (i < j) return Complex(0);
      return upper ? std::conj(Complex(x[a.offset(s, j, i)])) : Complex(x[a.offset(s, i, j)]);
    };
    vanishes(n, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -a.was(s, i, j);
      for (int64_t k = 0; k < n; ++k) sum += factor(s, i, k) * std::conj(factor(s, j, k));
      return sum;
    });
  }

  void qr(int64_t m, int64_t n) {
    const int64_t k = std::min(m, n);
    Stack<T> a(d, m, n), q(d, m, k);
    char* tau = static_cast<char*>(d.allocate(static_cast<size_t>(kCount * k) * sizeof(T)));
    vendor::solver_geqrf(d, of(a), tau);
    auto r = a.now();
    for (int64_t s = 0; s < kCount; ++s)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < k; ++j) q.before[q.offset(s, i, j)] = r[a.offset(s, i, j)];
    q.upload();
    vendor::solver_orgqr(d, of(q), k, tau);
    auto x = q.now();
    vanishes(m, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -a.was(s, i, j);
      for (int64_t l = 0; l < std::min(k, j + 1); ++l)
        sum += Complex(x[q.offset(s, i, l)]) * Complex(r[a.offset(s, l, j)]);
      return sum;
    });
    d.free(tau, static_cast<size_t>(kCount * k) * sizeof(T));
  }

  void svd(int64_t m, int64_t n, int64_t u_cols) {
    Stack<T> a(d, m, n), u(d, m, u_cols), vt(d, n, n);
    Stack<Real> s(d, n, 1);
    vendor::solver_gesvd(d, of(a), s.data, u_cols, u.data, vt.data);
    auto values = s.now();
    auto left = u.now(), right = vt.now();
    vanishes(m, n, [&](int64_t c, int64_t i, int64_t j) {
      Complex sum = -a.was(c, i, j);
      for (int64_t k = 0; k < n; ++k)
        sum += Complex(left[u.offset(c, i, k)]) * double(values[s.offset(c, k, 0)]) *
               Complex(right[vt.offset(c, k, j)]);
      return sum;
    });
    vanishes(u_cols, u_cols, [&](int64_t c, int64_t i, int64_t j) {
      Complex sum = i == j ? -1 : 0;
      for (int64_t k = 0; k < m; ++k)
        sum += std::conj(Complex(left[u.offset(c, k, i)])) * Complex(left[u.offset(c, k, j)]);
      return sum;
    });
    a.upload();
    vendor::solver_gesvd(d, of(a), s.data, 0, nullptr, nullptr);
    auto alone = s.now();
    vanishes(n, 1, [&](int64_t c, int64_t i, int64_t) {
      return Complex(double(alone[s.offset(c, i, 0)]) - double(values[s.offset(c, i, 0)]));
    });
  }

  void eigen(bool upper) {
    const int64_t n = 5;
    Stack<T> a(d, n, n);
    a.make_hermitian(0);
    Stack<Real> w(d, n, 1);
    std::vector<T> whole = a.before;  // the other triangle is not read
    std::vector<T> half = whole;
    for (int64_t s = 0; s < kCount; ++s)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          if (upper ? i > j : i < j) half[a.offset(s, i, j)] = T(77);
    a.before = half;
    a.upload();
    a.before = whole;
    vendor::solver_syevd(d, of(a), true, upper, w.data);
    auto v = a.now();
    auto values = w.now();
    vanishes(n, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -double(values[w.offset(s, j, 0)]) * Complex(v[a.offset(s, i, j)]);
      for (int64_t k = 0; k < n; ++k) sum += a.was(s, i, k) * Complex(v[a.offset(s, k, j)]);
      return sum;
    });
  }

  void general() {
    const int64_t n = 6, parts = std::is_floating_point_v<T> ? 2 : 1;
    Stack<T> a(d, n, n, 5), v(d, n, n), w(d, n, parts);
    REQUIRE(vendor::solver_has_geev());
    vendor::solver_geev(d, of(a), w.data, v.data);
    auto vectors = v.now(), values = w.now();
    auto value = [&](int64_t s, int64_t j) {
      Complex x(values[w.offset(s, j, 0)]);
      if (parts == 2) x += Complex(0, 1) * Complex(values[w.offset(s, j, 1)]);
      return x;
    };
    auto vector = [&](int64_t s, int64_t i, int64_t j) {
      const Complex x(vectors[v.offset(s, i, j)]);
      if (parts == 1 || value(s, j).imag() == 0) return x;
      const Complex i1(0, 1);
      return value(s, j).imag() > 0 ? x + i1 * Complex(vectors[v.offset(s, i, j + 1)])
                                    : Complex(vectors[v.offset(s, i, j - 1)]) - i1 * x;
    };
    vanishes(n, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -value(s, j) * vector(s, i, j);
      for (int64_t k = 0; k < n; ++k) sum += a.was(s, i, k) * vector(s, k, j);
      return sum;
    });
    a.upload();
    vendor::solver_geev(d, of(a), w.data, nullptr);
    auto alone = w.now();
    vanishes(n, parts, [&](int64_t s, int64_t j, int64_t p) {
      return Complex(alone[w.offset(s, j, p)]) - Complex(values[w.offset(s, j, p)]);
    });
  }
};

template <class T>
void check_all(Device& d) {
  Checks<T> checks(d);
  for (bool flag : {false, true}) {
    checks.lu(flag);
    checks.cholesky(flag);
    checks.eigen(flag);
  }
  checks.general();
  checks.qr(6, 4);
  checks.qr(4, 6);
  checks.qr(5, 5);
  checks.svd(6, 4, 4);
  checks.svd(6, 4, 6);
  checks.svd(5, 5, 5);
}

}  // namespace

TEST_CASE_TEMPLATE("cusolver: the arguments of every function", T, float, double,
                   std::complex<float>, std::complex<double>) {
  FakeDriver driver;
  FakeCusolver cusolver;
  if (!cusolver.has_lapack()) {
    MESSAGE("skipped: no LAPACK here; NUMBUS_TEST_BLAS can name NumPy's");
    return;
  }
  const int handles = cusolver.handles();
  check_all<T>(*cuda_device(0));
  CHECK(cusolver.handles() <= handles + 1);
}

TEST_CASE("cusolver: what cannot be done, and errors") {
  FakeDriver driver;
  FakeCusolver cusolver;
  if (!cusolver.has_lapack()) return;
  Device& d = *cuda_device(0);
  Checks<double> checks(d);
  Stack<double> a(d, 2, 2);
  a.before.assign(a.before.size(), 1.0);
  a.upload();
  vendor::solver_potrf(d, checks.of(a), true);
  CHECK(checks.infos() == std::vector<int>(kCount, 2));
  for (int status : {2, 6}) {
    cusolver.fail_next(status);
    try {
      vendor::solver_potrf(d, checks.of(a), true);
      CHECK(false);
    } catch (const Error& error) {
      CHECK(error.kind() == (status == 2 ? ErrorKind::Memory : ErrorKind::Runtime));
      CHECK(std::string(error.what()) ==
            "[linalg] cusolverDnDpotrf failed for 3 float64 matrices (2, 2) with " +
                fake_library("cusolver") + "; got cuSOLVER's status " + std::to_string(status) +
                "; expected CUSOLVER_STATUS_SUCCESS (0)");
    }
  }
  vendor::Matrices huge = checks.of(a);
  huge.rows = int64_t{1} << 31;
  CHECK_THROWS_WITH_AS(
      vendor::solver_potrf(d, huge, true),
      "[linalg] the matrix is too large; got 2147483648; expected extents below 2**31",
      const Error&);
}

TEST_CASE("cusolver: where there is none") {
  FakeDriver driver;
  vendor::reset_libraries_for_tests();
  vendor::set_candidates("cusolver", {"/nowhere/libcusolver.so"});
  std::string message;
  try {
    vendor::solver_potrf(*cuda_device(0), {}, true);
  } catch (const Error& e) {
    message = e.what();
  }
  CHECK(message.starts_with(
      "[linalg] no cuSOLVER library found; got /nowhere/libcusolver.so (cannot open"));
  CHECK(message.find("pip install nvidia-cusolver for") != std::string::npos);
  vendor::reset_libraries_for_tests();
}

}  // namespace numbus
