// Arrays joined: concatenate, stack, hstack, vstack.
#include <cstring>

#include "array/observer.h"
#include "quick.h"

namespace numbus::bindings {

bool arrays_of(PyObject* o, std::vector<Array>& arrays) {
  const bool tuple = PyTuple_CheckExact(o);
  if (!tuple && !PyList_CheckExact(o)) return false;
  const Py_ssize_t n = tuple ? PyTuple_Size(o) : PyList_Size(o);
  arrays.reserve(n);
  bool any = false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = tuple ? PyTuple_GetItem(o, k) : PyList_GetItem(o, k);
    if (PyList_CheckExact(item) || PyTuple_CheckExact(item)) {
      std::optional<Array> made = from_list(item, {});
      if (!made) return false;
      arrays.push_back(std::move(*made));
      continue;
    }
    const Array* a = at_rest(item);
    if (!a || a->ndim() == 0) return false;
    arrays.push_back(*a);
    any = true;
  }
  return any;
}

namespace {

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

PyObject* quick_column_stack(const Given& g) {
  std::vector<Array> arrays;
  if (g.positional != 1 || g.names || !arrays_of(g.args[0], arrays)) return nullptr;
  for (Array& a : arrays)
    if (a.ndim() == 1) a = reshape(a, {a.size(), 1});
  return joined(arrays, 1, false);
}

PyObject* quick_vstack(const Given& g) {
  std::vector<Array> arrays;
  if (g.positional != 1 || g.names || !arrays_of(g.args[0], arrays)) return nullptr;
  const bool lines = arrays[0].ndim() == 1;
  for (Array& a : arrays) {
    if (lines && !a.layout->same_shape(*arrays[0].layout)) return nullptr;
    if (!lines && a.ndim() == 1) a = reshape(a, {1, a.size()});
  }
  return joined(arrays, 0, lines);
}

// A line, and a number or a list of numbers.
PyObject* quick_append(const Given& g) {
  if (g.positional != 2 || g.names) return nullptr;
  const Array* a = at_rest(g.args[0]);
  if (!a || a->ndim() != 1 || (a->dtype != DType::F64 && a->dtype != DType::I64)) return nullptr;
  PyObject* one = g.args[1];
  const bool number = PyFloat_CheckExact(one) || PyLong_CheckExact(one);
  if (!number && !PyList_CheckExact(one) && !PyTuple_CheckExact(one)) return nullptr;
  nb::object items = number ? nb::object(nb::make_tuple(nb::handle(one))) : nb::borrow(one);
  // Of one type nothing is cast on the way.
  const std::optional<DType> t = a->dtype == DType::F64 ? std::optional(DType::F64) : std::nullopt;
  const std::optional<Array> more = from_list(items.ptr(), t);
  if (!more || more->ndim() != 1) return nullptr;
  // What a loop appends to is copied at once: pending, each step would be recorded anew.
  constexpr int64_t kAtOnce = 1 << 16;
  if (more->dtype == a->dtype && a->layout->c_contiguous() && a->size() < kAtOnce &&
      a->base->device == &cpu_device() && !observer()) {
    const int64_t n = a->size() + more->size();
    Array made = empty({&n, 1}, a->dtype, &cpu_device());
    made.base->ensure_data();
    const size_t first = static_cast<size_t>(a->size() * itemsize(a->dtype));
    std::memcpy(made.base->data, a->base->data + a->offset, first);
    std::memcpy(made.base->data + first, more->base->data + more->offset,
                static_cast<size_t>(more->size() * itemsize(a->dtype)));
    return wrap(std::move(made));
  }
  const Array arrays[2] = {*a, *more};
  return joined(arrays, 0, false);
}

}  // namespace numbus::bindings
