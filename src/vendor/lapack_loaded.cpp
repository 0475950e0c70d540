// Calls of LAPACK in Fortran's convention, by name and type.
#include "vendor/lapack_loaded.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/host_call.h"

namespace numbus::vendor {
namespace {

// The OpenBLAS of NumPy's wheel, which is loaded with NumPy; null where NumPy has none of its own.
void* numpys_library() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        const std::string_view name = info->dlpi_name ? info->dlpi_name : "";
        if (name.find("numpy.libs") == std::string_view::npos ||
            name.find("openblas") == std::string_view::npos)
          return 0;
        *static_cast<std::string*>(to) = name;
        return 1;
      },
      &path);
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
}

char letter(DType t) {
  switch (t) {
    case DType::F32: return 's';
    case DType::F64: return 'd';
    case DType::C64: return 'c';
    default: return 'z';
  }
}

// "gesv" of a type, with 64-bit integers. Looked up once.
void* entry(DType t, const char* name) {
  static std::mutex mutex;
  static auto* known = new std::unordered_map<std::string, void*>;
  static void* library = numpys_library();
  if (!library) return nullptr;
  std::string whole = std::string("scipy_") + letter(t) + name + "_64_";
  std::lock_guard<std::mutex> lock(mutex);
  auto [at, fresh] = known->try_emplace(whole, nullptr);
  if (fresh) at->second = dlsym(library, whole.c_str());
  return at->second;
}

// Fortran takes everything by address; of characters it may be told the lengths at the end.
template <class... Arguments>
int64_t run(void* f, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(f)(arguments...);
  return 0;
}

struct Work {
  DType t;
  std::vector<char> memory;
  void* data() { return memory.data(); }
  // What LAPACK has answered to the question how much it needs: in the first number.
  int64_t asked(const void* answer) const {
    double n = 0;
    float f = 0;
    if (real_of(t) == DType::F64)
      std::memcpy(&n, answer, sizeof n);
    else
      std::memcpy(&f, answer, sizeof f), n = static_cast<double>(f);
    return std::max<int64_t>(1, static_cast<int64_t>(n * 1.000001) + 1);
  }
  void resize(int64_t numbers) {
    memory.resize(static_cast<size_t>(std::max<int64_t>(1, numbers) * itemsize(t)));
  }
};

}  // namespace

int64_t lapack_solve(DType t, void* a, void* b, int64_t n, int64_t m) {
  void* f = entry(t, "gesv");
  if (!f) return kNoHostCall;
  const int64_t line = std::max<int64_t>(n, 1);
  int64_t info = 0;
  std::vector<int64_t> pivots(static_cast<size_t>(line));
  run(f, &n, &m, a, &line, pivots.data(), b, &line, &info);
  return info;
}

int64_t lapack_lu(DType t, void* a, int64_t* pivots, int64_t n) {
  void* f = entry(t, "getrf");
  if (!f) return kNoHostCall;
  const int64_t line = std::max<int64_t>(n, 1);
  int64_t info = 0;
  run(f, &n, &n, a, &line, pivots, &info);
  return info;
}

int64_t lapack_cholesky(DType t, void* a, int64_t n) {
  void* f = entry(t, "potrf");
  if (!f) return kNoHostCall;
  const int64_t line = std::max<int64_t>(n, 1);
  int64_t info = 0;
  const char lower = 'L';
  run(f, &lower, &n, a, &line, &info, int64_t{1});
  return info;
}

int64_t lapack_eigh(DType t, void* a, void* values, int64_t n, bool upper) {
  const bool complex = is_complex(t);
  void* f = entry(t, complex ? "heevd" : "syevd");
  if (!f) return kNoHostCall;
  const int64_t line = std::max<int64_t>(n, 1), ask = -1;
  const char job = 'V', part = upper ? 'U' : 'L';
  int64_t info = 0, size = 0, real_size = 0, whole_size = 0;
  std::complex<double> answer{};
  double real_answer = 0;
  auto call = [&](void* work, const int64_t* n_work, void* real, const int64_t* n_real,
                  int64_t* whole, const int64_t* n_whole) {
    if (complex)
      run(f, &job, &part, &n, a, &line, values, work, n_work, real, n_real, whole, n_whole, &info,
          int64_t{1}, int64_t{1});
    else
      run(f, &job, &part, &n, a, &line, values, work, n_work, whole, n_whole, &info, int64_t{1},
          int64_t{1});
  };
  call(&answer, &ask, &real_answer, &ask, &whole_size, &ask);
  Work work{t, {}}, real{real_of(t), {}};
  size = work.asked(&answer);
  work.resize(size);
  if (complex) real_size = real.asked(&real_answer);
  real.resize(real_size);
  std::vector<int64_t> whole(static_cast<size_t>(std::max<int64_t>(whole_size, 1)));
  call(work.data(), &size, real.data(), &real_size, whole.data(), &whole_size);
  return info;
}

