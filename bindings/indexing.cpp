// Basic indices, integer arrays, and one boolean mask; everything else goes to
// numbus.core.indexing.
#include <algorithm>
#include <cstring>
#include <optional>

#include "array/at_once_calls.h"
#include "array/capture.h"
#include "array/placement.h"
#include "base/error.h"
#include "convert.h"
#include "errstate.h"
#include "float_errors.h"
#include "numpy_objects.h"
#include "plain_numbers.h"
#include "scalars.h"

namespace numbus::bindings {
namespace {

PyObject* hook(const char* name) {
  static nb::object* module = nullptr;
  if (!module) module = new nb::object(nb::module_::import_("numbus.core.indexing"));
  nb::object f = module->attr(name);
  return f.release().ptr();
}

struct View {
  const Array* a;
  int64_t shape[kMaxDims], strides[kMaxDims];
  size_t ndim = 0;  // of the view
  int64_t offset;
  int dim = 0;         // of the array's, how many have been indexed
  bool scalar = true;  // integers only: the result is an element, not a view
  bool waits = false;  // integers that a capture may not read are index arrays without axes

  void add(int64_t extent, int64_t stride) {
    if (ndim == kMaxDims)
      raise(ErrorKind::Index, "index", "too many dimensions", "more",
            "at most " + std::to_string(kMaxDims));
    shape[ndim] = extent;
    strides[ndim++] = stride;
  }
  // The next axis of the array as it is.
  void keep_axis() {
    add(a->layout->shape(dim), a->layout->stride(dim));
    ++dim;
  }
};

[[noreturn]] void out_of_range(int64_t i, int axis, int64_t extent) {
  raise(ErrorKind::Index, "index", "out of bounds for axis " + std::to_string(axis),
        "index " + std::to_string(i),
        "-" + std::to_string(extent) + " to " + std::to_string(extent - 1));
}

int64_t as_index(PyObject* o) {
  int64_t v;
  if (plain_index(o, v)) return v;
  v = PyNumber_AsSsize_t(o, PyExc_IndexError);
  if (v == -1 && PyErr_Occurred()) throw nb::python_error();
  return v;
}

bool is_integer_index(PyObject* o) {
  if (PyLong_CheckExact(o)) return true;
  if (auto t = numpy_scalar_dtype(Py_TYPE(o))) return is_integer(*t);
  if (PyBool_Check(o) || is_array(o)) return false;
  if (is_generic(o)) return is_integer(as_generic(o).dtype);
  static PyObject* ndarray = nullptr;
  if (!ndarray) {
    nb::object type = nb::module_::import_("numpy").attr("ndarray");
    ndarray = type.release().ptr();
  }
  return PyIndex_Check(o) && !PyObject_IsInstance(o, ndarray);
}

// An integer of an array's, which is to be used unseen.
bool is_unseen(PyObject* o) {
  if (!capture_now) return false;
  if (is_generic(o)) return !as_generic(o).known && is_integer(as_generic(o).dtype);
  return is_array(o) && as_array(o).ndim() == 0 && is_integer(as_array(o).dtype);
}

// Whether an index chooses one element: nothing can be written to it by way of the result.
bool chooses_element(const Array& a, PyObject* index) {
  if (!PyTuple_CheckExact(index)) return a.ndim() == 1 && is_unseen(index);
  if (tuple_size(index) != a.ndim()) return false;
  for (Py_ssize_t k = 0; k < tuple_size(index); ++k)
    if (PyObject* o = tuple_item(index, k); !is_unseen(o) && !is_integer_index(o)) return false;
  return true;
}

// Applies one element of an index; false: not a basic index.
bool apply(View& v, PyObject* o, int remaining) {
  const Layout& l = *v.a->layout;
  if (v.waits && is_unseen(o)) return false;
  const bool other = PySlice_Check(o) || o == Py_None || o == Py_Ellipsis;
  if (!other && is_integer_index(o)) {
    if (v.dim >= l.ndim()) {
      raise(ErrorKind::Index, "index", "too many indices", std::to_string(v.dim + 1),
            "at most " + std::to_string(l.ndim()));
    }
    int64_t n = l.shape(v.dim), i = as_index(o), at = i < 0 ? i + n : i;
    if (at < 0 || at >= n) out_of_range(i, v.dim, n);
    v.offset += at * l.stride(v.dim++);
    return true;
  }
  if (PySlice_Check(o)) {
    v.scalar = false;
    if (v.dim >= l.ndim()) {
      raise(ErrorKind::Index, "index", "too many indices", std::to_string(v.dim + 1),
            "at most " + std::to_string(l.ndim()));
    }
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) != 0) throw nb::python_error();
    int64_t n = PySlice_AdjustIndices(l.shape(v.dim), &start, &stop, step);
    if (n > 0) v.offset += start * l.stride(v.dim);
    v.add(n, step * l.stride(v.dim));
    ++v.dim;
    return true;
  }
  if (o == Py_None) {
    v.scalar = false;
    v.add(1, 0);
    return true;
  }
  if (o == Py_Ellipsis) {
    v.scalar = false;
    for (int skip = l.ndim() - v.dim - remaining; skip > 0; --skip) v.keep_axis();
    return true;
  }
  return false;
}

