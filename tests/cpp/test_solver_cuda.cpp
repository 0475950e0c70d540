// Linear algebra by cuSOLVER: the arguments against a fake one, and routines that are recorded, by
// what the results have to satisfy.
#include <doctest/doctest.h>

#include <complex>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"
#include "lazy/runtime.h"
#include "ops/routines.h"
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
    vendor::set_candidates("cublas", {blas_.path()});
  }
  ~FakeCusolver() {
    vendor::reset_libraries_for_tests();
    vendor::set_stacks_for_tests(-1, 0);
  }
  bool has_lapack() { return call<int()>("fake_has_lapack")(); }
  int handles() { return call<int()>("fake_handles")(); }
  // Jacobi's method gives up in so many calls.
  void diverge(int times) { call<void(int)>("fake_diverge")(times); }
  // Calls that took a whole stack, of both libraries.
  int stacks() {
    return call<int()>("fake_stacks")() + blas_.call<int(const char*)>("fake_count")("stacks");
  }
  void fail_next(int status) { call<void(int)>("fake_fail_next")(status); }

 private:
  template <class Signature>
  Signature* call(const char* name) {
    return library_.call<Signature>(name);
  }
  FakeLibrary library_{"cusolver"}, blas_{"cublas"};
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

template <class T>
void draw(std::vector<T>& values, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (T& x : values) {
    if constexpr (std::is_floating_point_v<T>)
      x = static_cast<T>(uniform(random));
    else
      x = T(static_cast<typename T::value_type>(uniform(random)),
            static_cast<typename T::value_type>(uniform(random)));
  }
}

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
    draw(before, static_cast<unsigned>(seed));
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

  void eigen(bool upper, int64_t n) {
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
    checks.eigen(flag, 5);
    checks.eigen(flag, 40);
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
  const int stacks = cusolver.stacks();
  vendor::set_stacks_for_tests(0, 0);
  check_all<T>(*cuda_device(0));
  CHECK(cusolver.stacks() == stacks);
  vendor::set_stacks_for_tests(-1, 2);  // pieces of two and one
  check_all<T>(*cuda_device(0));
}