namespace {

// From LAPACK's pairs of real columns: vectors of conjugate values are re ± i im.
template <class R>
void unpack(int64_t n, const R* re, const R* im, const R* packed, std::complex<R>* values,
            std::complex<R>* vectors) {
  for (int64_t k = 0; k < n; ++k) values[k] = {re[k], im[k]};
  if (!vectors) return;
  for (int64_t k = 0; k < n; ++k) {
    const bool pair = im[k] != 0 && k + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const R x = packed[k * n + i], y = pair ? packed[(k + 1) * n + i] : R(0);
      vectors[k * n + i] = {x, y};
      if (pair) vectors[(k + 1) * n + i] = {x, -y};
    }
    k += pair;
  }
}

}  // namespace

int64_t lapack_eig(DType t, void* a, void* values, void* vectors, int64_t n) {
  void* f = entry(t, "geev");
  if (!f) return kNoHostCall;
  const int64_t line = std::max<int64_t>(n, 1), ask = -1;
  const char none = 'N', right = vectors ? 'V' : 'N';
  int64_t info = 0;
  std::complex<double> answer{}, unused{};
  Work work{t, {}}, packed{t, {}}, re{t, {}}, im{t, {}};
  if (is_complex(t)) {
    Work real{real_of(t), {}};
    real.resize(2 * n);
    auto call = [&](void* w, const int64_t* size) {
      run(f, &none, &right, &n, a, &line, values, static_cast<void*>(&unused), &line,
          vectors ? vectors : &unused, &line, w, size, real.data(), &info, int64_t{1}, int64_t{1});
    };
    call(&answer, &ask);
    const int64_t size = work.asked(&answer);
    work.resize(size);
    call(work.data(), &size);
    return info;
  }
  re.resize(n), im.resize(n), packed.resize(vectors ? n * n : 1);
  auto call = [&](void* w, const int64_t* size) {
    run(f, &none, &right, &n, a, &line, re.data(), im.data(), static_cast<void*>(&unused), &line,
        packed.data(), &line, w, size, &info, int64_t{1}, int64_t{1});
  };
  call(&answer, &ask);
  const int64_t size = work.asked(&answer);
  work.resize(size);
  call(work.data(), &size);
  if (info != 0) return info;
  auto made = [&]<class R>(R) {
    unpack(n, static_cast<const R*>(re.data()), static_cast<const R*>(im.data()),
           static_cast<const R*>(packed.data()), static_cast<std::complex<R>*>(values),
           static_cast<std::complex<R>*>(vectors));
  };
  if (t == DType::F32)
    made(float{});
  else
    made(double{});
  return info;
}

int64_t lapack_svd(DType t, void* a, void* s, void* u, void* vt, int64_t m, int64_t n, char job) {
  void* f = entry(t, "gesdd");
  if (!f) return kNoHostCall;
  const int64_t k = std::min(m, n), line = std::max<int64_t>(m, 1), ask = -1;
  const int64_t line_vt = std::max<int64_t>(job == 'A' ? n : k, 1);
  int64_t info = 0;
  std::complex<double> answer{};
  std::vector<int64_t> whole(static_cast<size_t>(std::max<int64_t>(8 * k, 1)));
  Work work{t, {}}, real{real_of(t), {}};
  if (is_complex(t))
    real.resize(std::max<int64_t>(7 * k, k * std::max(5 * k + 7, 2 * std::max(m, n) + 2 * k + 1)));
  auto call = [&](void* w, const int64_t* size) {
    if (is_complex(t))
      run(f, &job, &m, &n, a, &line, s, u, &line, vt, &line_vt, w, size, real.data(), whole.data(),
          &info, int64_t{1});
    else
      run(f, &job, &m, &n, a, &line, s, u, &line, vt, &line_vt, w, size, whole.data(), &info,
          int64_t{1});
  };
  call(&answer, &ask);
  const int64_t size = work.asked(&answer);
  work.resize(size);
  call(work.data(), &size);
  return info;
}

int64_t lapack_qr(DType t, void* a, void* q, int64_t m, int64_t n, int64_t columns) {
  void *f = entry(t, "geqrf"), *g = entry(t, is_complex(t) ? "ungqr" : "orgqr");
  if (!f || !g) return kNoHostCall;
  const int64_t k = std::min(m, n), line = std::max<int64_t>(m, 1), ask = -1;
  int64_t info = 0, size = 0;
  std::complex<double> answer{};
  Work work{t, {}}, factors{t, {}};
  factors.resize(k);
  run(f, &m, &n, a, &line, factors.data(), static_cast<void*>(&answer), &ask, &info);
  size = work.asked(&answer);
  work.resize(size);
  run(f, &m, &n, a, &line, factors.data(), work.data(), &size, &info);
  if (info != 0 || columns == 0) return info;
  std::memcpy(q, a, static_cast<size_t>(m * k * itemsize(t)));
  run(g, &m, &columns, &k, q, &line, factors.data(), static_cast<void*>(&answer), &ask, &info);
  size = work.asked(&answer);
  work.resize(size);
  run(g, &m, &columns, &k, q, &line, factors.data(), work.data(), &size, &info);
  return info;
}

}  // namespace numbus::vendor