// The view a basic index selects; false: the index is of another kind.
bool basic_view(const Array& a, PyObject* index, View& v) {
  v.a = &a;
  v.offset = a.offset;
  if (PyTuple_CheckExact(index)) {
    Py_ssize_t n = tuple_size(index);
    int consuming = 0, ellipses = 0;
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* o = tuple_item(index, k);
      if (o == Py_Ellipsis)
        ++ellipses;
      else if (o != Py_None)
        ++consuming;
    }
    if (ellipses > 1)
      raise(ErrorKind::Index, "index", "an index can only have a single ellipsis",
            std::to_string(ellipses), "at most one '...'");
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* o = tuple_item(index, k);
      if (o == Py_Ellipsis) {
        if (!apply(v, o, consuming)) return false;
      } else {
        if (o != Py_None) --consuming;
        if (!apply(v, o, 0)) return false;
      }
    }
  } else if (!apply(v, index, 0)) {
    return false;
  }
  while (v.dim < a.ndim()) {
    v.scalar = false;
    v.keep_axis();
  }
  return true;
}

// A boolean array of the indexed array's own shape.
bool is_mask(const Array& a, PyObject* index, Array& mask) {
  if (is_array(index)) {
    mask = as_array(index);
  } else {
    return false;
  }
  return mask.dtype == DType::Bool && mask.ndim() > 0 && mask.layout->same_shape(*a.layout);
}

Array make_view(const View& v) {
  return view_of(*v.a, Layout::get({v.shape, v.ndim}, {v.strides, v.ndim}, itemsize(v.a->dtype)),
                 v.offset);
}

// A list of plain integers, on the device that it indexes.
std::optional<Array> integers_of(PyObject* list, Device& device) {
  int64_t n = PyList_Size(list);
  if (n == 0) return std::nullopt;
  for (int64_t k = 0; k < n; ++k)
    if (!PyLong_CheckExact(PyList_GetItem(list, k))) return std::nullopt;
  Array made = empty({&n, 1}, DType::I64, &cpu_device());
  made.base->ensure_data();
  auto* to = reinterpret_cast<int64_t*>(made.base->data);
  for (int64_t k = 0; k < n; ++k) to[k] = as_index(PyList_GetItem(list, k));
  return to_device(made, device);
}

