// Functions of tensors whose plain calls are answered without Python: gather, scatter, index_add,
// clamp and their kin. Their arguments are the arrays of tensors.
#include <cmath>

#include "array/along_at_once.h"
#include "array/at_once.h"
#include "quick.h"

namespace numbus::bindings {
namespace {

// A number of Python's as one of an array's type; nothing where it is none that the type has.
std::optional<Arg> number_for(PyObject* o, DType t) {
  Arg made;
  made.weak = true;
  if (PyFloat_CheckExact(o) && is_float(t)) {
    made.scalar = Scalar::from_float(PyFloat_AsDouble(o));
    made.dtype = DType::F64;
    return made;
  }
  const std::optional<int64_t> whole = plain_int(o);
  if (!whole || is_complex(t) || t == DType::Bool) return {};
  if (is_float(t)) {
    made.scalar = Scalar::from_float(static_cast<double>(*whole));
    made.dtype = DType::F64;
    return made;
  }
  const int bits = 8 * itemsize(t) - (is_signed(t) ? 1 : 0);
  const int64_t beyond = bits < 63 ? *whole >> bits : 0;
  if (is_signed(t) ? beyond != 0 && beyond != -1 : *whole < 0 || beyond != 0) return {};
  made.scalar = Scalar::from_int(*whole);
  made.dtype = DType::I64;
  return made;
}

// An index of one axis along an axis of an array, the same for all that lies beside it.
std::optional<Array> along_all(const Array& index, const Array& like, int axis) {
  if (index.ndim() != 1 || like.layout->shape(axis) != index.size()) return {};
  int64_t strides[kMaxDims] = {};
  strides[axis] = index.layout->stride(0);
  const auto n = static_cast<size_t>(like.ndim());
  Array made = index;
  made.layout = LayoutRef(Layout::get({like.layout->shape(), n}, {strides, n}, 8));
  made.owns = false;
  return made;
}

PyObject* stored(const Given& g, bool adds) {
  PyObject* values[5] = {};
  if (!g.bind({"", "dim", "index", "src", "value"}, values, 4) || !values[0] || !values[1] ||
      !values[2] || !is_array(values[0]) || as_masked(values[0]).mask)
    return nullptr;
  PyObject* const from = values[3] ? values[3] : values[4];
  const Array& to = as_masked(values[0]).full;
  const Array* index = at_rest(values[2]);
  if (!from || !index || (values[3] && values[4])) return nullptr;
  const std::optional<int> axis = axis_of(values[1], to.ndim(), 0);
  if (!axis) return nullptr;
  if (is_array(from)) {
    const Array* src = at_rest(from);
    if (!src || !store_along_at_once(to, *axis, *index, Arg(src), adds)) return nullptr;
  } else {
    const std::optional<Arg> number = adds ? std::nullopt : number_for(from, to.dtype);
    if (!number || !store_along_at_once(to, *axis, *index, *number, adds)) return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* stored_slices(const Given& g, bool adds) {
  PyObject* values[4] = {};
  if (!g.bind({"", "dim", "index", "source"}, values, 4) || !values[0] || !values[1] ||
      !values[2] || !values[3] || !is_array(values[0]) || as_masked(values[0]).mask)
    return nullptr;
  const Array& to = as_masked(values[0]).full;
  const Array *index = at_rest(values[2]), *source = at_rest(values[3]);
  if (!index || !source || to.ndim() == 0 || source->ndim() != to.ndim()) return nullptr;
  const std::optional<int> axis = axis_of(values[1], to.ndim(), 0);
  if (!axis) return nullptr;
  for (int d = 0; d < to.ndim(); ++d)
    if (d != *axis && to.layout->shape(d) != source->layout->shape(d)) return nullptr;
  const std::optional<Array> along = along_all(*index, *source, *axis);
  if (!along || !store_along_at_once(to, *axis, *along, Arg(source), adds)) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace

PyObject* quick_gather(const Given& g) {
  PyObject* values[3] = {};
  if (!g.bind({"input", "dim", "index"}, values, 3) || !values[0] || !values[1] || !values[2])
    return nullptr;
  const Array *a = at_rest(values[0]), *index = at_rest(values[2]);
  if (!a || !index || a->ndim() == 0) return nullptr;
  const std::optional<int> axis = axis_of(values[1], a->ndim(), 0);
  if (!axis) return nullptr;
  mark_line();
  std::optional<Array> made = pick_along_at_once(*a, *axis, *index);
  return made ? wrap(std::move(*made)) : nullptr;
}

PyObject* quick_scatter_in_place(const Given& g) { return stored(g, false); }
PyObject* quick_scatter_add_in_place(const Given& g) { return stored(g, true); }
PyObject* quick_index_add_in_place(const Given& g) { return stored_slices(g, true); }
PyObject* quick_index_copy_in_place(const Given& g) { return stored_slices(g, false); }

// Within limits that are numbers.
PyObject* quick_clamp(const Given& g) {
  PyObject* values[3] = {};
  if (!g.bind({"input", "min", "max"}, values, 3) || !values[0]) return nullptr;
  const Array* a = at_rest(values[0]);
  if (!a || a->dtype == DType::Bool || is_complex(a->dtype)) return nullptr;
  mark_line();
  Masked limited;
  const Array* from = a;
  for (int k = 1; k < 3; ++k) {
    if (!values[k] || values[k] == Py_None) continue;
    const std::optional<Arg> limit = number_for(values[k], a->dtype);
    // A limit that is NaN makes NaN, also of integers.
    if (!limit || (PyFloat_CheckExact(values[k]) && std::isnan(PyFloat_AsDouble(values[k]))))
      return nullptr;
    const Arg both[2] = {Arg(from), *limit};
    limited = apply(k == 1 ? Op::maximum : Op::minimum, both);
    from = &limited.full;
  }
  return from == a ? nullptr : wrap(std::move(limited));
}

}  // namespace numbus::bindings
