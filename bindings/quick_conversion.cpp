// Arrays as they are or nearly so: in an order, with more axes, their parts, what their memory is.
#include <algorithm>
#include <array>

#include "quick.h"

namespace numbus::bindings {
namespace {

// The one argument of a call, an array of ours; a view of it reads nothing.
const Array* only(const Given& g) {
  if (g.names || g.positional != 1 || !is_array(g.args[0]) || as_masked(g.args[0]).mask)
    return nullptr;
  return &as_masked(g.args[0]).full;
}

PyObject* itself(const Given& g) {
  Py_INCREF(g.args[0]);
  return g.args[0];
}

// The array itself where it has that many axes, else a view with more of them, each before or after
// those it has.
PyObject* with_axes(const Given& g, int least, int before) {
  const Array* a = only(g);
  if (!a) return nullptr;
  const int n = a->ndim();
  if (n >= least) return itself(g);
  if (n == 0) before = least;
  std::array<int64_t, 3> shape, strides;
  for (int d = 0; d < least; ++d) {
    const bool own = d >= before && d < before + n;
    shape[static_cast<size_t>(d)] = own ? a->layout->shape(d - before) : 1;
    strides[static_cast<size_t>(d)] = own ? a->layout->stride(d - before) : 0;
  }
  const auto axes = static_cast<size_t>(least);
  return wrap_view(
      g.args[0],
      view_of(*a, Layout::get({shape.data(), axes}, {strides.data(), axes}, itemsize(a->dtype)),
              a->offset));
}

}  // namespace

PyObject* quick_asanyarray(const Given& g) { return only(g) ? itself(g) : nullptr; }

PyObject* quick_ascontiguousarray(const Given& g) {
  const Array* a = only(g);
  return a && a->ndim() > 0 && a->layout->c_contiguous() ? itself(g) : nullptr;
}

PyObject* quick_asfortranarray(const Given& g) {
  const Array* a = only(g);
  return a && a->ndim() > 0 && a->layout->f_contiguous() ? itself(g) : nullptr;
}

PyObject* quick_isfortran(const Given& g) {
  const Array* a = only(g);
  if (!a) return nullptr;
  return PyBool_FromLong(a->layout->f_contiguous() && !a->layout->c_contiguous());
}

PyObject* quick_atleast_1d(const Given& g) { return with_axes(g, 1, 0); }
PyObject* quick_atleast_2d(const Given& g) { return with_axes(g, 2, 1); }
PyObject* quick_atleast_3d(const Given& g) {
  const Array* a = only(g);
  return with_axes(g, 3, a && a->ndim() == 2 ? 0 : 1);
}

PyObject* quick_real(const Given& g) {
  const Array* a = only(g);
  if (!a) return nullptr;
  return is_complex(a->dtype) ? wrap_view(g.args[0], part(*a, false)) : itself(g);
}

PyObject* quick_imag(const Given& g) {
  const Array* a = only(g);
  return a && is_complex(a->dtype) ? wrap_view(g.args[0], part(*a, true)) : nullptr;
}

PyObject* quick_matrix_transpose(const Given& g) {
  const Array* a = only(g);
  if (!a || a->ndim() != 2) return nullptr;
  constexpr std::array<int, 2> kOrder = {1, 0};
  return wrap_view(g.args[0], transpose(*a, kOrder));
}

// With the axes as a tuple.
PyObject* quick_permute_dims(const Given& g) {
  PyObject* values[2] = {};
  if (!g.bind({"a", "axes"}, values, 2) || !values[0] || !is_array(values[0]) ||
      as_masked(values[0]).mask)
    return nullptr;
  const Array& a = as_masked(values[0]).full;
  const int n = a.ndim();
  std::vector<int> order(static_cast<size_t>(n));
  const bool reversed = !values[1] || values[1] == Py_None;
  if (!reversed && (!PyTuple_CheckExact(values[1]) || PyTuple_Size(values[1]) != n)) return nullptr;
  uint64_t seen = 0;
  for (int d = 0; d < n; ++d) {
    const std::optional<int> axis =
        reversed ? n - 1 - d : axis_of(PyTuple_GetItem(values[1], d), n, 0);
    if (!axis || (seen >> *axis & 1) != 0) return nullptr;
    seen |= uint64_t{1} << *axis;
    order[static_cast<size_t>(d)] = *axis;
  }
  return wrap_view(values[0], transpose(a, order));
}

// Of an array whose memory has the bytes in C order.
PyObject* quick_tobytes(const Given& g) {
  const Array* a = only(g);
  if (!a || !a->layout->c_contiguous() || !at_rest(g.args[0]) || a->size() == 0) return nullptr;
  a->base->ensure_data();
  return PyBytes_FromStringAndSize(a->base->data + a->offset, a->size() * itemsize(a->dtype));
}

// Of a list of floats; other items become numbers by NumPy's rules.
PyObject* quick_fromiter(const Given& g) {
  if (g.names || g.positional != 2 || !PyList_CheckExact(g.args[0]) ||
      !default_device().host_readable() || usual_dtype(g.args[1]) != DType::F64)
    return nullptr;
  const Py_ssize_t n = PyList_Size(g.args[0]);
  for (Py_ssize_t k = 0; k < n; ++k)
    if (!PyFloat_CheckExact(PyList_GetItem(g.args[0], k))) return nullptr;
  std::optional<Array> made = from_list(g.args[0], DType::F64);
  return made ? wrap(std::move(*made)) : nullptr;
}

// Bounds only; the exact question, with a limit to its work, is NumPy's.
PyObject* quick_shares_memory(const Given& g) {
  if (g.names || g.positional != 2 || !is_array(g.args[0]) || !is_array(g.args[1])) return nullptr;
  const Base *x = as_array(g.args[0]).base.get(), *y = as_array(g.args[1]).base.get();
  // Memory of the device's own pool is nobody else's.
  if (x == y || !x->owned || !y->owned) return nullptr;
  Py_RETURN_FALSE;
}

// A buffer of float64 that begins where it does, and ends with an element.
PyObject* quick_frombuffer(const Given& g) {
  PyObject* values[2] = {};
  if (!g.bind({"buffer", "dtype"}, values, 2) || !values[0] || !PyBytes_CheckExact(values[0]) ||
      !default_device().host_readable())
    return nullptr;
  const std::optional<DType> t =
      values[1] && values[1] != Py_None ? usual_dtype(values[1]) : DType::F64;
  const Py_ssize_t bytes = PyBytes_Size(values[0]);
  if (!t || bytes == 0 || bytes % itemsize(*t) != 0) return nullptr;
  const int64_t n = bytes / itemsize(*t), step = itemsize(*t);
  Py_INCREF(values[0]);
  return wrap(borrow(
      PyBytes_AsString(values[0]), {&n, 1}, {&step, 1}, *t, false, true,
      [](void* o) { let_go([o] { Py_DECREF(static_cast<PyObject*>(o)); }); }, values[0]));
}

}  // namespace numbus::bindings