// A copy of one of NumPy's arrays of integers.
std::optional<Array> integers_of_numpy(PyObject* o, Device& device) {
  const std::vector<PyObject*>& plain = plain_array_types();
  if (std::find(plain.begin(), plain.end(), reinterpret_cast<PyObject*>(Py_TYPE(o))) == plain.end())
    return std::nullopt;
  Py_buffer view;
  if (PyObject_GetBuffer(o, &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  auto t = from_format(view.format, view.itemsize);
  PyBuffer_Release(&view);
  if (!t || !is_integer(*t)) return std::nullopt;
  return import_numpy(o, true, false, &device);
}

// Integer arrays among basic indices, as gather() and scatter() take them.
struct Advanced {
  View view;
  uint64_t axes = 0;
  std::vector<Array> index;
  int first_axis = 0;
};

// Nothing where NumPy, or numbus.core.indexing, has to sort it out.
std::optional<Advanced> advanced(const Array& a, PyObject* index, bool waits) {
  constexpr size_t kMost = 3;  // index arrays of a gather
  Py_ssize_t n = 1;
  bool tuple = PyTuple_CheckExact(index);
  if (tuple) n = tuple_size(index);
  auto item = [&](Py_ssize_t k) { return tuple ? tuple_item(index, k) : index; };
  int consuming = 0, ellipses = 0;
  for (Py_ssize_t k = 0; k < n; ++k)
    (item(k) == Py_Ellipsis ? ellipses : consuming) += item(k) != Py_None;
  if (ellipses > 1 || consuming > a.ndim()) return std::nullopt;
  Advanced found;
  View& v = found.view;
  v.a = &a;
  v.offset = a.offset;
  // Integers count with the arrays: side by side their shape stays in place, apart it comes first.
  bool chosen = false, apart = false, together = true;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* o = item(k);
    nb::object number;
    std::optional<Array> array;
    if (waits && is_unseen(o)) {
      array = is_array(o) ? as_array(o) : array_of(as_generic(o));
    } else if (is_array(o)) {
      Array& x = as_array(o);
      if (!is_integer(x.dtype)) return std::nullopt;
      if (x.ndim() > 0)
        array = x;
      else
        number = nb::steal(python_number(read_element(x, 0)));
    } else if (PyList_CheckExact(o)) {
      array = integers_of(o, *a.base->device);
      if (!array) return std::nullopt;
    } else {
      array = integers_of_numpy(o, *a.base->device);
      if (array && array->ndim() == 0) return std::nullopt;
    }
    const size_t before = v.ndim;
    if (array) {
      if (found.index.size() == kMost) return std::nullopt;
      found.axes |= uint64_t{1} << before;
      found.index.push_back(std::move(*array));
      v.keep_axis();
    } else if (!apply(v, number.is_valid() ? number.ptr() : o, consuming)) {
      return std::nullopt;
    }
    if (o != Py_None && o != Py_Ellipsis) --consuming;
    // An ellipsis keeps arrays apart, also where it stands for no axis.
    if (array || (v.ndim == before && o != Py_Ellipsis)) {
      together = together && !apart;
      if (!chosen) found.first_axis = static_cast<int>(before);
      chosen = true;
    } else {
      apart = chosen;
    }
  }
  if (found.index.empty()) return std::nullopt;
  if (!together) found.first_axis = 0;
  while (v.dim < a.ndim()) {
    v.keep_axis();
  }
  return found;
}

}  // namespace

namespace {

// One element, of which a CPU's memory has the value.
PyObject* element(const Array& a, int64_t offset) {
  if (placement::on) {
    Runtime::get().materialize_anywhere(a.base.get(), "element read");
    placement::is_read(a);
  }
  if (!observer() && a.base->device->host_readable()) {
    Runtime::get().materialize(a.base.get(), "element read");
    return scalar_of(a.dtype, a.base->data + offset);
  }
  Generic g;
  g.dtype = a.dtype;
  mark_line();
  g.array = copy(view_of(a, Layout::get({}, {}, itemsize(a.dtype)), offset), a.dtype, true);
  return wrap_generic(std::move(g));
}

}  // namespace

namespace {

// Where a CPU's memory has the element that plain numbers choose, with nothing pending; null: more
// has to be looked at, or said.
char* element_now(const Masked& m, PyObject* index) {
  const Array& a = m.full;
  const Base& b = *a.base.get();
  if (m.mask || b.pending() || b.failure || !b.data || !b.device->host_readable() || observer())
    return nullptr;
  const Layout& l = *a.layout;
  int64_t offset = a.offset;
  auto step = [&](PyObject* o, int d) {
    int64_t i;
    if (!plain_index(o, i)) return false;
    const int64_t n = l.shape(d);
    if (i < 0) i += n;
    offset += i * l.stride(d);
    return i >= 0 && i < n;
  };
  if (!PyTuple_CheckExact(index))
    return l.ndim() == 1 && step(index, 0) ? b.data + offset : nullptr;
  if (tuple_size(index) != l.ndim()) return nullptr;
  for (int d = 0; d < l.ndim(); ++d)
    if (!step(tuple_item(index, d), d)) return nullptr;
  return b.data + offset;
}

// A number stored as it is; false: it has to be converted, or refused.
bool store_now(PyObject* value, DType t, char* to) {
  PlainNumber n;
  if (t == DType::F64 && n.read(value)) {
    std::memcpy(to, &n.f, sizeof(n.f));
    return true;
  }
  if (t == DType::I64 && n.read(value) && n.whole) {
    std::memcpy(to, &n.i, sizeof(n.i));
    return true;
  }
  return false;
}

}  // namespace

