// `a.flat` where a CPU's memory has the elements: iteration, elements, slices. All else is
// Python's, a subclass of this in numbus/core/flat.py.
#include <cstddef>

#include <structmember.h>

#include "array/placement.h"
#include "plain_numbers.h"
#include "quick.h"
#include "scalars.h"

namespace numbus::bindings {
namespace {

struct Flat {
  PyObject_HEAD;
  PyObject* base;  // an ndarray
  int64_t at;      // of the next element
};
Flat& as_flat(PyObject* o) { return *reinterpret_cast<Flat*>(o); }

// The bytes from the first element to the one of that number, in C order.
int64_t offset_of(const Layout& l, int64_t at) {
  if (l.c_contiguous()) return at * l.itemsize();
  int64_t offset = 0;
  for (int d = l.ndim() - 1; d >= 0; --d) {
    offset += at % l.shape(d) * l.stride(d);
    at /= l.shape(d);
  }
  return offset;
}

// The element of that number, which is in range.
PyObject* element(PyObject* self, int64_t at) {
  const Masked& m = as_masked(as_flat(self).base);
  const Base& known = *m.full.base.get();
  // What materialize() would ask is asked here: each question is 2 of 20 ns.
  const bool rests = !m.mask && !known.pending() && !known.failure && known.data;
  if (rests && known.device->host_readable() && !observer())
    return scalar_of(m.full.dtype, known.data + m.full.offset + offset_of(*m.full.layout, at));
  const Array& a = as_array(as_flat(self).base);
  if (placement::on || observer() || !a.base->device->host_readable())
    return nb::handle(self).attr("_elsewhere")(at).release().ptr();
  Runtime::get().materialize(a.base.get(), "element read");
  return scalar_of(a.dtype, a.base->data + a.offset + offset_of(*a.layout, at));
}

int64_t size_of(PyObject* self) { return as_array(as_flat(self).base).size(); }

PyObject* next(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (as_flat(self).at >= size_of(self)) return nullptr;
    return element(self, as_flat(self).at++);
  });
}

Py_ssize_t length(PyObject* self) {
  return as_flat(self).base ? static_cast<Py_ssize_t>(size_of(self)) : 0;
}

// The array as one line of the same memory; nothing where its elements are elsewhere or apart.
std::optional<Array> line_of(PyObject* self) {
  const Array& a = as_array(as_flat(self).base);
  if (!a.layout->c_contiguous() || !a.base->device->host_readable()) return {};
  return reshape_view(a, {a.size()});
}

// An index in range, from the end where it is negative.
bool position(PyObject* index, int64_t size, int64_t& at) {
  if (!plain_index(index, at)) return false;
  if (at < 0) at += size;
  return at >= 0 && at < size;
}

PyObject* get(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    int64_t at;
    if (position(index, size_of(self), at)) return element(self, at);
    const bool indices = is_array(index) && is_integer(as_masked(index).full.dtype);
    if (indices || PySlice_Check(index))
      if (std::optional<Array> line = line_of(self)) {
        if (!indices) {
          Py_ssize_t start, stop, step;
          if (PySlice_Unpack(index, &start, &stop, &step) != 0) throw nb::python_error();
          const int64_t n = PySlice_AdjustIndices(line->size(), &start, &stop, step);
          const int64_t size = line->layout->itemsize(), stride = step * size;
          const Array part =
              view_of(*line, Layout::get({&n, 1}, {&stride, 1}, line->layout->itemsize()),
                      line->offset + start * size);
          mark_line();
          return wrap(copy(part, part.dtype, true));
        }
        const nb::object all = nb::steal(wrap(std::move(*line)));
        nb::object part = nb::steal(get_item(all.ptr(), index));
        if (!part.is_valid()) throw nb::python_error();
        return part.release().ptr();
      }
    return nb::handle(self).attr("_get")(nb::handle(index)).release().ptr();
  });
}

// Whether an array of as many elements, of the same type, is stored at that index of a line.
bool is_alike(const Array& line, PyObject* index, PyObject* value) {
  if (!is_array(value) || as_masked(value).mask) return false;
  const Array& x = as_masked(value).full;
  // NumPy copies one element after the other, also where they overlap.
  if (x.base.get() == line.base.get() || !x.base->owned) return false;
  if (x.ndim() != 1 || x.dtype != line.dtype || x.base->device != line.base->device) return false;
  if (PySlice_Check(index)) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(index, &start, &stop, &step) != 0) throw nb::python_error();
    return PySlice_AdjustIndices(line.size(), &start, &stop, step) == x.size();
  }
  return is_array(index) && as_masked(index).ndim() == 1 && as_array(index).size() == x.size();
}

int set(PyObject* self, PyObject* index, PyObject* value) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "[flat] elements stay; got del; expected an assignment");
    return -1;
  }
  PyObject* done = guarded([&]() -> PyObject* {
    int64_t at;
    const bool one = position(index, size_of(self), at);
    const bool indices = is_array(index) && is_integer(as_masked(index).full.dtype);
    PlainNumber number;
    if (one || indices || PySlice_Check(index))
      if (std::optional<Array> line = line_of(self)) {
        if (number.read(value) || (!one && is_alike(*line, index, value))) {
          const nb::object all = nb::steal(wrap(std::move(*line)));
          if (set_item(all.ptr(), index, value) == 0) return Py_None;
          PyErr_Clear();  // NumPy says below what is wrong
        }
      }
    nb::handle(self).attr("_set")(nb::handle(index), nb::handle(value));
    return Py_None;
  });
  return done ? 0 : -1;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* base = nullptr;
    if (!PyArg_ParseTuple(args, "O", &base)) throw nb::python_error();
    if (!is_array(base))
      raise(ErrorKind::Type, "flat", "no array",
            nb::cast<std::string>(nb::handle(base).type().attr("__name__")), "an ndarray");
    PyObject* made = PyType_GenericAlloc(type, 0);
    if (!made) throw nb::python_error();
    Py_INCREF(base);
    as_flat(made).base = base;
    return made;
  });
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(as_flat(o).base);
  return 0;
}
int clear(PyObject* o) {
  Py_CLEAR(as_flat(o).base);
  return 0;
}

PyObject* itself(PyObject* self) {
  Py_INCREF(self);
  return self;
}

PyMemberDef members[] = {
    {"base", T_OBJECT, offsetof(Flat, base), READONLY, "The array."},
    {"index", T_LONGLONG, offsetof(Flat, at), READONLY, "Position of the next element."},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_iter, reinterpret_cast<void*>(itself)},
                       {Py_tp_iternext, reinterpret_cast<void*>(next)},
                       {Py_mp_length, reinterpret_cast<void*>(length)},
                       {Py_mp_subscript, reinterpret_cast<void*>(get)},
                       {Py_mp_ass_subscript, reinterpret_cast<void*>(set)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy_collected<clear>)},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"numbus._core.flatiter", sizeof(Flat), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

void bind_flat(nb::module_& m) {
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  m.attr("flatiter") = nb::steal(type);
}

}  // namespace numbus::bindings
