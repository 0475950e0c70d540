// Arrays joined: concatenate, stack, hstack, vstack.
#include "quick.h"

namespace numbus::bindings {

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
  for (const Array& a : arrays)
    if (lines ? !a.layout->same_shape(*arrays[0].layout) : a.ndim() == 1) return nullptr;
  return joined(arrays, 0, lines);
}

}  // namespace numbus::bindings
