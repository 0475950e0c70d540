// Functions of lines: sort, argsort, searchsorted, bincount, interp, concatenate, stack, nonzero,
// outer.
#include <algorithm>

#include "quick.h"

namespace numbus::bindings {
namespace {

std::optional<int64_t> plain_int(PyObject* o) {
  int overflow = 0;
  if (!PyLong_CheckExact(o)) return {};
  const int64_t n = PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow ? std::nullopt : std::optional(n);
}

// An axis of so many, counted from the end where it is negative; nothing where it is not in range.
std::optional<int> axis_of(PyObject* o, int n, int otherwise) {
  const std::optional<int64_t> given = o ? plain_int(o) : otherwise;
  if (!given || *given < -n || *given >= n) return {};
  return static_cast<int>(*given < 0 ? *given + n : *given);
}

PyObject* in_order(const Given& g, Routine r) {
  PyObject* values[2] = {};
  if (!g.bind({"a", "axis"}, values, 2) || !values[0]) return nullptr;
  const Array* a = at_rest(values[0]);
  if (!a) return nullptr;
  const std::optional<int> axis = axis_of(values[1], a->ndim(), -1);
  if (!axis) return nullptr;
  mark_line();
  constexpr int64_t kPlain[2] = {};
  const bool indices = r == Routine::argsort;
  return wrap(along_lines(r, *a, *axis, indices, {kPlain, row(r).attributes}));
}

}  // namespace

PyObject* quick_sort(const Given& g) { return in_order(g, Routine::sort); }
PyObject* quick_argsort(const Given& g) { return in_order(g, Routine::argsort); }

PyObject* quick_searchsorted(const Given& g) {
  PyObject* values[3] = {};
  if (!g.bind({"a", "v", "side"}, values, 3) || !values[0] || !values[1]) return nullptr;
  bool right = false;
  if (values[2]) {
    if (!PyUnicode_Check(values[2])) return nullptr;
    right = PyUnicode_CompareWithASCIIString(values[2], "right") == 0;
    if (!right && PyUnicode_CompareWithASCIIString(values[2], "left") != 0) return nullptr;
  }
  const Array *a = at_rest(values[0]), *v = at_rest(values[1]);
  Array number;
  if (a && a->dtype == DType::F64 && PyFloat_CheckExact(values[1])) {
    number = empty({}, DType::F64, a->base->device);
    number.base->ensure_data();
    store_scalar(Scalar::from_float(PyFloat_AsDouble(values[1])), DType::F64, number.base->data);
    v = &number;
  }
  if (!a || !v || a->ndim() != 1 || a->dtype != v->dtype || a->base->device != v->base->device)
    return nullptr;
  mark_line();
  return wrap_result(search(*a, *v, right));
}

namespace {

template <class T>
std::pair<int64_t, int64_t> extremes(const char* at, int64_t n) {
  const T* x = reinterpret_cast<const T*>(at);
  const auto [low, high] = std::minmax_element(x, x + n);
  return {static_cast<int64_t>(*low), static_cast<int64_t>(*high)};
}

// Of dense integers; those that int64 does not hold are negative.
std::pair<int64_t, int64_t> extremes(DType t, const char* at, int64_t n) {
  switch (t) {
    case DType::I8: return extremes<int8_t>(at, n);
    case DType::I16: return extremes<int16_t>(at, n);
    case DType::I32: return extremes<int32_t>(at, n);
    case DType::I64: return extremes<int64_t>(at, n);
    case DType::U8: return extremes<uint8_t>(at, n);
    case DType::U16: return extremes<uint16_t>(at, n);
    case DType::U32: return extremes<uint32_t>(at, n);
    default: return {-1, -1};
  }
}

}  // namespace

PyObject* quick_bincount(const Given& g) {
  constexpr int64_t kMost = 4096;  // more are counted where they are recorded
  PyObject* values[3] = {};
  if (!g.bind({"", "weights", "minlength"}, values, 3) || !values[0] || !may_work_at_once())
    return nullptr;
  const Array *x = at_rest(values[0]), *weights = nullptr;
  if (!x || x->ndim() != 1 || x->size() == 0 || x->size() > kMost || !x->layout->c_contiguous())
    return nullptr;
  if (values[1] && values[1] != Py_None) {
    weights = at_rest(values[1]);
    if (!weights || weights->dtype != DType::F64 || !weights->layout->same_shape(*x->layout) ||
        weights->base->device != x->base->device)
      return nullptr;
  }
  const std::optional<int64_t> least = values[2] ? plain_int(values[2]) : 0;
  if (!least || *least < 0) return nullptr;
  x->base->ensure_data();
  const auto [low, high] = extremes(x->dtype, x->base->data + x->offset, x->size());
  if (low < 0 || high >= kMost) return nullptr;
  mark_line();
  return wrap(bincount(*x, std::max(*least, high + 1), weights));
}

PyObject* quick_interp(const Given& g) {
  PyObject* values[5] = {};
  if (!g.bind({"x", "xp", "fp", "left", "right"}, values, 5) || !values[0] || !values[1] ||
      !values[2] || !may_work_at_once())
    return nullptr;
  const Array *xp = at_rest(values[1]), *fp = at_rest(values[2]);
  if (!xp || !fp || xp->dtype != DType::F64 || fp->dtype != DType::F64 || xp->ndim() != 1 ||
      xp->size() == 0 || !xp->layout->same_shape(*fp->layout) ||
      xp->base->device != fp->base->device)
    return nullptr;
  Array number;
  const Array* x = at_rest(values[0]);
  const bool one = PyFloat_CheckExact(values[0]);
  if (one) {
    number = empty({}, DType::F64, xp->base->device);
    number.base->ensure_data();
    store_scalar(Scalar::from_float(PyFloat_AsDouble(values[0])), DType::F64, number.base->data);
    x = &number;
  }
  if (!x || x->dtype != DType::F64 || x->base->device != xp->base->device ||
      (x->ndim() == 0 && !one))
    return nullptr;
  const int64_t two = 2, last = fp->size() - 1;
  Array ends = empty({&two, 1}, DType::F64, xp->base->device);
  ends.base->ensure_data();
  fp->base->ensure_data();
  for (int k = 0; k < 2; ++k) {
    PyObject* given = values[3 + k];
    Scalar s = load_scalar(DType::F64,
                           fp->base->data + fp->offset + (k ? last * fp->layout->stride(0) : 0));
    if (given && given != Py_None) {
      if (!PyFloat_CheckExact(given)) return nullptr;
      s = Scalar::from_float(PyFloat_AsDouble(given));
    }
    store_scalar(s, DType::F64, ends.base->data + k * 8);
  }
  mark_line();
  Array made = interpolate(*x, *xp, *fp, ends);
  return one ? wrap_result(std::move(made)) : wrap(std::move(made));
}

namespace {

// The arrays of a list or tuple; false where one is of another kind.
bool arrays_of(PyObject* o, std::vector<Array>& arrays) {
  const bool tuple = PyTuple_CheckExact(o);
  if (!tuple && !PyList_CheckExact(o)) return false;
  const Py_ssize_t n = tuple ? PyTuple_Size(o) : PyList_Size(o);
  arrays.reserve(n);
  for (Py_ssize_t k = 0; k < n; ++k) {
    const Array* a = at_rest(tuple ? PyTuple_GetItem(o, k) : PyList_GetItem(o, k));
    if (!a || a->ndim() == 0) return false;
    arrays.push_back(*a);
  }
  return n > 0;
}

PyObject* joined(std::span<const Array> arrays, int axis, bool new_axis) {
  mark_line();
  return wrap(concatenate(arrays, axis, new_axis, new_axis ? "stack" : "concatenate", {},
                          Casting::SameKind, nullptr));
}

PyObject* join(const Given& g, bool new_axis) {
  PyObject* values[2] = {};
  std::vector<Array> arrays;
  if (!g.bind({new_axis ? "arrays" : "", "axis"}, values, 2) || !values[0] ||
      !arrays_of(values[0], arrays))
    return nullptr;
  const std::optional<int> axis = axis_of(values[1], arrays[0].ndim() + new_axis, 0);
  return axis ? joined(arrays, *axis, new_axis) : nullptr;
}

}  // namespace

PyObject* quick_concatenate(const Given& g) { return join(g, false); }
PyObject* quick_stack(const Given& g) { return join(g, true); }

PyObject* quick_hstack(const Given& g) {
  std::vector<Array> arrays;
  if (g.positional != 1 || g.names || !arrays_of(g.args[0], arrays)) return nullptr;
  return joined(arrays, arrays[0].ndim() == 1 ? 0 : 1, false);
}

PyObject* quick_vstack(const Given& g) {
  std::vector<Array> arrays;
  if (g.positional != 1 || g.names || !arrays_of(g.args[0], arrays)) return nullptr;
  const bool lines = arrays[0].ndim() == 1;
  for (const Array& a : arrays)
    if (lines ? !a.layout->same_shape(*arrays[0].layout) : a.ndim() == 1) return nullptr;
  return joined(arrays, 0, lines);
}

namespace {

PyObject* indices_of_true(const Array& a) {
  if (a.dtype == DType::Bool) return wrap(flatnonzero(a));
  Arg zero(Scalar::from_int(0), DType::I64);
  zero.weak = true;
  const Arg both[2] = {Arg(&a), zero};
  return wrap(flatnonzero(apply(Op::not_equal, both)));
}

const Array* line_at_rest(const Given& g) {
  if (g.positional != 1 || g.names || !may_work_at_once()) return nullptr;
  const Array* a = at_rest(g.args[0]);
  return a && a->ndim() == 1 ? a : nullptr;
}

}  // namespace

PyObject* quick_flatnonzero(const Given& g) {
  const Array* a = line_at_rest(g);
  if (!a) return nullptr;
  mark_line();
  return indices_of_true(*a);
}

PyObject* quick_nonzero(const Given& g) {
  PyObject* found = quick_flatnonzero(g);
  return found ? nb::make_tuple(nb::steal(found)).release().ptr() : nullptr;
}

PyObject* quick_outer(const Given& g) {
  if (g.positional != 2 || g.names) return nullptr;
  const Array *x = at_rest(g.args[0]), *y = at_rest(g.args[1]);
  if (!x || !y || x->ndim() != 1 || y->ndim() != 1) return nullptr;
  mark_line();
  const Array column = reshape(*x, {x->size(), 1}), line = reshape(*y, {1, y->size()});
  const Arg factors[2] = {Arg(&column), Arg(&line)};
  return wrap_result(apply(Op::multiply, factors));
}

}  // namespace numbus::bindings
