// Matrix products on the CPU, by whichever CBLAS was found.
#include <complex>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "vendor/blas_form.h"
#include "vendor/entries.h"

namespace numbus::vendor {
namespace {

// The values of CBLAS's enumerations.
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112, kUpper = 121;

// CBLAS takes the factors of real products by value and those of complex ones by address.
template <class T>
using Factor = std::conditional_t<std::is_floating_point_v<T>, T, const void*>;
template <class Int, class T>
using Gemm = void(int order, int transpose_a, int transpose_b, Int rows, Int cols, Int inner,
                  Factor<T> alpha, const T* a, Int a_line, const T* b, Int b_line, Factor<T> beta,
                  T* out, Int out_line);
template <class Int, class T>
using Gemv = void(int order, int transpose_a, Int rows, Int cols, Factor<T> alpha, const T* a,
                  Int a_line, const T* x, Int x_step, Factor<T> beta, T* y, Int y_step);

// a aᵀ, or aᵀ a, of real numbers: one triangle of it.
template <class Int, class T>
using Syrk = void(int order, int triangle, int transpose, Int extent, Int inner, T alpha,
                  const T* a, Int a_line, T beta, T* out, Int out_line);

// How the builds of BLAS name their functions. The first that the library has is its own.
struct Naming {
  const char *prefix, *suffix;
  bool wide;  // integers have 64 bits
};
constexpr Naming kNamings[] = {
    {"scipy_cblas_", "64_", true},  // in NumPy's wheels, scipy-openblas64
    {"cblas_", "64_", true},       {"cblas_", "_64", true},
    {"scipy_cblas_", "", false},  // scipy-openblas32
    {"cblas_", "", false},
};
constexpr char kLetters[] = {'s', 'd', 'c', 'z'};

struct Entries {
  bool wide = false;
  void *gemm[4] = {}, *gemv[4] = {};   // in the order of kLetters
  void* syrk[2] = {};                  // of the real ones
  void (*set_threads)(int) = nullptr;  // of OpenBLAS
  int (*get_threads)() = nullptr;
};

int letter_of(DType t) {
  return t == DType::F32 ? 0 : t == DType::F64 ? 1 : t == DType::C64 ? 2 : 3;
}

// Some builds have 64-bit integers behind the plain names; OpenBLAS says so.
bool says_wide(const Library& library) {
  for (const char* name : {"openblas_get_config", "scipy_openblas_get_config"}) {
    if (auto* config = library.function<const char*()>(name)) {
      return std::strstr(config(), "USE64BITINT") != nullptr;
    }
  }
  return false;
}

Entries resolve(const Library& library) {
  Entries found;
  for (const Naming& naming : kNamings) {
    auto name = [&](char letter, const char* function) {
      return std::string(naming.prefix) + letter + function + naming.suffix;
    };
    if (library.symbol(name('d', "gemm")) == nullptr) continue;
    found.wide = naming.wide || says_wide(library);
    for (int i = 0; i < 4; ++i) {
      found.gemm[i] = library.symbol(name(kLetters[i], "gemm"));
      found.gemv[i] = library.symbol(name(kLetters[i], "gemv"));
      if (found.gemm[i] && found.gemv[i]) continue;
      raise(ErrorKind::Runtime, "matmul", "the BLAS library is incomplete", library.path(),
            "one that has " + name(kLetters[i], found.gemm[i] ? "gemv" : "gemm"));
    }
    for (int i = 0; i < 2; ++i) found.syrk[i] = library.symbol(name(kLetters[i], "syrk"));
    const std::string before = naming.prefix[0] == 's' ? "scipy_" : "";
    found.set_threads =
        library.function<void(int)>(before + "openblas_set_num_threads" + naming.suffix);
    found.get_threads =
        library.function<int()>(before + "openblas_get_num_threads" + naming.suffix);
    return found;
  }
  // The table in library.cpp lets no other library through.
  raise(ErrorKind::Runtime, "matmul", "internal error", library.path() + " as a BLAS library",
        "one that has cblas_dgemm");
}

struct Loaded : Entries {
  explicit Loaded(const Library& library) : Entries(resolve(library)) {}
};

const Entries& entries() { return entries_of<Loaded>("blas"); }

template <class T>
struct Factors {
  T one_value{1}, zero_value{0};
  Factor<T> one() const {
    if constexpr (std::is_floating_point_v<T>) return one_value;
    if constexpr (!std::is_floating_point_v<T>) return &one_value;
  }
  Factor<T> zero() const {
    if constexpr (std::is_floating_point_v<T>) return zero_value;
    if constexpr (!std::is_floating_point_v<T>) return &zero_value;
  }
};

// Whether this is the product of a matrix and its own transpose.
bool is_own_square(const GemmForm& f) {
  return f.a.data == f.b.data && f.a.transposed != f.b.transposed && f.a.line == f.b.line &&
         f.rows == f.cols && (f.stack == 1 || f.a.stack == f.b.stack);
}

// Half of the work of a product, as NumPy does it; covariances are such. Elements that mirror each
// other are equal.
template <class Int, class T>
void square(const GemmForm& f, Syrk<Int, T>* syrk) {
  const int64_t line = f.out.line;
  for (int64_t s = 0; s < f.stack; ++s) {
    T* out = reinterpret_cast<T*>(f.out.data) + s * f.out.stack;
    syrk(kRowMajor, kUpper, f.a.transposed ? kTranspose : kNoTranspose, static_cast<Int>(f.rows),
         static_cast<Int>(f.inner), T{1}, reinterpret_cast<const T*>(f.a.data) + s * f.a.stack,
         static_cast<Int>(f.a.line), T{0}, out, static_cast<Int>(line));
    for (int64_t i = 1; i < f.rows; ++i)
      for (int64_t j = 0; j < i; ++j) out[i * line + j] = out[j * line + i];
  }
}

template <class Int, class T>
void multiply(const GemmForm& f, const Entries& blas) {
  if constexpr (std::is_floating_point_v<T>) {
    auto* syrk = reinterpret_cast<Syrk<Int, T>*>(blas.syrk[letter_of(f.type)]);
    if (syrk && !f.add && f.rows > 1 && is_own_square(f)) return square(f, syrk);
  }
  auto* gemm = reinterpret_cast<Gemm<Int, T>*>(blas.gemm[letter_of(f.type)]);
  auto* gemv = reinterpret_cast<Gemv<Int, T>*>(blas.gemv[letter_of(f.type)]);
  const Factors<T> factors;
  const Factor<T> kept = f.add ? factors.one() : factors.zero();
  const Int rows = static_cast<Int>(f.rows), cols = static_cast<Int>(f.cols),
            inner = static_cast<Int>(f.inner), a_line = static_cast<Int>(f.a.line),
            b_line = static_cast<Int>(f.b.line), out_line = static_cast<Int>(f.out.line);
  const int op_a = f.a.transposed ? kTranspose : kNoTranspose;
  const int op_b = f.b.transposed ? kTranspose : kNoTranspose;
  for (int64_t s = 0; s < f.stack; ++s) {
    const T* a = reinterpret_cast<const T*>(f.a.data) + s * f.a.stack;
    const T* b = reinterpret_cast<const T*>(f.b.data) + s * f.b.stack;
    T* out = reinterpret_cast<T*>(f.out.data) + s * f.out.stack;
    // gemv takes the extents of the matrix as it lies in memory.
    if (f.cols == 1) {  // the lines of a column are its elements
      gemv(kRowMajor, op_a, f.a.transposed ? inner : rows, f.a.transposed ? rows : inner,
           factors.one(), a, a_line, b, f.b.transposed ? 1 : b_line, kept, out, out_line);
    } else if (f.rows == 1) {  // outᵀ = bᵀ aᵀ
      gemv(kRowMajor, f.b.transposed ? kNoTranspose : kTranspose, f.b.transposed ? cols : inner,
           f.b.transposed ? inner : cols, factors.one(), b, b_line, a, f.a.transposed ? a_line : 1,
           kept, out, 1);
    } else {
      gemm(kRowMajor, op_a, op_b, rows, cols, inner, factors.one(), a, a_line, b, b_line, kept, out,
           out_line);
    }
  }
}

template <class Int>
void multiply(const GemmForm& f, const Entries& blas) {
  switch (f.type) {
    case DType::F32: return multiply<Int, float>(f, blas);
    case DType::F64: return multiply<Int, double>(f, blas);
    case DType::C64: return multiply<Int, std::complex<float>>(f, blas);
    default: return multiply<Int, std::complex<double>>(f, blas);
  }
}

}  // namespace

bool blas_is_wide() { return !library_report("blas").found.empty() && entries().wide; }

namespace {

std::mutex threads_mutex;
int users = 0, threads_before = 0;

}  // namespace

OneBlasThread::OneBlasThread() {
  const Entries& blas = entries();
  if (!blas.set_threads || !blas.get_threads) return;
  const std::lock_guard<std::mutex> lock(threads_mutex);
  if (users++ > 0) return;
  threads_before = blas.get_threads();
  blas.set_threads(1);
}

OneBlasThread::~OneBlasThread() {
  const Entries& blas = entries();
  if (!blas.set_threads || !blas.get_threads) return;
  const std::lock_guard<std::mutex> lock(threads_mutex);
  if (--users == 0) blas.set_threads(threads_before);
}

void matmul_cpu(const Product& p) {
  const GemmForm f = require_gemm_form(p);
  if (f.empty()) return;
  if (f.inner == 0) {
    if (!f.add) f.each_run_of_out([](char* start, size_t bytes) { std::memset(start, 0, bytes); });
    return;
  }
  const Entries& blas = entries();
  if (blas.wide) {
    multiply<int64_t>(f, blas);
  } else {
    multiply<int32_t>(f, blas);
  }
}

}  // namespace numbus::vendor
