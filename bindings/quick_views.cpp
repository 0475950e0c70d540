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

// As `a`, of another layout and offset.
PyObject* viewed(PyObject* of, std::span<const int64_t> shape, std::span<const int64_t> strides,
                 int64_t offset) {
  const Array& a = as_masked(of).full;
  return wrap_view(of, view_of(a, Layout::get(shape, strides, itemsize(a.dtype)), offset));
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
  int64_t strides[kMaxDims], offset = a->offset;
  for (size_t d = 0; d < n; ++d) {
    strides[d] = -a->layout->strides()[d];
    offset -= (a->layout->shape()[d] - 1) * strides[d];
  }
  return viewed(g.args[0], a->shape(), {strides, n}, offset);
}

PyObject* quick_squeeze(const Given& g) {
  PyObject* values[2] = {};
  if (!g.bind({"", "axis"}, values, 2) || !values[0] || !is_array(values[0]) ||
      as_masked(values[0]).mask)
    return nullptr;
  const Layout& l = *as_masked(values[0]).full.layout;
  const bool all = !values[1] || values[1] == Py_None;
  const std::optional<int> axis = all ? -1 : axis_of(values[1], l.ndim(), 0);
  if (!axis || (!all && l.shape(*axis) != 1)) return nullptr;
  int64_t shape[kMaxDims], strides[kMaxDims];
  size_t n = 0;
  for (int d = 0; d < l.ndim(); ++d) {
    if (all ? l.shape(d) == 1 : d == *axis) continue;
    shape[n] = l.shape(d);
    strides[n++] = l.stride(d);
  }
  if (all && n == static_cast<size_t>(l.ndim())) {  // as NumPy
    Py_INCREF(values[0]);
    return values[0];
  }
  return viewed(values[0], {shape, n}, {strides, n}, as_masked(values[0]).full.offset);
}

PyObject* quick_diagonal(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a || a->ndim() != 2 || a->size() == 0) return nullptr;
  Array view = diagonal(*a);
  view.writeable = false;
  return wrap_view(g.args[0], std::move(view));
}

// The method, with a tuple of ints or ints, where that needs no copy.
PyObject* quick_reshape(const Given& g) {
  if (g.names || g.positional < 2 || !is_array(g.args[0]) || as_masked(g.args[0]).mask)
    return nullptr;
  const Array& a = as_masked(g.args[0]).full;
  const bool tuple = PyTuple_CheckExact(g.args[1]);
  if ((tuple && g.positional != 2) || !a.layout->c_contiguous()) return nullptr;
  const Py_ssize_t n = tuple ? PyTuple_Size(g.args[1]) : g.positional - 1;
  std::vector<int64_t> shape(static_cast<size_t>(n));
  for (Py_ssize_t k = 0; k < n; ++k) {
    const auto extent = plain_int(tuple ? PyTuple_GetItem(g.args[1], k) : g.args[1 + k]);
    if (!extent || *extent < -1) return nullptr;
    shape[static_cast<size_t>(k)] = *extent;
  }
  std::optional<Array> view = reshape_view(a, std::move(shape));
  return view ? wrap_view(g.args[0], std::move(*view)) : nullptr;
}

PyObject* quick_ravel(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a || !a->layout->c_contiguous()) return nullptr;
  const int64_t size = a->size(), step = itemsize(a->dtype);
  return viewed(g.args[0], {&size, 1}, {&step, 1}, a->offset);
}

PyObject* quick_flatten(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a || !a->layout->c_contiguous()) return nullptr;
  mark_line();
  return wrap(copy(reshape(*a, {a->size()}), a->dtype, true));
}

PyObject* quick_transpose(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a) return nullptr;
  const auto n = static_cast<size_t>(a->ndim());
  int64_t shape[kMaxDims], strides[kMaxDims];
  std::reverse_copy(a->layout->shape(), a->layout->shape() + n, shape);
  std::reverse_copy(a->layout->strides(), a->layout->strides() + n, strides);
  return viewed(g.args[0], {shape, n}, {strides, n}, a->offset);
}

PyObject* quick_view(const Given& g) {
  const Array* a = whole(g, 1);
  return a ? wrap_view(g.args[0], view_of(*a, a->layout.get(), a->offset)) : nullptr;
}

PyObject* quick_conj(const Given& g) {
  const Array* a = whole(g, 1);
  if (!a || is_complex(a->dtype)) return nullptr;
  Py_INCREF(g.args[0]);
  return g.args[0];
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
  PyObject* values[3] = {};
  if (!g.bind({"a", "repeats", "axis"}, values, 3) || !values[0] || !values[1]) return nullptr;
  const Array* a = at_rest(values[0]);
  if (!a || a->ndim() == 0 || a->ndim() == kMaxDims) return nullptr;
  const bool flat = !values[2] || values[2] == Py_None;
  const std::optional<int64_t> count = plain_int(values[1]);
  const std::optional<int> axis = flat ? 0 : axis_of(values[2], a->ndim(), 0);
  if (!axis || (flat && a->ndim() != 1) || !count || *count < 0 || *count > kMostAtOnce)
    return nullptr;
  int64_t shape[kMaxDims], strides[kMaxDims];
  std::vector<int64_t> whole(a->shape().begin(), a->shape().end());
  whole[static_cast<size_t>(*axis)] *= *count;
  for (int d = 0, at = 0; d < a->ndim(); ++d) {
    shape[at] = a->layout->shape(d);
    strides[at++] = a->layout->stride(d);
    if (d != *axis) continue;
    shape[at] = *count;
    strides[at++] = 0;
  }
  const auto axes = static_cast<size_t>(a->ndim()) + 1;
  mark_line();
  const Array many =
      view_of(*a, Layout::get({shape, axes}, {strides, axes}, itemsize(a->dtype)), a->offset);
  return wrap(on_its_own(reshape(copy(many, a->dtype, true), whole)));
}

}  // namespace numbus::bindings