PyObject* get_element(PyObject* self, Py_ssize_t index) {
  return guarded([&]() -> PyObject* {
    Array& a = as_array(self);
    if (a.ndim() == 0) raise(ErrorKind::Index, "index", "too many indices", "1", "at most 0");
    const Layout& l = *a.layout;
    int64_t n = l.shape(0);
    if (index < 0 || index >= n) {
      // How an iterator ends: exceptions of C++ would take longer than many elements.
      PyErr_Format(PyExc_IndexError,
                   "[index] out of bounds for axis 0; got index %zd; expected 0 to %zd", index,
                   static_cast<Py_ssize_t>(n - 1));
      return nullptr;
    }
    int64_t offset = a.offset + index * l.stride(0);
    if (l.ndim() == 1) return element(a, offset);
    size_t rest = static_cast<size_t>(l.ndim() - 1);
    return wrap_view(
        self, view_of(a, Layout::get({l.shape() + 1, rest}, {l.strides() + 1, rest}, l.itemsize()),
                      offset));
  });
}

namespace {

// `constant`: nobody writes to the array, so that a part of it may be a copy.
PyObject* part_of(PyObject* self, PyObject* index, bool constant) {
  if (const char* at = element_now(as_masked(self), index))
    return guarded([&] { return scalar_of(as_masked(self).full.dtype, at); });
  return guarded([&]() -> PyObject* {
    Array& a = as_array(self);
    DeviceOfNew follow(a.base->device);
    Array mask;
    if (is_array(index) && is_mask(a, index, mask)) {
      mark_line();
      return wrap(compress(a, mask));
    }
    if (is_array(index) && !as_masked(index).mask)
      if (std::optional<Array> taken = take_at_once(a, 0, as_masked(index).full))
        return wrap(std::move(*taken));
    View v;
    v.waits = capture_now && (constant || chooses_element(a, index));
    if (!basic_view(a, index, v)) {
      if (auto f = advanced(a, index, v.waits)) {
        mark_line();
        Array made = gather(make_view(f->view), f->axes, f->index, f->first_axis);
        return made.ndim() ? wrap(std::move(made)) : wrap_result(Masked(std::move(made)));
      }
      nb::object f = nb::steal(hook("getitem"));
      return f(nb::handle(self), nb::handle(index)).release().ptr();
    }
    if (v.scalar) return element(a, v.offset);
    return wrap_view(self, make_view(v));
  });
}

}  // namespace

PyObject* get_item(PyObject* self, PyObject* index) { return part_of(self, index, false); }

namespace {

int assign_item(PyObject* self, PyObject* index, PyObject* value) {
  PyObject* done = guarded([&]() -> PyObject* {
    if (!value)
      raise(ErrorKind::Value, "del", "array elements cannot be deleted", "del a[...]",
            "an assignment");
    Array& a = as_array(self);
    DeviceOfNew follow(a.base->device);
    require_writeable(a, "setitem");
    Operands ops;
    Arg from;
    Array mask;
    if (is_array(index) && is_mask(a, index, mask)) {
      mark_line();
      if (ops.convert(value, from) && assign_where(a, mask, from)) return Py_None;
      nb::object f = nb::steal(hook("setitem"));
      f(nb::handle(self), nb::handle(index), nb::handle(value));
      return Py_None;
    }
    if (is_array(index) && !as_masked(index).mask && ops.convert(value, from)) {
      require_value(from, a.dtype, "setitem");
      if (put_at_once(a, 0, as_masked(index).full, from)) return Py_None;
      from = Arg();
    }
    View v;
    v.waits = capture_now;
    if (!basic_view(a, index, v)) {
      if (auto f = advanced(a, index, v.waits); f && ops.convert(value, from)) {
        mark_line();
        scatter(make_view(f->view), f->axes, f->index, f->first_axis, from);
        return Py_None;
      }
      nb::object f = nb::steal(hook("setitem"));
      f(nb::handle(self), nb::handle(index), nb::handle(value));
      return Py_None;
    }
    if (!ops.convert(value, from)) {  // text, None, objects: what NumPy can make of them
      nb::object f = nb::steal(hook("setitem"));
      f(nb::handle(self), nb::handle(index), nb::handle(value));
      return Py_None;
    }
    require_number(value, from, a.dtype, "setitem");
    Base* b = a.base.get();
    if (v.scalar && !from.is_array() && !b->pending() && b->data && b->device->host_readable() &&
        !observer()) {
      // Nothing pending: straight to memory.
      if (b->mask) keep_mask(*b), Recorder::of(*b->device).flush("mask written");
      if (is_complex(a.dtype) || from.scalar.kind != Kind::Complex) {
        store_scalar(from.scalar, a.dtype, b->data + v.offset);
        b->changed();
        return Py_None;
      }
    }
    mark_line();
    assign(make_view(v), from);
    return Py_None;
  });
  return done ? 0 : -1;
}

}  // namespace

