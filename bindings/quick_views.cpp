// Views, and what repeats or adds the elements of one: flip, swapaxes, diag, trace, repeat.
#include <algorithm>
#include <numeric>

#include "array/at_once.h"
#include "quick.h"

namespace numbus::bindings {
namespace {

// An array of ours, wherever it is and whether it is pending or not: a view reads nothing.
const Array* whole(const Given& g, Py_ssize_t arguments) {
  if (g.names || g.positional != arguments || !is_array(g.args[0]) || as_masked(g.args[0]).mask)
    return nullptr;
  return &as_masked(g.args[0]).full;
}

// The main diagonal of a matrix.
Array diagonal(const Array& a) {
  const Layout& l = *a.layout;
  const int64_t n = std::min(l.shape(0), l.shape(1)), step = l.stride(0) + l.stride(1);
  return view_of(a, Layout::get({&n, 1}, {&step, 1}, l.itemsize()), a.offset);
}

}  // namespace

PyObject* quick_flip(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a || a->size() == 0) return nullptr;
  const auto n = static_cast<size_t>(a->ndim());
  std::vector<int64_t> strides(a->layout->strides(), a->layout->strides() + n);
  int64_t offset = a->offset;
  for (size_t d = 0; d < n; ++d) {
    offset += (a->layout->shape(static_cast<int>(d)) - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return wrap_view(g.args[0],
                   view_of(*a, Layout::get(a->shape(), strides, itemsize(a->dtype)), offset));
}

PyObject* quick_swapaxes(const Given& g) {
  const Array* a = whole(g, 3);
  if (!a) return nullptr;
  const std::optional<int> first = axis_of(g.args[1], a->ndim(), 0),
                           second = axis_of(g.args[2], a->ndim(), 0);
  if (!first || !second) return nullptr;
  std::vector<int> order(a->ndim());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[*first], order[*second]);
  return wrap_view(g.args[0], transpose(*a, order));
}

PyObject* quick_diag(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a) return nullptr;
  if (a->ndim() == 2 && a->size() > 0) {
    Array view = diagonal(*a);
    view.writeable = false;
    return wrap_view(g.args[0], std::move(view));
  }
  const int64_t n = a->ndim() == 1 ? a->layout->shape(0) : 0, shape[2] = {n, n};
  if (n == 0 || n > Runtime::get().at_once || !at_rest(g.args[0]) || !may_work_at_once())
    return nullptr;
  const DeviceOfNew follow(a->base->device);
  mark_line();
  Array made = full(shape, a->dtype, Scalar::from_int(0));
  assign(diagonal(made), Arg(a));
  return wrap(std::move(made));
}

PyObject* quick_trace(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a || a->ndim() != 2 || a->size() == 0 || is_complex(a->dtype)) return nullptr;
  mark_line();
  return wrap_result(reduce("sum", diagonal(*a), 1, false, {}, nullptr, 0));
}

PyObject* quick_repeat(const Given& g) {
  const Array* a = whole(g, 2);
  if (!a || a->ndim() != 1 || !at_rest(g.args[0])) return nullptr;
  const std::optional<int64_t> count = plain_int(g.args[1]);
  if (!count || *count < 0 || *count > kMostAtOnce) return nullptr;
  const int64_t shape[2] = {a->size(), *count}, strides[2] = {a->layout->stride(0), 0};
  mark_line();
  const Array many = view_of(*a, Layout::get(shape, strides, itemsize(a->dtype)), a->offset);
  Array made = reshape(copy(many, a->dtype, true), {a->size() * *count});
  made.owns = true;  // a view of something nobody else has
  made.origin = nullptr;
  return wrap(std::move(made));
}

}  // namespace numbus::bindings
