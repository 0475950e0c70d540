// The Python classes ndarray and generic: properties and simple methods.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "convert.h"
#include "program/program.h"
#include "quick.h"

namespace numbus::bindings {
namespace {

// While it lives, a program may read numbers that depend on what is differentiated; functions of
// this package may not, as the derivative would be lost.
class ReadByUser {
 public:
  ReadByUser() {
    if (observer() && !called_from_package()) constants_.emplace();
  }

 private:
  std::optional<program::Constants> constants_;
};

}  // namespace

namespace {

nb::object to_tuple(std::span<const int64_t> v) {
  nb::object t = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(v.size())));
  for (size_t i = 0; i < v.size(); ++i)
    PyTuple_SetItem(t.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(v[i]));
  return t;
}

std::vector<int> in_order(int n, bool reversed) {
  std::vector<int> axes(n);
  for (int d = 0; d < n; ++d) axes[d] = reversed ? n - 1 - d : d;
  return axes;
}

// Gives the warnings of what was carried out to know a shape.
int64_t told(int64_t n) {
  if (float_errors::any_found && !tell_findings(Py_None)) throw nb::python_error();
  return n;
}

// What a read gives, after the warnings of what was carried out for it.
nb::object taken(PyObject* o) {
  if (float_errors::any_found) o = tell_findings(o);
  if (!o) throw nb::python_error();
  return nb::steal(o);
}

// The axes from the longest stride to the shortest; axes of equal strides stay in order.
std::vector<int> memory_order(const Array& a) {
  std::vector<int> axes = in_order(a.ndim(), false);
  std::stable_sort(axes.begin(), axes.end(), [&](int x, int y) {
    return std::abs(a.layout->stride(x)) > std::abs(a.layout->stride(y));
  });
  return axes;
}

nb::object transposed(nb::handle self, nb::handle args) {
  Array& a = nb::cast<Array&>(self);
  std::vector<int> axes = in_order(a.ndim(), true);
  if (args.is_valid() && nb::len(args) > 0 && !(nb::len(args) == 1 && args[0].is_none())) {
    nb::object given = nb::len(args) == 1 && !PyIndex_Check(nb::object(args[0]).ptr())
                           ? nb::object(args[0])
                           : nb::borrow(args);
    std::vector<int64_t> order = to_shape(given.ptr());
    if (static_cast<int>(order.size()) != a.ndim())
      raise(ErrorKind::Value, "transpose", "axes do not match the array",
            std::to_string(order.size()) + " axes", std::to_string(a.ndim()));
    std::vector<char> seen(order.size(), 0);
    for (size_t d = 0; d < order.size(); ++d) {
      int64_t x = order[d] < 0 ? order[d] + a.ndim() : order[d];
      if (x < 0 || x >= a.ndim())
        raise(ErrorKind::Axis, "transpose", "axis out of bounds", std::to_string(order[d]),
              "below " + std::to_string(a.ndim()));
      if (seen[x]++)
        raise(ErrorKind::Value, "transpose", "repeated axis", std::to_string(order[d]),
              "each axis once");
      axes[d] = static_cast<int>(x);
    }
  }
  return taken(wrap_view(self.ptr(), transpose(a, axes)));
}

// In place: only where the same memory can be seen that way.
void set_shape(Array& a, std::vector<int64_t> shape) {
  auto v = reshape_view(a, shape);
  if (!v) {
    PyErr_SetString(PyExc_AttributeError,
                    ("[shape] the array cannot take this shape in place; got " +
                     shape_string(shape) + "; expected a shape that needs no copy (see reshape)")
                        .c_str());
    throw nb::python_error();
  }
  a.layout = v->layout;
}

void set_strides(Array& a, const std::vector<int64_t>& strides) {
  if (static_cast<int>(strides.size()) != a.ndim())
    raise(ErrorKind::Value, "strides", "wrong number of strides", std::to_string(strides.size()),
          std::to_string(a.ndim()));
  LayoutRef l(Layout::get(a.shape(), strides, itemsize(a.dtype)));
  if (l->size() > 0 && (a.offset + l->low() < 0 || a.offset + l->high() > a.base->nbytes))
    raise(ErrorKind::Value, "strides", "strides reach outside the storage", shape_string(strides),
          "strides within the array's memory");
  a.layout = l;
}

Array retyped(const Array& a, DType t) {
  Array v = view_as(a, t);
  v.owns = a.owns;
  v.origin = a.origin;
  return v;
}

