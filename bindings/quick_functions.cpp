// Functions of lines: sort, argsort, take, searchsorted, bincount, interp, nonzero, where, outer.
#include <algorithm>

#include "array/at_once.h"
#include "array/at_once_blocks.h"
#include "numpy_objects.h"
#include "quick.h"
#include "scalars.h"

namespace numbus::bindings {
namespace {

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

// A Python float as an array without axes.
Array array_of_float(PyObject* number, Device& device) {
  Array made = empty({}, DType::F64, &device);
  made.base->ensure_data();
  store_scalar(Scalar::from_float(PyFloat_AsDouble(number)), DType::F64, made.base->data);
  return made;
}

// By NumPy's own method, which puts the elements in order where they lie.
void sort_by_numpy(const Array& a, int axis) {
  // Never destroyed: Python is gone at exit.
  static const auto* method =
      new nb::object(nb::module_::import_("numpy").attr("ndarray").attr("sort"));
  const Lease lease(a);
  (*method)(nb::handle(lease.view()), axis);
}

}  // namespace

PyObject* quick_sort_in_place(const Given& g) {
  PyObject* values[2] = {};
  if (!g.bind({"self", "axis"}, values, 2) || !values[0]) return nullptr;
  const Array* a = at_rest(values[0]);
  const std::optional<int> axis = a ? axis_of(values[1], a->ndim(), -1) : std::nullopt;
  if (!axis) return nullptr;
  if (a->writeable && a->dtype != DType::BF16 && small::may_run(a->size(), *a->base->device)) {
    sort_by_numpy(*a, *axis);
    Py_RETURN_NONE;
  }
  mark_line();
  constexpr int64_t kPlain[2] = {};
  const Array sorted = along_lines(Routine::sort, *a, *axis, false, kPlain);
  assign(*a, Arg(&sorted));
  Py_RETURN_NONE;
}

PyObject* quick_take(const Given& g) {
  PyObject* values[3] = {};
  if (!g.bind({"a", "indices", "axis"}, values, 3) || !values[0] || !values[1]) return nullptr;
  const Array *a = at_rest(values[0]), *index = at_rest(values[1]);
  if (!a || !index) return nullptr;
  const bool flat = !values[2] || values[2] == Py_None;
  const std::optional<int> axis = flat ? 0 : axis_of(values[2], a->ndim(), 0);
  if (!axis || (flat && a->ndim() != 1)) return nullptr;
  if (*axis == 0)
    if (std::optional<Array> made = take_at_once(*a, 0, *index)) return wrap(std::move(*made));
  // Few elements are NumPy's.
  if (a->size() <= Runtime::get().at_once || index->dtype != DType::I64 || index->ndim() == 0 ||
      a->base->device != index->base->device)
    return nullptr;
  mark_line();
  return wrap(gather_in_rows(*a, uint64_t{1} << *axis, {index, 1}, *axis));
}

namespace {

// One rank of lines; where equal elements of a partition go is the routine's.
PyObject* selected(const Given& g, Routine r) {
  PyObject* values[3] = {};
  if (!g.bind({"a", "kth", "axis"}, values, 3) || !values[0] || !values[1]) return nullptr;
  const Array* a = at_rest(values[0]);
  const std::optional<int> axis = a ? axis_of(values[2], a->ndim(), -1) : std::nullopt;
  if (!axis || a->size() == 0) return nullptr;
  const std::optional<int> rank =
      axis_of(values[1], static_cast<int>(std::min<int64_t>(a->layout->shape(*axis), 1 << 30)), 0);
  if (!rank) return nullptr;
  constexpr size_t kMostRanks = 4;
  int64_t ranks[kMostRanks];
  std::fill(std::begin(ranks), std::end(ranks), -1);
  ranks[0] = *rank;
  mark_line();
  const bool indices = r == Routine::argpartition;
  return wrap(along_lines(r, *a, *axis, indices, {ranks, row(r).attributes}));
}

}  // namespace

PyObject* quick_partition(const Given& g) { return selected(g, Routine::partition); }
PyObject* quick_argpartition(const Given& g) { return selected(g, Routine::argpartition); }

PyObject* quick_partition_in_place(const Given& g) {
  const Array* a = g.positional > 0 ? at_rest(g.args[0]) : nullptr;
  if (!a || !a->writeable) return nullptr;
  const nb::object made = nb::steal(quick_partition(g));
  if (!made.is_valid()) return nullptr;
  mark_line();
  assign(*a, Arg(&as_array(made.ptr())));
  Py_RETURN_NONE;
}

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
    number = array_of_float(values[1], *a->base->device);
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
    number = array_of_float(values[0], *xp->base->device);
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

Masked not_zero(const Array& a) {
  Arg zero(Scalar::from_int(0), DType::I64);
  zero.weak = true;
  const Arg both[2] = {Arg(&a), zero};
  return apply(Op::not_equal, both);
}

// The numbers of the elements that are not zero among few dense ones; how many.
template <class T>
size_t find_true(const T* elements, int64_t n, int64_t* numbers) {
  size_t found = 0;
  for (int64_t k = 0; k < n; ++k) {
    numbers[found] = k;
    found += elements[k] != T{};
  }
  return found;
}
std::optional<size_t> few_true(const Array& a, int64_t (&numbers)[kMostAtOnce]) {
  if (a.size() > Runtime::get().at_once || a.size() > kMostAtOnce || !a.layout->c_contiguous() ||
      !may_work_at_once())
    return {};
  a.base->ensure_data();
  const char* at = a.base->data + a.offset;
  auto find = [&]<class T>(T) {
    return find_true(reinterpret_cast<const T*>(at), a.size(), numbers);
  };
  switch (a.dtype) {
    case DType::Bool: return find(uint8_t{});
    case DType::I32: return find(int32_t{});
    case DType::I64: return find(int64_t{});
    case DType::F32: return find(float{});
    case DType::F64: return find(double{});
    default: return {};
  }
}

PyObject* indices_of_true(const Array& a) {
  int64_t numbers[kMostAtOnce];
  if (const auto n = few_true(a, numbers)) return wrap(of_integers({numbers, *n}, *a.base->device));
  return wrap(flatnonzero(a.dtype == DType::Bool ? a : Array(not_zero(a))));
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

PyObject* quick_count_nonzero(const Given& g) {
  if (g.positional != 1 || g.names) return nullptr;
  const Array* a = at_rest(g.args[0]);
  if (!a || a->ndim() == 0 || a->size() == 0 || is_complex(a->dtype)) return nullptr;
  mark_line();
  int64_t numbers[kMostAtOnce];
  if (const auto n = few_true(*a, numbers)) {
    const auto count = static_cast<int64_t>(*n);
    return scalar_of(DType::I64, &count);
  }
  const Array mask = a->dtype == DType::Bool ? *a : Array(not_zero(*a));
  const uint64_t all = all_axes(a->ndim());
  return wrap_result(reduce(Reduction::Sum, mask, all, false, DType::I64, nullptr, 0));
}

PyObject* quick_where(const Given& g) {
  if (g.positional == 1) return quick_nonzero(g);
  if (g.positional != 3 || g.names || !is_array(g.args[0])) return nullptr;
  Operands ops;
  Arg a[3];
  for (int k = 0; k < 3; ++k) {
    PyObject* o = g.args[k];
    if (!(is_array(o) || is_generic(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o)) ||
        !ops.convert(o, a[k]))
      return nullptr;
    if (a[k].is_array() && a[k].full()->base->device != as_masked(g.args[0]).full.base->device)
      return nullptr;
  }
  const DeviceOfNew follow(as_masked(g.args[0]).full.base->device);
  mark_line();
  return wrap(select(a[0], a[1], a[2]));
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

namespace {

// Of a method of ufuncs with an array at rest and an axis: the axis; nothing for other calls.
std::optional<int> folded_axis(const Given& g, const Array*& a) {
  PyObject* values[3] = {};
  if (!g.bind({"", "array", "axis"}, values, 3) || !values[1] || operands_of(values[0]) != 2)
    return {};
  a = at_rest(values[1]);
  if (!a || a->ndim() == 0 || a->size() == 0 || is_complex(a->dtype)) return {};
  return axis_of(values[2], a->ndim(), 0);
}

}  // namespace

// Of a ufunc: its method.
PyObject* quick_reduce(const Given& g) {
  const Array* a = nullptr;
  const std::optional<int> axis = folded_axis(g, a);
  if (!axis) return nullptr;
  const char* name = nullptr;
  switch (row_of(g.args[0])) {
    case Op::add: name = "sum"; break;
    case Op::multiply: name = "prod"; break;
    case Op::maximum: name = "max"; break;
    case Op::minimum: name = "min"; break;
    case Op::logical_and: name = "all"; break;
    case Op::logical_or: name = "any"; break;
    default: return nullptr;
  }
  mark_line();
  return wrap_result(reduce(name, *a, uint64_t{1} << *axis, false, {}, nullptr, 0));
}

PyObject* quick_accumulate(const Given& g) {
  const Array* a = nullptr;
  const std::optional<int> axis = folded_axis(g, a);
  if (!axis || (a->dtype != DType::F64 && a->dtype != DType::I64)) return nullptr;
  mark_line();
  return wrap(accumulate(row_of(g.args[0]), *a, *axis, {}, nullptr));
}

PyObject* quick_reduceat(const Given& g) {
  PyObject* values[3] = {};
  if (!g.bind({"", "array", "indices"}, values, 3) || !values[1] || !values[2] ||
      operands_of(values[0]) != 2)
    return nullptr;
  const Array *a = at_rest(values[1]), *indices = at_rest(values[2]);
  if (!a || !indices || a->ndim() == 0 || a->size() == 0 || is_complex(a->dtype) ||
      indices->ndim() != 1 || indices->dtype != DType::I64 || !indices->layout->c_contiguous())
    return nullptr;
  indices->base->ensure_data();
  const auto* first = reinterpret_cast<const int64_t*>(indices->base->data + indices->offset);
  mark_line();
  return wrap(numbus::reduceat(row_of(values[0]), *a, {first, static_cast<size_t>(indices->size())},
                               0, {}, nullptr));
}

namespace {

// NumPy's method at() of a ufunc whose results are exact, so that they are those of our loops;
// null: of another one.
PyObject* exact_update(PyObject* ufunc) {
  constexpr Op kExact[] = {Op::add,      Op::subtract,   Op::multiply,   Op::divide,
                           Op::maximum,  Op::minimum,    Op::bitwise_or, Op::bitwise_and,
                           Op::negative, Op::bitwise_xor};
  static PyObject* found[std::size(kExact)];
  const auto* row = std::find(std::begin(kExact), std::end(kExact), row_of(ufunc));
  if (row == std::end(kExact)) return nullptr;
  PyObject*& method = found[row - std::begin(kExact)];
  if (!method) {
    const nb::object numpy = nb::module_::import_("numpy");
    const std::string_view name = op_name(*row);
    method = nb::object(numpy.attr(nb::str(name.data(), name.size())).attr("at")).release().ptr();
  }
  return method;
}

}  // namespace

// Of a ufunc: its method.
PyObject* quick_at(const Given& g) {
  if (g.names || g.positional < 3 || operands_of(g.args[0]) == 0) return nullptr;
  PyObject* method = exact_update(g.args[0]);
  if (!method) return nullptr;
  return on_few(method, {g.args + 1, g.positional - 1, nullptr}, Few::Writes);
}

namespace {

// Of a line, or along an axis.
PyObject* running(const Given& g, Op op) {
  PyObject* values[2] = {};
  if (g.positional < 1 || !g.bind({"", "axis"}, values, 2)) return nullptr;
  const Array* a = at_rest(values[0]);
  if (!a || a->ndim() == 0 || a->size() == 0 || (a->dtype != DType::F64 && a->dtype != DType::I64))
    return nullptr;
  const bool flat = !values[1] || values[1] == Py_None;
  const std::optional<int> axis = flat ? 0 : axis_of(values[1], a->ndim(), 0);
  if (!axis || (flat && a->ndim() != 1)) return nullptr;
  mark_line();
  return wrap(accumulate(op, *a, *axis, {}, nullptr));
}

// A limit of float64, which is all that limits such an array as numbers do.
bool is_limit(PyObject* o) { return !o || o == Py_None || PyFloat_CheckExact(o); }

}  // namespace

PyObject* quick_cumsum(const Given& g) { return running(g, Op::add); }
PyObject* quick_cumprod(const Given& g) { return running(g, Op::multiply); }

PyObject* quick_clip(const Given& g) {
  if (g.names || g.positional != 3 || !is_limit(g.args[1]) || !is_limit(g.args[2])) return nullptr;
  const Array* a = at_rest(g.args[0]);
  if (!a || a->dtype != DType::F64 || a->ndim() == 0 ||
      (g.args[1] == Py_None && g.args[2] == Py_None))
    return nullptr;
  mark_line();
  Masked limited;
  const Array* from = a;
  for (int k = 1; k < 3; ++k) {
    if (g.args[k] == Py_None) continue;
    Arg both[2] = {Arg(from), Arg(Scalar::from_float(PyFloat_AsDouble(g.args[k])), DType::F64)};
    both[1].weak = true;
    limited = apply(k == 1 ? Op::maximum : Op::minimum, both);
    from = &limited.full;
  }
  return wrap(std::move(limited));
}

// Of arrays of one shape and type.
PyObject* quick_divmod(const Given& g) {
  if (g.names || g.positional != 2) return nullptr;
  const Array *x = at_rest(g.args[0]), *y = at_rest(g.args[1]);
  if (!x || !y || x->dtype != y->dtype || x->ndim() == 0 || !x->layout->same_shape(*y->layout) ||
      x->base->device != y->base->device)
    return nullptr;
  mark_line();
  const Arg both[2] = {Arg(x), Arg(y)};
  const nb::object quotient = nb::steal(wrap(apply(Op::floor_divide, both)));
  return nb::make_tuple(quotient, nb::steal(wrap(apply(Op::remainder, both)))).release().ptr();
}

// To an array, of what has its type or is a number of Python's that it takes.
PyObject* quick_copyto(const Given& g) {
  if (g.names || g.positional != 2 || !is_array(g.args[0]) || as_masked(g.args[0]).mask)
    return nullptr;
  const Array& to = as_masked(g.args[0]).full;
  if (!to.writeable) return nullptr;
  const Array* from = at_rest(g.args[1]);
  if (from ? from->dtype != to.dtype || from->base->device != to.base->device
           : to.dtype != DType::F64 || !PyFloat_CheckExact(g.args[1]))
    return nullptr;
  mark_line();
  if (from) {
    assign(to, Arg(from));
  } else {
    Arg number(Scalar::from_float(PyFloat_AsDouble(g.args[1])), DType::F64);
    number.weak = true;
    assign(to, number);
  }
  Py_RETURN_NONE;
}

// Of arrays; NumPy's rules for numbers and dtypes are its own.
// A value for each index, of the same type; what is wrong with an index says the function itself.
PyObject* quick_put(const Given& g) {
  if (g.names || g.positional != 3 || !is_array(g.args[0]) || as_masked(g.args[0]).mask)
    return nullptr;
  const Array& to = as_masked(g.args[0]).full;
  const Array *index = at_rest(g.args[1]), *values = at_rest(g.args[2]);
  if (!to.writeable || !index || !values || index->dtype != DType::I64 || index->ndim() != 1 ||
      values->dtype != to.dtype || !values->layout->same_shape(*index->layout) ||
      !to.layout->c_contiguous() || to.size() == 0 || index->size() == 0)
    return nullptr;
  const nb::object line = nb::steal(wrap(reshape(to, {to.size()})));
  if (set_item(line.ptr(), g.args[1], g.args[2]) == 0) Py_RETURN_NONE;
  if (PyErr_ExceptionMatches(PyExc_IndexError)) PyErr_Clear();
  if (PyErr_Occurred()) throw nb::python_error();
  return nullptr;
}

// Of `a.flat`, to another array of its shape and type.
PyObject* quick_set_flat(const Given& g) {
  if (g.names || g.positional != 2 || !is_array(g.args[0]) || as_masked(g.args[0]).mask)
    return nullptr;
  const Array& to = as_masked(g.args[0]).full;
  const Array* from = at_rest(g.args[1]);
  if (!to.writeable || !from || from->dtype != to.dtype || from->base->device != to.base->device ||
      from->base.get() == to.base.get() || !from->base->owned || !to.base->owned ||
      !from->layout->same_shape(*to.layout))
    return nullptr;
  mark_line();
  assign(to, Arg(from));
  Py_RETURN_NONE;
}

PyObject* quick_result_type(const Given& g) {
  if (g.names || g.positional < 1) return nullptr;
  DType t = DType::Bool;
  for (Py_ssize_t k = 0; k < g.positional; ++k) {
    if (!is_array(g.args[k])) return nullptr;
    const Masked& m = as_masked(g.args[k]);
    const Arg both[2] = {Arg(Scalar::from_bool(false), t), Arg(&m.full)};
    t = k ? common_dtype(both) : m.full.dtype;
  }
  PyObject* made = dtype_object(t);
  Py_INCREF(made);
  return made;
}

}  // namespace numbus::bindings
