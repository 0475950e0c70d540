// Products of vectors and matrices.
#include "quick.h"

namespace numbus::bindings {
namespace {

// Sums of products of two lines of one type; others are converted first, or sum in another type.
PyObject* sum_of_products(const Array& x, const Array& y) {
  const DType t = x.dtype;
  if (t != y.dtype || t == DType::Bool || t == DType::F16 || x.size() == 0 ||
      !x.layout->same_shape(*y.layout))
    return nullptr;
  mark_line();
  const Arg factors[2] = {Arg(&x), Arg(&y)};
  const Masked products = apply(Op::multiply, factors);
  std::optional<DType> sum_in;
  if (!is_inexact(t)) sum_in = t;
  return wrap_result(reduce(Reduction::Sum, products.full, 1, false, sum_in, nullptr, 0));
}

}  // namespace

PyObject* quick_product(PyObject* a, PyObject* b) {
  const Array *x = at_rest(a), *y = at_rest(b);
  if (!x || !y || !may_work_at_once()) return nullptr;
  if (x->ndim() == 1 && y->ndim() == 1) return sum_of_products(*x, *y);
  std::optional<Array> made = product_at_once(*x, *y);
  return made ? wrap(std::move(*made)) : nullptr;
}

PyObject* quick_matmul(const Given& g) {
  return g.positional == 2 && !g.names ? quick_product(g.args[0], g.args[1]) : nullptr;
}

PyObject* quick_inner(const Given& g) {
  if (g.positional != 2 || g.names || !may_work_at_once()) return nullptr;
  const Array *x = at_rest(g.args[0]), *y = at_rest(g.args[1]);
  if (!x || !y || x->ndim() != 1 || y->ndim() != 1) return nullptr;
  return sum_of_products(*x, *y);
}

}  // namespace numbus::bindings