// A part of a value still to be computed, without waiting for it.
nb::object part_of(Generic& s, bool imaginary) {
  Generic r;
  r.dtype = real_of(s.dtype);
  if (is_complex(s.dtype)) {
    mark_line();
    r.array = copy(part(s.array, imaginary), r.dtype, true);
  } else if (imaginary) {
    r.known = true;
    r.value = is_inexact(s.dtype) ? Scalar::from_float(0) : Scalar::from_int(0);
  } else {
    r.array = s.array;
  }
  return taken(wrap_generic(std::move(r)));
}

PyObject* number_at(DType t, const char* at) {
  if (t != DType::F64) return python_number(load_scalar(t, at));
  double value;
  std::memcpy(&value, at, sizeof(value));
  return PyFloat_FromDouble(value);
}

// The elements from `axis` on as nested lists.
nb::object nested(const Layout& l, DType t, const char* at, int axis) {
  nb::object made = nb::steal(axis == l.ndim() ? number_at(t, at) : PyList_New(l.shape(axis)));
  if (!made.is_valid()) throw nb::python_error();
  if (axis == l.ndim()) return made;
  for (int64_t k = 0; k < l.shape(axis); ++k)
    PyList_SetItem(made.ptr(), k, nested(l, t, at + k * l.stride(axis), axis + 1).release().ptr());
  return made;
}

// What nanobind does for classes with attributes: taken from one that adds nothing to it.
traverseproc traverse_attributes = nullptr;
inquiry clear_attributes = nullptr;

}  // namespace

namespace {

PyObject* get_transposed(PyObject* self, void*) {
  return guarded([&] {
    if (PyObject* view = quick_transpose({&self, 1, nullptr})) return view;
    return transposed(self, {}).release().ptr();
  });
}

PyObject* get_real(PyObject* self, void*) {
  return guarded([&] {
    if (is_complex(as_masked(self).full.dtype)) return wrap_view(self, part(as_array(self), false));
    Py_INCREF(self);
    return self;
  });
}

PyObject* get_imag(PyObject* self, void*) {
  return guarded([&] {
    const Array& a = as_array(self);
    if (is_complex(a.dtype)) return wrap_view(self, part(a, true));
    DeviceOfNew follow(a.base->device);
    Array zeros = full(a.shape(), a.dtype, Scalar::from_int(0));
    // As NumPy's, whose first axis lies closest where that of the array does.
    if (a.layout->f_contiguous() && !a.layout->c_contiguous()) {
      std::vector<int> outer_first(static_cast<size_t>(a.ndim()));
      std::iota(outer_first.rbegin(), outer_first.rend(), 0);
      zeros.layout = LayoutRef(dense_layout(a.shape(), outer_first, itemsize(a.dtype)));
    }
    zeros.writeable = false;
    return wrap(std::move(zeros));
  });
}

}  // namespace