namespace {
bool takes_arrays(PyObject* index) {
  if (!PyTuple_Check(index)) return is_array(index) || PyList_Check(index);
  const Py_ssize_t n = PyTuple_Size(index);
  for (Py_ssize_t k = 0; k < n; ++k)
    if (is_array(PyTuple_GetItem(index, k)) || PyList_Check(PyTuple_GetItem(index, k))) return true;
  return false;
}
}  // namespace

void warn_of_complex(PyObject* number, DType to) {
  if (!float_errors::state.warned || is_complex(to) || to == DType::Bool || is_array(number))
    return;
  const auto from = numpy_scalar_dtype(Py_TYPE(number));
  if (from && is_complex(*from)) float_errors::add_complex(line_of_caller());
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  const Array& a = as_masked(self).full;
  if (value && a.writeable && !a.base->mask)
    if (char* at = element_now(as_masked(self), index); at && store_now(value, a.dtype, at)) {
      a.base->changed();
      return 0;
    }
  // Elements of another type are cast, of which NumPy warns.
  follow_errstate();
  const DType to = a.dtype;
  if (value) warn_of_complex(value, to);
  if (!value || !is_array(value) || as_masked(value).full.dtype == to)
    return assign_item(self, index, value);
  const Examined here(true, true);
  const DType from = as_masked(value).full.dtype;
  if (float_errors::state.told && is_complex(from) && !is_complex(to) && to != DType::Bool)
    float_errors::add_complex(line_of_caller());
  // Elements at indices are cast before they are scattered: that is where NumPy may warn.
  nb::object cast;
  if (float_errors::state.told && is_inexact(from) && to != DType::Bool && takes_arrays(index)) {
    PyObject* made = guarded([&] {
      mark_line();
      return wrap(copy(Arg(&as_masked(value)), to));
    });
    if (!made) return -1;
    cast = nb::steal(made);
  }
  const int done = assign_item(self, index, cast.is_valid() ? cast.ptr() : value);
  if (done != 0 || !here.raised()) return done;
  Py_INCREF(Py_None);
  PyObject* told =
      warned(Py_None, "warn_cast", nb::make_tuple(nb::handle(value), nb::handle(dtype_object(to))));
  Py_XDECREF(told);
  return told ? 0 : -1;
}

void bind_indexing(nb::module_& m) {
  m.def(
      "flatnonzero",
      [](nb::handle mask) {
        mark_line();
        const Array m = to_array(mask.ptr());
        if (m.dtype != DType::Bool || m.ndim() != 1)
          raise(ErrorKind::Type, "flatnonzero", "not a line of booleans",
                std::to_string(m.ndim()) + "-d " + std::string(name(m.dtype)), "1-d bool");
        return nb::steal(wrap(flatnonzero(m)));
      },
      nb::arg("mask"), "The indices, int64, at which a line of booleans holds.");
  m.def(
      "part_of_constant",
      [](nb::handle a, nb::handle index) { return nb::steal(part_of(a.ptr(), index.ptr(), true)); },
      "a[index] of an array that nobody writes to.");
  m.def(
      "advanced",
      [](nb::object o, nb::object index) -> nb::object {
        Array& a = as_array(o.ptr());
        auto f = advanced(a, index.ptr(), false);
        if (!f) return nb::none();
        nb::list arrays;
        for (Array& x : f->index) arrays.append(nb::steal(wrap(std::move(x))));
        return nb::make_tuple(nb::steal(wrap_view(o.ptr(), make_view(f->view))), f->axes, arrays,
                              f->first_axis);
      },
      nb::arg("a"), nb::arg("index"),
      "(view, axes, arrays, place) for gather() and scatter(): the integer arrays of an index, "
      "which stand for `axes` (bits) of a view of `a`, their shared shape at `place` among the "
      "other axes. None where there are none, more than three, or anything else in the index.");
}

}  // namespace numbus::bindings
