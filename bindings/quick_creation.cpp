// New arrays: zeros, ones, empty, full and those like others, eye, arange, array and asarray.
#include <cmath>
#include <cstring>

#include "quick.h"

namespace numbus::bindings {
namespace {

constexpr size_t kMostAxes = 8;

// A shape of plain ints.
struct Extents {
  int64_t extent[kMostAxes];
  size_t count = 0;

  bool add(PyObject* o) {
    const std::optional<int64_t> n = plain_int(o);
    if (!n || *n < 0 || count == kMostAxes) return false;
    extent[count++] = *n;
    return true;
  }
  bool read(PyObject* o) {
    if (!PyTuple_CheckExact(o)) return add(o);
    const Py_ssize_t n = PyTuple_Size(o);
    for (Py_ssize_t k = 0; k < n; ++k)
      if (!add(PyTuple_GetItem(o, k))) return false;
    return true;
  }
  std::span<const int64_t> shape() const { return {extent, count}; }
};

bool is_c(PyObject* order) {
  return !order || (PyUnicode_Check(order) && PyUnicode_CompareWithASCIIString(order, "C") == 0);
}

// float64 where nothing is given, nothing for what NumPy has to look at.
std::optional<DType> type_of(PyObject* o) {
  if (!o || o == Py_None) return DType::F64;
  return usual_dtype(o);
}

// The shape and the type of zeros(), ones() and empty().
bool shape_and_type(const Given& g, Extents& shape, DType& t) {
  PyObject* values[3] = {};
  if (!g.bind({"shape", "dtype", "order"}, values, 3) || !values[0] || !is_c(values[2]) ||
      !default_device().host_readable())
    return false;
  const std::optional<DType> type = type_of(values[1]);
  if (!type || !shape.read(values[0])) return false;
  t = *type;
  return true;
}

// Few zeros are written now. More are recorded, so that what reads them need not read memory.
Array of_zeros(std::span<const int64_t> shape, DType t, Device* device = nullptr) {
  mark_line();
  Array made = empty(shape, t, device);
  if (made.size() <= Runtime::get().at_once && may_work_at_once() &&
      made.base->device->host_readable()) {
    made.base->ensure_data();
    std::memset(made.base->data, 0, static_cast<size_t>(made.base->nbytes));
    ++Runtime::get().stats.at_once;
    return made;
  }
  Arg zero(Scalar::from_int(0), t);
  zero.weak = true;
  assign(made, zero);
  return made;
}

}  // namespace

PyObject* quick_empty(const Given& g) {
  Extents shape;
  DType t;
  if (!shape_and_type(g, shape, t)) return nullptr;
  mark_line();
  return wrap(empty(shape.shape(), t));
}

PyObject* quick_zeros(const Given& g) {
  Extents shape;
  DType t;
  return shape_and_type(g, shape, t) ? wrap(of_zeros(shape.shape(), t)) : nullptr;
}

PyObject* quick_ones(const Given& g) {
  Extents shape;
  DType t;
  if (!shape_and_type(g, shape, t)) return nullptr;
  mark_line();
  return wrap(full(shape.shape(), t, Scalar::from_int(1)));
}

PyObject* quick_full(const Given& g) {
  PyObject* values[3] = {};
  Extents shape;
  if (!g.bind({"shape", "fill_value", "dtype"}, values, 3) || !values[0] || !values[1] ||
      !shape.read(values[0]) || !default_device().host_readable())
    return nullptr;
  const bool whole = PyLong_CheckExact(values[1]);
  if (!whole && !PyFloat_CheckExact(values[1])) return nullptr;
  DType t = whole ? DType::I64 : DType::F64;
  if (values[2] && values[2] != Py_None) {
    const std::optional<DType> wanted = usual_dtype(values[2]);
    // Others are cast from an array of the number's own type.
    if (!wanted || kind(*wanted) < kind(t)) return nullptr;
    t = *wanted;
  }
  int overflow = 0;
  const Scalar value = whole ? Scalar::from_int(PyLong_AsLongLongAndOverflow(values[1], &overflow))
                             : Scalar::from_float(PyFloat_AsDouble(values[1]));
  if (overflow) return nullptr;
  mark_line();
  return wrap(full(shape.shape(), t, value));
}

namespace {

// Of an array in C order, wherever it is: what a new one like it is made of.
const Array* like(const Given& g, DType& t) {
  PyObject* values[2] = {};
  if (g.positional < 1 || !is_array(g.args[0]) || as_masked(g.args[0]).mask) return nullptr;
  if (!g.bind({"", "dtype"}, values, 2)) return nullptr;
  const Array& a = as_masked(g.args[0]).full;
  t = a.dtype;
  if (values[1] && values[1] != Py_None) {
    const std::optional<DType> wanted = usual_dtype(values[1]);
    if (!wanted) return nullptr;
    t = *wanted;
  }
  return a.ndim() < 2 || a.layout->c_contiguous() ? &a : nullptr;
}

}  // namespace

PyObject* quick_empty_like(const Given& g) {
  DType t;
  const Array* a = like(g, t);
  if (!a) return nullptr;
  mark_line();
  return wrap(empty(a->shape(), t, a->base->device));
}

PyObject* quick_zeros_like(const Given& g) {
  DType t;
  const Array* a = like(g, t);
  return a ? wrap(of_zeros(a->shape(), t, a->base->device)) : nullptr;
}

PyObject* quick_ones_like(const Given& g) {
  DType t;
  const Array* a = like(g, t);
  if (!a) return nullptr;
  mark_line();
  const Array made = empty(a->shape(), t, a->base->device);
  Arg one(Scalar::from_int(1), t);
  one.weak = true;
  assign(made, one);
  return wrap(Array(made));
}

PyObject* quick_full_like(const Given& g) {
  PyObject* values[3] = {};
  if (!g.bind({"", "fill_value", "dtype"}, values, 3) || !values[0] || !values[1]) return nullptr;
  PyObject* const prototype[2] = {values[0], values[2]};
  DType t;
  const Array* a = like({prototype, values[2] ? 2 : 1, nullptr}, t);
  // Others are cast from an array of the number's own type, or are out of range.
  const bool fits = PyFloat_CheckExact(values[1]) ? is_inexact(t)
                                                  : PyLong_CheckExact(values[1]) && t == DType::I64;
  Operands ops;
  Arg value;
  if (!a || !fits || !ops.convert(values[1], value) || value.huge) return nullptr;
  mark_line();
  const Array made = empty(a->shape(), t, a->base->device);
  assign(made, value);
  return wrap(Array(made));
}

PyObject* quick_copy(const Given& g) {
  if (g.positional != 1 || g.names || !is_array(g.args[0])) return nullptr;
  mark_line();
  const Array& a = as_array(g.args[0]);
  return wrap(copy_in_order(a, a.dtype, 'K'));
}

namespace {

// By the arguments N, M, k and dtype of eye().
PyObject* square_of_ones(PyObject* const (&values)[4]) {
  if (!values[0] || values[2]) return nullptr;
  const std::optional<DType> t = type_of(values[3]);
  PyObject* columns = values[1] && values[1] != Py_None ? values[1] : values[0];
  Extents shape;
  if (!t || !shape.add(values[0]) || !shape.add(columns) || !may_work_at_once() ||
      !default_device().host_readable())
    return nullptr;
  const int64_t most = Runtime::get().at_once;
  const auto [rows, cols] = std::pair(shape.extent[0], shape.extent[1]);
  if (rows > most || cols > most || rows * cols > most) return nullptr;
  Array made = of_zeros(shape.shape(), *t);
  if (!made.base->device->host_readable()) return nullptr;
  const int64_t step = (cols + 1) * itemsize(*t);
  for (int64_t k = 0; k < std::min(rows, cols); ++k)
    store_scalar(Scalar::from_int(1), *t, made.base->data + k * step);
  return wrap(std::move(made));
}

}  // namespace

PyObject* quick_eye(const Given& g) {
  PyObject* values[4] = {};
  return g.bind({"N", "M", "k", "dtype"}, values, 4) ? square_of_ones(values) : nullptr;
}

PyObject* quick_identity(const Given& g) {
  PyObject* values[2] = {};
  if (!g.bind({"n", "dtype"}, values, 2) || !values[0]) return nullptr;
  PyObject* const as_eye[4] = {values[0], Py_None, nullptr, values[1]};
  return square_of_ones(as_eye);
}

namespace {

// Of floats and ints, some of them floats; the step is the one between the first two values, where
// these follow from it.
PyObject* arange_of_floats(const Given& g) {
  constexpr double kMost = 1e15;
  double given[3] = {0, 0, 1};
  const int first = g.positional == 1 ? 1 : 0;
  for (Py_ssize_t k = 0; k < g.positional; ++k) {
    const bool whole = PyLong_CheckExact(g.args[k]);
    if (!whole && !PyFloat_CheckExact(g.args[k])) return nullptr;
    given[first + k] = whole ? PyLong_AsDouble(g.args[k]) : PyFloat_AsDouble(g.args[k]);
    if (PyErr_Occurred()) PyErr_Clear();
    if (!(std::abs(given[first + k]) < kMost)) return nullptr;
  }
  const double span = given[1] - given[0], length = std::ceil(span / given[2]);
  if (given[2] == 0 || !(std::abs(length) < kMost) || !default_device().host_readable())
    return nullptr;
  const double second = given[0] + given[2], by = second - given[0];
  const bool too_small = span != 0 && span / given[2] == 0;
  if (given[0] + by != second || (given[0] == 0 && std::signbit(given[0])) || too_small)
    return nullptr;
  mark_line();
  return wrap(
      arange(given[0], by, 0, 0, length > 0 ? static_cast<int64_t>(length) : 0, DType::F64));
}

}  // namespace

PyObject* quick_arange(const Given& g) {
  // Sums and products of three of them do not overflow.
  constexpr int64_t kMost = int64_t{1} << 60;
  PyObject* values[5] = {};
  if (g.positional < 1 || !g.bind({"", "", "", "dtype", "device"}, values, 3) ||
      (values[4] && values[4] != Py_None) ||
      (values[3] && values[3] != Py_None && usual_dtype(values[3]) != DType::I64))
    return nullptr;
  for (Py_ssize_t k = 0; k < g.positional; ++k)
    if (PyFloat_CheckExact(g.args[k])) return values[3] ? nullptr : arange_of_floats(g);
  int64_t given[3] = {0, 0, 1};
  const int first = g.positional == 1 ? 1 : 0;
  for (Py_ssize_t k = 0; k < g.positional; ++k) {
    const std::optional<int64_t> n = plain_int(g.args[k]);
    if (!n || *n >= kMost || *n <= -kMost) return nullptr;
    given[first + k] = *n;
  }
  const auto [start, stop, step] = std::tuple(given[0], given[1], given[2]);
  if (step == 0 || !default_device().host_readable()) return nullptr;
  const int64_t way = step > 0 ? stop - start : start - stop, by = step > 0 ? step : -step;
  mark_line();
  return wrap(arange(0, 0, start, step, way > 0 ? (way - 1) / by + 1 : 0, DType::I64));
}

namespace {

// A list or tuple of numbers.
PyObject* of_list(PyObject* o, PyObject* dtype) {
  if ((!PyList_CheckExact(o) && !PyTuple_CheckExact(o)) || !default_device().host_readable())
    return nullptr;
  std::optional<DType> t;
  if (dtype && dtype != Py_None) {
    t = usual_dtype(dtype);
    if (!t) return nullptr;
  }
  std::optional<Array> made = from_list(o, t);
  if (made) return wrap(std::move(*made));
  std::vector<Array> arrays;
  if (!arrays_of(o, arrays)) return nullptr;
  for (const Array& a : arrays)
    if (!a.layout->same_shape(*arrays[0].layout)) return nullptr;
  mark_line();
  return wrap(concatenate(arrays, 0, true, "array", t, Casting::Unsafe, nullptr));
}

}  // namespace

PyObject* quick_array(const Given& g) {
  PyObject* values[2] = {};
  if (!g.bind({"object", "dtype"}, values, 2) || !values[0]) return nullptr;
  if (!is_array(values[0])) return of_list(values[0], values[1]);
  if (values[1] && values[1] != Py_None) return nullptr;
  mark_line();
  const Array& a = as_array(values[0]);
  return wrap(copy_in_order(a, a.dtype, 'K'));
}

// The method with nothing but a type.
PyObject* quick_astype(const Given& g) {
  if (g.positional != 2 || g.names || !is_array(g.args[0]) || as_masked(g.args[0]).mask)
    return nullptr;
  const std::optional<DType> t = usual_dtype(g.args[1]);
  if (!t) return nullptr;
  mark_line();
  return wrap(copy_in_order(as_masked(g.args[0]).full, *t, 'K'));
}

PyObject* quick_asarray(const Given& g) {
  PyObject* values[2] = {};
  if (!g.bind({"a", "dtype"}, values, 2) || !values[0]) return nullptr;
  if (!is_array(values[0])) return of_list(values[0], values[1]);
  if (values[1] && values[1] != Py_None) {
    const std::optional<DType> t = usual_dtype(values[1]);
    if (!t || *t != as_masked(values[0]).full.dtype) return nullptr;
  }
  Py_INCREF(values[0]);
  return values[0];
}

}  // namespace numbus::bindings
