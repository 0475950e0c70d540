// Small systems of linear equations, by the library and the call that NumPy uses.
#include <cstring>

#include "array/at_once_calls.h"
#include "vendor/lapack.h"

namespace numbus {
namespace {

constexpr int64_t kMost = 64;  // rows; of more NumPy's own call costs little beside the work

// Stored by columns.
void read_columns(const Array& a, int64_t rows, int64_t columns, double* to) {
  const Layout& l = *a.layout;
  a.base->ensure_data();
  const char* from = a.base->data + a.offset;
  const int64_t down = l.stride(0), right = l.ndim() == 2 ? l.stride(1) : 0;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(to++, from + i * down + j * right, sizeof(double));
}

bool fits(const Array& a) { return a.dtype == DType::F64 && readable_now(a); }

}  // namespace

std::optional<Array> solve_at_once(const Array& a, const Array* b) {
  if (a.ndim() != 2 || !fits(a) || !may_work_at_once() || !vendor::lapack_is_numpys()) return {};
  const int64_t n = a.layout->shape(0);
  if (n == 0 || n > kMost || a.layout->shape(1) != n) return {};
  int64_t columns = n;
  if (b) {
    if (b->ndim() < 1 || b->ndim() > 2 || b->layout->shape(0) != n || !fits(*b) ||
        b->base->device != a.base->device)
      return {};
    columns = b->ndim() == 2 ? b->layout->shape(1) : 1;
    if (columns == 0 || columns > kMost) return {};
  }
  double matrix[kMost * kMost], right[kMost * kMost];
  int64_t pivots[kMost];
  read_columns(a, n, n, matrix);
  if (b) {
    read_columns(*b, n, columns, right);
  } else {
    std::fill_n(right, n * n, 0.0);
    for (int64_t k = 0; k < n; ++k) right[k * n + k] = 1.0;
  }
  if (!vendor::solve_cpu(n, columns, matrix, right, pivots)) return {};
  Array made = empty(b ? b->shape() : a.shape(), DType::F64, a.base->device);
  made.base->ensure_data();
  auto* to = reinterpret_cast<double*>(made.base->data);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < columns; ++j) *to++ = right[j * n + i];
  made.base->changed();
  ++Runtime::get().stats.at_once;
  return made;
}

}  // namespace numbus
