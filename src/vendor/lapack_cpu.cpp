// LAPACK of the BLAS library that was found.
#include "vendor/lapack.h"

#include <string_view>

#include "vendor/entries.h"

namespace numbus::vendor {
namespace {

using Gesv = void(const int64_t* n, const int64_t* columns, double* a, const int64_t* a_line,
                  int64_t* pivots, double* b, const int64_t* b_line, int64_t* info);

struct Loaded {
  Gesv* gesv = nullptr;
  explicit Loaded(const Library& library) {
    // As scipy-openblas64 calls it, which is in NumPy's wheels; another copy of it, of another
    // version, may compute other bits.
    if (library.path().find("numpy.libs") != std::string::npos)
      gesv = library.function<Gesv>("scipy_dgesv_64_");
  }
};

}  // namespace

bool lapack_is_numpys() { return is_loaded("blas") && entries_of<Loaded>("blas").gesv != nullptr; }

bool solve_cpu(int64_t n, int64_t columns, double* a, double* b, int64_t* pivots) {
  int64_t info = 0;
  entries_of<Loaded>("blas").gesv(&n, &columns, a, &n, pivots, b, &n, &info);
  return info == 0;
}

}  // namespace numbus::vendor