// The other properties are bound below, which costs a call twice as much.
PyGetSetDef array_properties[] = {
    {"T", get_transposed, nullptr, "View with the dimensions reversed.", nullptr},
    {"real", get_real, nullptr, "View of the real parts.", nullptr},
    {"imag", get_imag, nullptr, "View of the imaginary parts; of a real array, read-only zeros.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

bool has_order(const Array& a, char order) {
  if (order == 'A') return a.layout->c_contiguous() || a.layout->f_contiguous();
  return order == 'K' || (order == 'F' ? a.layout->f_contiguous() : a.layout->c_contiguous());
}

Array copy_in_order(const Array& a, DType to, char order) {
  bool f = order == 'F' || (order == 'A' && a.layout->f_contiguous() && !a.layout->c_contiguous());
  if (!f) return copy(a, to, order != 'K');
  std::vector<int> reversed = in_order(a.ndim(), true);
  return on_its_own(transpose(copy(transpose(a, reversed), to, true), reversed));
}

Array on_its_own(Array view) {
  view.owns = true;
  view.origin = nullptr;
  return view;
}

int traverse_array(PyObject* o, visitproc visit, void* arg) {
  // An origin that a copy of the array in the core shares is held from outside, too.
  if (nb::inst_ready(o) && as_masked(o).full.origin.use_count() == 1)
    Py_VISIT(static_cast<PyObject*>(as_masked(o).full.origin.get()));
  return traverse_attributes ? traverse_attributes(o, visit, arg) : 0;
}

int clear_array(PyObject* o) {
  if (nb::inst_ready(o)) auto last = std::move(as_masked(o).full.origin);
  return clear_attributes ? clear_attributes(o) : 0;
}

void bind_arrays(nb::module_& m) {
  auto cls = nb::class_<Masked>(m, "ndarray", nb::type_slots(array_slots), nb::dynamic_attr(),
                                nb::is_weak_referenceable(),
                                "A typed, strided view of memory on a device. Operations are "
                                "recorded and fused; values are there when read.");
  array_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  auto get = [&](const char* name, auto f, const char* doc) { cls.def_prop_ro(name, f, doc); };
  cls.def_prop_rw(
      "shape", [](Array& a) { return taken(to_tuple(a.shape()).release().ptr()); },
      [](Array& a, nb::object shape) { set_shape(a, to_shape(shape.ptr())); },
      "Extents, one per dimension. May be assigned to where that takes no copy.");
  cls.def_prop_rw(
      "strides",
      [](Array& a) { return to_tuple({a.layout->strides(), static_cast<size_t>(a.ndim())}); },
      [](Array& a, nb::object strides) { set_strides(a, to_shape(strides.ptr())); },
      "Bytes between neighbours, one per dimension.");
  cls.def_prop_rw(
      "dtype", [](Masked& m) { return nb::borrow(dtype_object(m.full.dtype)); },
      [](Array& a, nb::object t) { a = retyped(a, to_dtype(t.ptr())); },
      "Element type, a numpy.dtype.");
  get("ndim", [](Masked& m) { return m.ndim(); }, "Number of dimensions.");
  get("size", [](Array& a) { return told(a.size()); }, "Number of elements.");
  get("itemsize", [](Masked& m) { return itemsize(m.full.dtype); }, "Bytes per element.");
  get(
      "nbytes", [](Array& a) { return told(a.size() * itemsize(a.dtype)); },
      "Bytes of all elements.");
  get("_writeable", [](Array& a) { return a.writeable; }, "");
  get("_owns", [](Array& a) { return a.owns && a.base->owned; }, "");
  get(
      "_contiguous",
      [](Array& a) { return nb::make_tuple(a.layout->c_contiguous(), a.layout->f_contiguous()); },
      "");
  get(
      "_pointer",
      [](Array& a) {
        uintptr_t at = reinterpret_cast<uintptr_t>(data_of(a, "pointer"));
        a.base->exposed = true;
        a.base->device->synchronize();
        return at;
      },
      "");
  get("_offset", [](Array& a) { return a.offset; }, "");  // in the storage
  get("_storage", [](Array& a) { return reinterpret_cast<uintptr_t>(a.base.get()); }, "");
  get("_device", [](Masked& m) { return device_label(*m.full.base->device); }, "");
  cls.def("_set_writeable", [](Array& a, bool w) { a.writeable = w; });
  // For ndarray.resize(): views keep the storage that they are of.
  cls.def("_become", [](Array& a, Array& other) { a = other; });
  auto origin = [](Masked& m) {
    auto* of = static_cast<PyObject*>(m.full.origin.get());
    return of ? nb::borrow(nb::handle(of)) : nb::none();
  };
  get("_origin", origin, "");
  get("base", origin, "The array this one is a view of, or None.");
  cls.def(
      "transpose", [](nb::object self, nb::args axes) { return transposed(self, axes); },
      "View with the dimensions in the order `axes` (reversed without).");
  cls.def(
      "reshape",
      [](nb::object self, nb::args shape, nb::object how, nb::object may_copy) {
        Array& a = nb::cast<Array&>(self);
        char order = to_order(how.ptr(), "reshape");
        if (order == 'K')
          raise(ErrorKind::Value, "reshape", "order 'K' is not permitted", "'K'",
                "'C', 'F' or 'A'");
        nb::object s = shape.size() == 1 ? nb::borrow(shape[0]) : nb::object(shape);
        bool always = !may_copy.is_none() && PyObject_IsTrue(may_copy.ptr()) == 1;
        bool never = !may_copy.is_none() && !always;
        mark_line();
        std::vector<int64_t> to = s.is_none()
                                      ? std::vector<int64_t>(a.shape().begin(), a.shape().end())
                                      : to_shape(s.ptr());
        bool f =
            order == 'F' || (order == 'A' && a.layout->f_contiguous() && !a.layout->c_contiguous());
        std::vector<int64_t> extents = to;
        Array source = a;
        if (f) {
          std::reverse(extents.begin(), extents.end());
          source = transpose(a, in_order(a.ndim(), true));
        }
        std::optional<Array> view = reshape_view(source, extents);
        if (never && !view)
          raise(ErrorKind::Value, "reshape", "unable to avoid a copy",
                "shape " + shape_string(*a.layout) + " to " + shape_string(to), "copy=None");
        if (always || !view) view = reshape(copy(source, a.dtype, true), extents);
        Array r = f ? transpose(*view, in_order(static_cast<int>(to.size()), true)) : *view;
        return taken(wrap_view(self.ptr(), std::move(r)));
      },
      nb::arg("shape"), nb::arg("order").none() = "C", nb::arg("copy").none() = nb::none(),
      "The elements in another shape: a view where strides allow, else a copy (copy=True: always, "
      "copy=False: ValueError).");
  cls.def(
      "ravel",
      [](nb::object self, nb::object how) {
        Array& a = nb::cast<Array&>(self);
        char order = to_order(how.ptr(), "ravel");
        mark_line();
        Array source = a;
        if (order == 'K') {
          source = transpose(a, memory_order(a));
        } else if (order == 'F' ||
                   (order == 'A' && a.layout->f_contiguous() && !a.layout->c_contiguous())) {
          source = transpose(a, in_order(a.ndim(), true));
        }
        if (source.layout->c_contiguous())
          return taken(wrap_view(self.ptr(), reshape(source, {a.size()})));
        return taken(wrap(on_its_own(reshape(copy(source, a.dtype, true), {a.size()}))));
      },
      nb::arg("order").none() = "C", "The elements in one dimension.");
  cls.def(
      "copy",
      [](Array& a, nb::object how) {
        char order = to_order(how.ptr(), "copy");
        mark_line();
        return taken(wrap(copy_in_order(a, a.dtype, order)));
      },
      nb::arg("order").none() = "C", "A copy with memory of its own.");
  cls.def(
      "astype",
      [](nb::object self, nb::object t, nb::object how, nb::object casting, bool make_copy) {
        Masked& m = nb::cast<Masked&>(self);
        const std::optional<DType> usual = usual_dtype(t.ptr());
        DType to = usual ? *usual : to_dtype(t.ptr()), from = m.full.dtype;
        char order = to_order(how.ptr(), "astype", 'K');
        if (!can_cast(from, to, to_casting(casting.ptr()))) {
          raise(ErrorKind::Casting, "astype", "cannot cast under this rule",
                std::string(name(from)) + " to " + std::string(name(to)),
                "a cast that casting= allows");
        }
        // Values under a mask have one axis: every order is the same.
        if (!make_copy && to == from && (m.mask || order == 'K' || has_order(m.full, order)))
          return self;
        mark_line();
        if (m.mask) return taken(wrap(copy(Arg(&m), to)));
        return taken(wrap(copy_in_order(m.full, to, order)));
      },
      nb::arg("dtype"), nb::arg("order").none() = "K", nb::arg("casting") = "unsafe",
      nb::arg("copy") = true, "A copy converted to `dtype`.");
  cls.def(
      "view",
      [](nb::object self, nb::object t, nb::object) {
        Array& a = nb::cast<Array&>(self);
        return taken(wrap_view(self.ptr(), view_as(a, t.is_none() ? a.dtype : to_dtype(t.ptr()))));
      },
      nb::arg("dtype").none() = nb::none(), nb::arg("type").none() = nb::none(),
      "The same memory, read as `dtype`.");
  cls.def(
      "fill",
      [](Array& a, nb::object v) {
        Operands ops;
        Arg from;
        if (!ops.convert(v.ptr(), from))
          raise(ErrorKind::Type, "fill", "not a number", nb::cast<std::string>(nb::repr(v)),
                "a number");
        require_number(v.ptr(), from, a.dtype, "fill");
        warn_of_complex(v.ptr(), a.dtype);
        mark_line();
        assign(a, from);
      },
      nb::arg("value"), "Sets every element to `value`.");
  cls.def(
      "tolist",
      [](Array& a) {
        // Stays, whatever making objects brings about.
        Array all = a;  // NOLINT(performance-unnecessary-copy-initialization)
        const ReadByUser numbers;
        auto host = host_view(all, "value read");
        return taken(nested(*all.layout, all.dtype, host.get(), 0).release().ptr());
      },
      "The elements as nested lists of Python's numbers; of a 0-d array a number.");
  cls.def(
      "item",
      [](Array& a, nb::args index) {
        int64_t at = 0;
        if (index.size() == 0) {
          if (a.size() != 1)
            raise(ErrorKind::Value, "item",
                  "can only convert an array of size 1 to a Python scalar",
                  std::to_string(a.size()), "1");
        } else {
          nb::object i = index.size() == 1 ? nb::borrow(index[0]) : nb::object(index);
          std::vector<int64_t> ix = to_shape(i.ptr());
          if (ix.size() == 1 && a.ndim() != 1) {  // flat
            int64_t rest = ix[0] < 0 ? ix[0] + a.size() : ix[0];
            if (rest < 0 || rest >= a.size())
              raise(ErrorKind::Index, "item", "index out of bounds", std::to_string(ix[0]),
                    "below " + std::to_string(a.size()));
            ix.assign(a.ndim(), 0);
            for (int d = a.ndim() - 1; d >= 0; --d) {
              ix[d] = rest % a.layout->shape(d);
              rest /= a.layout->shape(d);
            }
          }
          if (static_cast<int>(ix.size()) != a.ndim())
            raise(ErrorKind::Value, "item", "incorrect number of indices",
                  std::to_string(ix.size()), std::to_string(a.ndim()));
          for (int d = 0; d < a.ndim(); ++d) {
            int64_t k = ix[d] < 0 ? ix[d] + a.layout->shape(d) : ix[d];
            if (k < 0 || k >= a.layout->shape(d))
              raise(ErrorKind::Index, "item", "index out of bounds for axis " + std::to_string(d),
                    std::to_string(ix[d]), "below " + std::to_string(a.layout->shape(d)));
            at += k * a.layout->stride(d);
          }
        }
        const ReadByUser number;
        return taken(python_number(read_element(a, at)));
      },
      "The element at `index` as a Python number.");

  auto g = nb::class_<Generic>(
      m, "generic", nb::type_slots(generic_slots), nb::dynamic_attr(),
      "A 0-d value: immutable, hashable, computed when Python needs the number.");
  generic_type = reinterpret_cast<PyTypeObject*>(g.ptr());
  traverse_attributes =
      reinterpret_cast<traverseproc>(PyType_GetSlot(generic_type, Py_tp_traverse));
  clear_attributes = reinterpret_cast<inquiry>(PyType_GetSlot(generic_type, Py_tp_clear));
  g.def_prop_ro(
      "dtype", [](Generic& s) { return nb::borrow(dtype_object(s.dtype)); },
      "Element type, a numpy.dtype.");
  g.def_prop_ro("_device", [](Generic& s) {
    return device_label(s.array.base.get() ? *s.array.base->device : default_device());
  });
  g.def(
      "item",
      [](Generic& s) {
        const ReadByUser number;
        return taken(python_number(value_of(s)));
      },
      "The value as a Python number.");
  g.def("_number", [](Generic& s) { return taken(python_number(value_of(s))); });
  g.def_prop_ro("real", [](Generic& s) {
    if (!s.known) return part_of(s, false);
    Scalar v = value_of(s);
    Generic r;
    r.known = true;
    r.dtype = real_of(s.dtype);
    r.value = is_complex(s.dtype) ? Scalar::from_float(v.real()) : v;
    return taken(wrap_generic(std::move(r)));
  });
  g.def_prop_ro("imag", [](Generic& s) {
    if (!s.known) return part_of(s, true);
    Scalar v = value_of(s);
    Generic r;
    r.known = true;
    r.dtype = real_of(s.dtype);
    r.value = is_inexact(s.dtype) ? Scalar::from_float(v.imag()) : Scalar::from_int(0);
    return taken(wrap_generic(std::move(r)));
  });
  g.def("_array", [](Generic& s) { return taken(wrap(copy(array_of(s), s.dtype, true))); });
  g.def("__complex__", [](Generic& s) {
    Scalar v = value_of(s);
    return taken(PyComplex_FromDoubles(v.real(), v.imag()));
  });
  cls.def("__complex__", [](nb::object o) {
    Scalar v = number_value(o.ptr());
    return taken(PyComplex_FromDoubles(v.real(), v.imag()));
  });
}

}  // namespace numbus::bindings