TEST_CASE("cusolver: which stacks are done by one call") {
  FakeDriver driver;
  FakeCusolver cusolver;
  if (!cusolver.has_lapack()) return;
  Device& d = *cuda_device(0);
  auto calls = [&](auto&& work) {
    const int before = cusolver.stacks();
    work();
    return cusolver.stacks() - before;
  };
  Checks<float> floats(d);
  Checks<std::complex<float>> complex(d);
  CHECK(calls([&] { floats.lu(false); }) == 2);
  CHECK(calls([&] { floats.cholesky(false); }) == 1);
  CHECK(calls([&] { floats.eigen(false, 5); }) == 1);
  CHECK(calls([&] { floats.eigen(false, 40); }) == 1);
  CHECK(calls([&] { complex.lu(false); }) == 2);
  CHECK(calls([&] { complex.eigen(false, 5); }) == 0);
  CHECK(calls([&] { complex.eigen(false, 40); }) == 0);
  vendor::set_stacks_for_tests(-1, 1);
  CHECK(calls([&] { floats.cholesky(false); }) == kCount);
  for (const DType t : {DType::F32, DType::F64}) {
    CHECK(vendor::solver_has_gesvdj(t, 32, 1));
    CHECK_FALSE(vendor::solver_has_gesvdj(t, 1, 33));
  }
  CHECK_FALSE(vendor::solver_has_gesvdj(DType::C128, 3, 3));
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
  vendor::set_stacks_for_tests(0, 0);
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

namespace {

// A stack of matrices in an array on the device, by rows or by columns, and what it holds.
template <class T>
struct Drawn {
  Array array;
  std::vector<T> values;

  Drawn(Device& d, std::vector<int64_t> shape, bool by_columns, unsigned seed = 0) {
    std::vector<int> order(shape.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
    if (by_columns) std::swap(order.end()[-1], order.end()[-2]);
    array = fresh(dense_layout(shape, order, sizeof(T)), type_of<T>(), &d);
    array.base->ensure_data();
    values.resize(static_cast<size_t>(array.size()));
    draw(values, seed);
    upload();
  }
  void upload() {
    Device& d = *array.base->device;
    d.copy_from_host(array.base->data, values.data(), values.size() * sizeof(T));
    d.synchronize();
  }
  T& at(int64_t s, int64_t i, int64_t j) { return values[offset(array, s, i, j)]; }
  static size_t offset(const Array& a, int64_t s, int64_t i, int64_t j) {
    const Layout& l = *a.layout;
    const int n = l.ndim();
    int64_t at = i * l.stride(n - 2) + j * l.stride(n - 1);
    for (int d = n - 3; d >= 0; --d) {
      at += s % l.shape(d) * l.stride(d);
      s /= l.shape(d);
    }
    return static_cast<size_t>(at / l.itemsize());
  }
};

// What an array holds when all is done.
template <class T>
struct Read {
  const Array& array;
  std::vector<T> values;

  explicit Read(const Array& a) : array(a), values(static_cast<size_t>(a.size())) {
    Runtime::get().materialize(a.base.get(), "read by a test");
    CHECK(a.dtype == type_of<T>());
    a.base->device->copy_to_host(values.data(), a.base->data, values.size() * sizeof(T));
  }
  Complex operator()(int64_t s, int64_t i, int64_t j) const {
    return Complex(values[Drawn<T>::offset(array, s, i, j)]);
  }
  // Of a stack of vectors in C order.
  Complex operator()(int64_t s, int64_t i) const {
    return Complex(values[static_cast<size_t>(s * array.layout->shape(array.ndim() - 1) + i)]);
  }
};

template <class T>
struct RecordedCalls {
  using Real = typename RealOf<T>::type;
  Device& d;
  std::vector<int64_t> lead;
  double limit = sizeof(Real) == 4 ? 1e-4 : 1e-11;

  int64_t count() const {
    int64_t n = 1;
    for (const int64_t e : lead) n *= e;
    return n;
  }
  std::vector<int64_t> shape(int64_t m, int64_t n) const {
    std::vector<int64_t> all = lead;
    all.insert(all.end(), {m, n});
    return all;
  }
  template <class F>
  void vanishes(int64_t rows, int64_t columns, F f) const {
    double worst = 0;
    for (int64_t s = 0; s < count(); ++s)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) worst = std::max(worst, std::abs(f(s, i, j)));
    CHECK(worst < limit);
  }
  static std::vector<Array> call(Routine r, bool other, const std::vector<Array>& given) {
    return linalg(r, other, given);
  }
  static void is_unchanged(Drawn<T>& a) { CHECK(Read<T>(a.array).values == a.values); }
  void make_hermitian(Drawn<T>& a, double diagonal) const {
    Drawn<T> was = a;
    const int64_t n = a.array.layout->shape(a.array.ndim() - 1);
    for (int64_t s = 0; s < count(); ++s)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          T turned = was.at(s, j, i);
          if constexpr (!std::is_floating_point_v<T>) turned = std::conj(turned);
          a.at(s, i, j) = was.at(s, i, j) + turned + T(static_cast<Real>(i == j ? diagonal : 0));
        }
    a.upload();
  }

  void solve(bool unchecked) {
    const int64_t n = 5, sides = 3;
    Drawn<T> a(d, shape(n, n), false, 1), b(d, shape(n, sides), true, 2);
    const auto made = call(Routine::solve, unchecked, {a.array, b.array});
    CHECK(made[0].base->pending() == unchecked);
    const Read<T> x(made[0]);
    vanishes(n, sides, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -Complex(b.at(s, i, j));
      for (int64_t k = 0; k < n; ++k) sum += Complex(a.at(s, i, k)) * x(s, k, j);
      return sum / 100.0;
    });
    is_unchanged(a);
    is_unchanged(b);
    for (T& v : a.values) v = 0;
    a.upload();
    if (unchecked)
      Read<T>(call(Routine::solve, true, {a.array, b.array})[0]);
    else
      CHECK_THROWS_WITH_AS(call(Routine::solve, false, {a.array, b.array}), "Singular matrix",
                           const Error&);
  }

  void lu() {
    const int64_t n = 4;
    Drawn<T> a(d, shape(n, n), false, 3);
    const auto made = call(Routine::lu, false, {a.array});
    CHECK(made[0].base->pending());
    const Read<T> both(made[0]);
    std::vector<int32_t> pivots(static_cast<size_t>(count() * n));
    d.copy_to_host(pivots.data(), made[1].base->data, pivots.size() * sizeof(int32_t));
    is_unchanged(a);
    Drawn<T> moved = a;  // rows of the transposes are columns
    for (int64_t s = 0; s < count(); ++s)
      for (int64_t k = 0; k < n; ++k)
        for (int64_t i = 0; i < n; ++i)
          std::swap(moved.at(s, i, k), moved.at(s, i, pivots[static_cast<size_t>(s * n + k)] - 1));
    vanishes(n, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -Complex(moved.at(s, j, i));
      for (int64_t k = 0; k <= std::min(i, j); ++k)
        sum += (k == i ? Complex(1) : both(s, k, i)) * both(s, j, k);
      return sum;
    });
  }

  void cholesky(bool upper) {
    const int64_t n = 4;
    Drawn<T> a(d, shape(n, n), false);
    make_hermitian(a, 10);
    const auto made = call(Routine::cholesky, upper, {a.array});
    const Read<T> x(made[0]);
    is_unchanged(a);
    auto factor = [&](int64_t s, int64_t i, int64_t j) {  // the lower one
      if (i < j) return Complex(0);
      return upper ? std::conj(x(s, j, i)) : x(s, i, j);
    };
    vanishes(n, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -Complex(a.at(s, i, j));
      for (int64_t k = 0; k < n; ++k) sum += factor(s, i, k) * std::conj(factor(s, j, k));
      return sum;
    });
    for (T& v : a.values) v = T(-1);
    a.upload();
    CHECK_THROWS_WITH_AS(call(Routine::cholesky, upper, {a.array}),
                         "Matrix is not positive definite", const Error&);
  }

  void eigen(bool upper) {
    const int64_t n = 5;
    Drawn<T> a(d, shape(n, n), true);
    make_hermitian(a, 0);
    Drawn<T> half = a;  // the other triangle is not read
    for (int64_t s = 0; s < count(); ++s)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          if (upper ? i > j : i < j) half.at(s, i, j) = T(77);
    half.upload();
    const auto made = call(Routine::eigh, upper, {half.array});
    const Read<Real> w(made[0]);
    const Read<T> v(made[1]);
    is_unchanged(half);
    vanishes(n, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -w(s, j) * v(s, i, j);
      for (int64_t k = 0; k < n; ++k) sum += Complex(a.at(s, i, k)) * v(s, k, j);
      return sum;
    });
    const auto alone = call(Routine::eigvalsh, upper, {half.array});
    const Read<Real> values(alone[0]);
    vanishes(n, 1, [&](int64_t s, int64_t i, int64_t) { return values(s, i) - w(s, i); });
  }

  void svd(int64_t m, int64_t n, bool full) {
    const int64_t k = std::min(m, n);
    Drawn<T> a(d, shape(m, n), m >= n);
    const auto made = call(Routine::svd, full, {a.array});
    CHECK(made[0].layout->shape(made[0].ndim() - 1) == (full ? m : k));
    CHECK(made[2].layout->shape(made[2].ndim() - 2) == (full ? n : k));
    const Read<T> u(made[0]), vt(made[2]);
    const Read<Real> s(made[1]);
    is_unchanged(a);
    vanishes(m, n, [&](int64_t c, int64_t i, int64_t j) {
      Complex sum = -Complex(a.at(c, i, j));
      for (int64_t l = 0; l < k; ++l) sum += u(c, i, l) * s(c, l) * vt(c, l, j);
      return sum;
    });
    auto unitary = [&](int64_t extent, auto element, int64_t terms) {
      vanishes(extent, extent, [&](int64_t c, int64_t i, int64_t j) {
        Complex sum = i == j ? -1 : 0;
        for (int64_t l = 0; l < terms; ++l) sum += std::conj(element(c, l, i)) * element(c, l, j);
        return sum;
      });
    };
    unitary(full ? m : k, u, m);
    unitary(full ? n : k, [&](int64_t c, int64_t l, int64_t i) { return vt(c, i, l); }, n);
    const auto alone = call(Routine::svdvals, false, {a.array});
    const Read<Real> values(alone[0]);
    vanishes(k, 1, [&](int64_t c, int64_t i, int64_t) { return values(c, i) - s(c, i); });
  }

  void qr(int64_t m, int64_t n, bool complete) {
    const int64_t k = std::min(m, n), wide = complete ? m : k;
    Drawn<T> a(d, shape(m, n), true);
    const auto made = call(Routine::qr, false, {a.array});
    const auto vectors = call(Routine::qr_q, complete, made);
    CHECK(vectors[0].base->pending());
    const Read<T> r(made[0]), q(vectors[0]);
    is_unchanged(a);
    vanishes(m, n, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = -Complex(a.at(s, i, j));
      for (int64_t l = 0; l < std::min(k, j + 1); ++l) sum += q(s, i, l) * r(s, l, j);
      return sum;
    });
    vanishes(wide, wide, [&](int64_t s, int64_t i, int64_t j) {
      Complex sum = i == j ? -1 : 0;
      for (int64_t l = 0; l < m; ++l) sum += std::conj(q(s, l, i)) * q(s, l, j);
      return sum;
    });
  }

  void all() {
    lu();
    for (const bool flag : {false, true}) {
      solve(flag);
      cholesky(flag);
      eigen(flag);
      svd(6, 4, flag);
      svd(4, 6, flag);
      svd(5, 5, flag);
      qr(6, 4, flag);
    }
    qr(4, 6, false);
    qr(5, 5, false);
    qr(1, 1, false);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("cusolver: routines of linear algebra that are recorded", T, float, double,
                   std::complex<float>, std::complex<double>) {
  FakeDriver driver;
  FakeCusolver cusolver;
  if (!cusolver.has_lapack()) return;
  for (const std::vector<int64_t>& lead : {std::vector<int64_t>{}, {1}, {3}, {2, 3}}) {
    for (const int64_t largest : {-1, 0}) {
      vendor::set_stacks_for_tests(largest, 0);
      RecordedCalls<T>{*cuda_device(0), lead}.all();
    }
  }
}

TEST_CASE_TEMPLATE("cusolver: stacks that Jacobi's method gives up", T, float, double) {
  FakeDriver driver;
  FakeCusolver cusolver;
  if (!cusolver.has_lapack()) return;
  RecordedCalls<T> calls{*cuda_device(0), {2, 3}};
  for (const bool full : {false, true})
    for (const auto& [m, n] : {std::pair{6, 4}, {4, 6}, {5, 5}}) {
      cusolver.diverge(2);  // of vectors, and of values alone
      calls.svd(m, n, full);
    }
  cusolver.diverge(2);
  calls.eigen(false);
  cusolver.diverge(0);
  Drawn<T> a(*cuda_device(0), {2, 3, 3}, true);
  for (T& v : a.values) v = std::numeric_limits<T>::quiet_NaN();
  a.upload();
  CHECK_THROWS_WITH_AS(calls.call(Routine::eigh, false, {a.array}), "Eigenvalues did not converge",
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
