// Basic indices, and one boolean mask; everything else goes to numbus._indexing.
#include <cstring>

#include "base/error.h"
#include "convert.h"

namespace numbus::bindings {
namespace {

PyObject* hook(const char* name) {
  static nb::object* module = nullptr;
  if (!module) module = new nb::object(nb::module_::import_("numbus._indexing"));
  nb::object f = module->attr(name);
  return f.release().ptr();
}

struct View {
  const Array* a;
  std::vector<int64_t> shape, strides;
  int64_t offset;
  int dim = 0;
  bool scalar = true;  // integers only: the result is an element, not a view
};

[[noreturn]] void out_of_range(int64_t i, int axis, int64_t extent) {
  raise(ErrorKind::Index, "index", "out of bounds for axis " + std::to_string(axis),
        "index " + std::to_string(i),
        "-" + std::to_string(extent) + " to " + std::to_string(extent - 1));
}

int64_t as_index(PyObject* o) {
  int64_t v = PyLong_CheckExact(o) ? PyLong_AsLongLong(o) : PyNumber_AsSsize_t(o, PyExc_IndexError);
  if (v == -1 && PyErr_Occurred()) throw nb::python_error();
  return v;
}

bool is_integer_index(PyObject* o) {
  if (PyLong_CheckExact(o)) return true;
  if (PyBool_Check(o) || is_array(o)) return false;
  if (is_generic(o)) return is_integer(as_generic(o).dtype);
  static PyObject* ndarray = nullptr;
  if (!ndarray) {
    nb::object type = nb::module_::import_("numpy").attr("ndarray");
    ndarray = type.release().ptr();
  }
  return PyIndex_Check(o) && !PyObject_IsInstance(o, ndarray);
}

// Applies one element of an index; false: not a basic index.
bool apply(View& v, PyObject* o, int remaining) {
  const Layout& l = *v.a->layout;
  if (is_integer_index(o)) {
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
    v.shape.push_back(n);
    v.strides.push_back(step * l.stride(v.dim++));
    return true;
  }
  if (o == Py_None) {
    v.scalar = false;
    v.shape.push_back(1);
    v.strides.push_back(0);
    return true;
  }
  if (o == Py_Ellipsis) {
    v.scalar = false;
    for (int skip = l.ndim() - v.dim - remaining; skip > 0; --skip) {
      v.shape.push_back(l.shape(v.dim));
      v.strides.push_back(l.stride(v.dim++));
    }
    return true;
  }
  return false;
}

// The view a basic index selects; false: the index is of another kind.
bool basic_view(const Array& a, PyObject* index, View& v) {
  v.a = &a;
  v.offset = a.offset;
  v.shape.reserve(a.ndim() + 1);
  v.strides.reserve(a.ndim() + 1);
  if (PyTuple_CheckExact(index)) {
    Py_ssize_t n = PyTuple_Size(index);
    int consuming = 0, ellipses = 0;
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* o = PyTuple_GetItem(index, k);
      if (o == Py_Ellipsis)
        ++ellipses;
      else if (o != Py_None)
        ++consuming;
    }
    if (ellipses > 1)
      raise(ErrorKind::Index, "index", "an index can only have a single ellipsis",
            std::to_string(ellipses), "at most one '...'");
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* o = PyTuple_GetItem(index, k);
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
    v.shape.push_back(a.layout->shape(v.dim));
    v.strides.push_back(a.layout->stride(v.dim++));
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
  return mask.dtype == DType::Bool && !mask.mask && mask.ndim() > 0 &&
         mask.layout->same_shape(*a.layout);
}

Array make_view(const View& v) {
  return view_of(*v.a, Layout::get(v.shape, v.strides, itemsize(v.a->dtype)), v.offset);
}

}  // namespace

PyObject* get_item(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    Array& a = as_array(self);
    DeviceOfNew follow(a.base->device);
    Array mask;
    if (a.mask) settle(a);
    if (is_array(index) && is_mask(a, index, mask)) {
      mark_line();
      return wrap(compress(a, mask));
    }
    View v;
    if (!basic_view(a, index, v)) {
      nb::object f = nb::steal(hook("getitem"));
      return f(nb::handle(self), nb::handle(index)).release().ptr();
    }
    if (v.scalar) {
      Generic g;
      g.dtype = a.dtype;
      if (a.base->device->kind() == DeviceKind::Cpu) {
        Runtime::get().materialize(a.base.get(), "element read");
        g.value = load_scalar(a.dtype, a.base->data + v.offset);
        g.known = true;
      } else {
        mark_line();
        g.array = copy(make_view(v), a.dtype, true);
      }
      return wrap_generic(std::move(g));
    }
    return wrap_view(self, make_view(v));
  });
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  PyObject* done = guarded([&]() -> PyObject* {
    if (!value)
      raise(ErrorKind::Value, "del", "array elements cannot be deleted", "del a[...]",
            "an assignment");
    Array& a = as_array(self);
    DeviceOfNew follow(a.base->device);
    if (a.mask) settle(a);
    require_writeable(a, "setitem");
    Operands ops;
    Arg from;
    Array mask;
    if (is_array(index) && is_mask(a, index, mask)) {
      bool ok = ops.convert(value, from);
      if (ok && from.array && from.array->mask) {
        if (from.array->mask == mask_of(mask)) {
          Array full = *from.array;
          full.mask = nullptr;
          Array where = from.array->mask->array;
          Arg whole(&full);
          mark_line();
          assign(a, whole, &where);
          return Py_None;
        }
        settle(const_cast<Array&>(*from.array));
      }
      if (ok && (!from.array || from.array->size() == 1)) {
        Array one;
        if (from.array && from.array->ndim() > 0) {
          one = reshape(*from.array, {});
          from.array = &one;
        }
        mark_line();
        assign(a, from, &mask);
        return Py_None;
      }
      nb::object f = nb::steal(hook("setitem"));
      f(nb::handle(self), nb::handle(index), nb::handle(value));
      return Py_None;
    }
    View v;
    if (!basic_view(a, index, v)) {
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
    if (v.scalar && !from.array && !b->pending() && b->data &&
        b->device->kind() == DeviceKind::Cpu) {
      // Nothing pending: straight to memory.
      if (b->mask) before_write(a), Runtime::get().flush("mask written");
      if (is_complex(a.dtype) || from.scalar.kind != Kind::Complex) {
        store_scalar(from.scalar, a.dtype, b->data + v.offset);
        ++b->version;
        return Py_None;
      }
    }
    mark_line();
    assign(make_view(v), from);
    return Py_None;
  });
  return done ? 0 : -1;
}

}  // namespace numbus::bindings
