// Products of vectors and matrices.
#include "array/at_once.h"
#include "array/placement.h"
#include "quick.h"
#include "scalars.h"
#include "vendor/blas.h"
#include "vendor/library.h"

namespace numbus::bindings {
namespace {

// Sums of products of two lines of one type; others are converted first, or sum in another type.
PyObject* sum_of_products(const Array& x, const Array& y) {
  const DType t = x.dtype;
  if (t != y.dtype || t == DType::Bool || is_half(t) || x.size() == 0 ||
      !x.layout->same_shape(*y.layout))
    return nullptr;
  alignas(8) char sum[8];
  if (dot_at_once(x, y, sum)) return scalar_of(t, sum);
  mark_line();
  const Arg factors[2] = {Arg(&x), Arg(&y)};
  const Masked products = apply(Op::multiply, factors);
  std::optional<DType> sum_in;
  if (!is_inexact(t)) sum_in = t;
  return wrap_result(reduce(Reduction::Sum, products.full, 1, false, sum_in, nullptr, 0));
}

}  // namespace

namespace {

// The product of matrices, and of a vector as a row or a column of one, where it has to be
// recorded.
PyObject* recorded(const Array& x, const Array& y) {
  const int nx = x.ndim(), ny = y.ndim();
  const DType t = x.dtype;
  if (t != y.dtype || nx < 1 || ny < 1 || nx > 2 || ny > 2 || !vendor::blas_takes(t) ||
      !vendor::is_loaded("blas"))
    return nullptr;
  // It may be carried out on a GPU, whose library Python has to offer first.
  if (placement::on && !vendor::is_offered("cublas")) return nullptr;
  const int64_t rows = nx == 2 ? x.layout->shape(0) : 1, inner = x.layout->shape(nx - 1),
                cols = ny == 2 ? y.layout->shape(1) : 1;
  if (inner != y.layout->shape(0) || is_chain_of_rows(rows, inner, cols)) return nullptr;
  mark_line();
  const Array left = nx == 2 ? x : reshape(x, {1, inner});
  const Array right = ny == 2 ? y : reshape(y, {inner, 1});
  Array made = matmul(left, right, t);
  if (nx + ny < 4) made = on_its_own(reshape(made, {made.size()}));
  return wrap(std::move(made));
}

const Array* on_host(PyObject* o) {
  if (!is_array(o) || as_masked(o).mask) return nullptr;
  const Array& a = as_masked(o).full;
  return a.base->device->host_readable() ? &a : nullptr;
}

}  // namespace

PyObject* quick_product(PyObject* a, PyObject* b) {
  const Array *x = on_host(a), *y = on_host(b);
  if (!x || !y || !may_work_at_once()) return nullptr;
  if (x->ndim() == 1 && y->ndim() == 1) return sum_of_products(*x, *y);
  std::optional<Array> made = product_at_once(*x, *y);
  return made ? wrap(std::move(*made)) : recorded(*x, *y);
}

PyObject* quick_matmul(const Given& g) {
  return g.positional == 2 && !g.names ? quick_product(g.args[0], g.args[1]) : nullptr;
}

namespace {

// Products of operands of so many axes, which for real elements are those of matmul().
PyObject* of_axes(const Given& g, int first, int second) {
  if (g.names || g.positional != 2) return nullptr;
  const Array *x = on_host(g.args[0]), *y = on_host(g.args[1]);
  if (!x || !y || x->ndim() != first || y->ndim() != second || is_complex(x->dtype) ||
      x->dtype != y->dtype)
    return nullptr;
  if (x->layout->shape(first - 1) != y->layout->shape(0)) return nullptr;
  return quick_product(g.args[0], g.args[1]);
}

}  // namespace

PyObject* quick_vecdot(const Given& g) { return of_axes(g, 1, 1); }
PyObject* quick_matvec(const Given& g) { return of_axes(g, 2, 1); }
PyObject* quick_vecmat(const Given& g) { return of_axes(g, 1, 2); }

PyObject* quick_vdot(const Given& g) {
  if (g.positional == 2 && is_array(g.args[0]) && is_complex(as_masked(g.args[0]).full.dtype))
    return nullptr;
  return quick_inner(g);
}

PyObject* quick_inner(const Given& g) {
  if (g.positional != 2 || g.names || !may_work_at_once()) return nullptr;
  const Array *x = on_host(g.args[0]), *y = on_host(g.args[1]);
  if (!x || !y || x->ndim() != 1 || y->ndim() != 1) return nullptr;
  return sum_of_products(*x, *y);
}

}  // namespace numbus::bindings
