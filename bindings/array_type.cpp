// The Python classes ndarray and generic: number, comparison, mapping and buffer slots; properties; simple methods.
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "convert.h"

namespace numbus::bindings {

namespace {

// Known scalars of one 64-bit type compute at once: element loops in Python stay cheap.
bool known_scalars(Op op, PyObject* x, PyObject* y, Generic& r) {
  double f[2];
  int64_t i[2];
  bool floats = false, ints = true;
  PyObject* in[2] = {x, y};
  for (int k = 0; k < 2; ++k) {
    PyObject* o = in[k];
    if (PyFloat_CheckExact(o)) {
      f[k] = PyFloat_AsDouble(o);
      floats = true;
      ints = false;
      continue;
    }
    if (PyLong_CheckExact(o)) {
      int overflow;
      i[k] = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (overflow) return false;
      f[k] = static_cast<double>(i[k]);
      continue;
    }
    if (!is_generic(o)) return false;
    Generic& g = as_generic(o);
    if (!g.known) return false;
    if (g.dtype == DType::F64) {
      f[k] = g.value.f[0];
      floats = true;
      ints = false;
    } else if (g.dtype == DType::I64) {
      i[k] = g.value.i;
      f[k] = static_cast<double>(i[k]);
    } else {
      return false;
    }
  }
  bool compare = row(op).rule == Rule::Compare;
  r.known = true;
  if (compare) {
    r.dtype = DType::Bool;
    auto c = [&](auto a, auto b) {
      switch (op) {
        case Op::equal: return a == b;
        case Op::not_equal: return a != b;
        case Op::less: return a < b;
        case Op::less_equal: return a <= b;
        case Op::greater: return a > b;
        default: return a >= b;
      }
    };
    r.value = Scalar::from_bool(ints ? c(i[0], i[1]) : c(f[0], f[1]));
    return true;
  }
  r.dtype = floats || op == Op::divide ? DType::F64 : DType::I64;
  if (r.dtype == DType::F64) {
    switch (op) {
      case Op::add: r.value = Scalar::from_float(f[0] + f[1]); return true;
      case Op::subtract: r.value = Scalar::from_float(f[0] - f[1]); return true;
      case Op::multiply: r.value = Scalar::from_float(f[0] * f[1]); return true;
      case Op::divide: r.value = Scalar::from_float(f[0] / f[1]); return true;
      default: return false;
    }
  }
  auto wrap64 = [](uint64_t v) { return Scalar::from_int(static_cast<int64_t>(v)); };
  uint64_t a = static_cast<uint64_t>(i[0]), b = static_cast<uint64_t>(i[1]);
  switch (op) {
    case Op::add: r.value = wrap64(a + b); return true;
    case Op::subtract: r.value = wrap64(a - b); return true;
    case Op::multiply: r.value = wrap64(a * b); return true;
    default: return false;
  }
}

// NumPy's shortcuts for the ** operator with a plain number on the right.
bool power_shortcut(PyObject* a, PyObject* b, PyObject*& result) {
  double e;
  if (PyFloat_CheckExact(b)) e = PyFloat_AsDouble(b);
  else if (PyLong_CheckExact(b)) {
    int overflow;
    e = static_cast<double>(PyLong_AsLongLongAndOverflow(b, &overflow));
    if (overflow) return false;
  } else {
    return false;
  }
  DType t = is_array(a) ? as_array(a).dtype : is_generic(a) ? as_generic(a).dtype : DType::Bool;
  if (t == DType::Bool && e != 2) return false;
  bool inexact = is_inexact(t);
  if (!inexact && PyFloat_CheckExact(b)) return false;
  if (e == 2) result = unary(Op::square, a);
  else if (e == 1) result = unary(Op::positive, a);
  else if (inexact && e == 0.5) result = unary(Op::sqrt, a);
  else if (inexact && e == -1) result = unary(Op::reciprocal, a);
  else if (!inexact && e < 0) raise(ErrorKind::Value, "power", "integers to negative integer powers are not allowed", "exponent " + std::to_string(static_cast<long>(e)), "a float base, or an exponent >= 0");
  else return false;
  return true;
}

}  // namespace

PyObject* binary(Op op, PyObject* x, PyObject* y) {
  return guarded([&]() -> PyObject* {
    if (!is_array(x) && !is_array(y)) {
      Generic r;
      if (known_scalars(op, x, y, r)) return wrap_generic(std::move(r));
    }
    if (op == Op::power) {
      PyObject* r = nullptr;
      if (power_shortcut(x, y, r)) return r;
    }
    Operands ops;
    Arg args[2];
    if (!ops.convert(x, args[0]) || !ops.convert(y, args[1])) Py_RETURN_NOTIMPLEMENTED;
    mark_line();
    return wrap_result(apply(op, args));
  });
}

PyObject* unary(Op op, PyObject* x) {
  return guarded([&]() -> PyObject* {
    Operands ops;
    Arg a;
    if (!ops.convert(x, a)) Py_RETURN_NOTIMPLEMENTED;
    mark_line();
    return wrap_result(apply(op, {&a, 1}));
  });
}

namespace {

PyObject* in_place(Op op, PyObject* self, PyObject* y) {
  return guarded([&]() -> PyObject* {
    Operands ops;
    Arg args[2];
    args[0].array = &as_array(self);
    if (!ops.convert(y, args[1])) Py_RETURN_NOTIMPLEMENTED;
    if (op == Op::power && args[1].weak && args[1].scalar.kind == Kind::Int && args[1].scalar.i == 2) {
      op = Op::square;
    }
    Options o;
    o.out = args[0].array;
    mark_line();
    if (args[0].array->mask) {  // a masked value: stays on the full domain where it can
      Array out = apply(op, {args, op == Op::square ? 1u : 2u}, o);
      as_array(self) = std::move(out);
    } else {
      apply(op, {args, op == Op::square ? 1u : 2u}, o);
    }
    Py_INCREF(self);
    return self;
  });
}

template <Op op>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return binary(op, a, b);
}
template <Op op>
PyObject* unary_slot(PyObject* a) {
  return unary(op, a);
}
template <Op op>
PyObject* in_place_slot(PyObject* a, PyObject* b) {
  return in_place(op, a, b);
}
PyObject* power_slot(PyObject* a, PyObject* b, PyObject*) { return binary(Op::power, a, b); }
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) { return in_place(Op::power, a, b); }

PyObject* linear(const char* name, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    static nb::object* module = nullptr;
    if (!module) module = new nb::object(nb::module_::import_("numbus._linear"));
    return module->attr(name)(nb::handle(a), nb::handle(b)).release().ptr();
  });
}
PyObject* matmul_slot(PyObject* a, PyObject* b) { return linear("matmul", a, b); }

PyObject* compare_slot(PyObject* a, PyObject* b, int how) {
  static constexpr Op kOps[] = {Op::less, Op::less_equal, Op::equal, Op::not_equal, Op::greater, Op::greater_equal};
  return binary(kOps[how], a, b);
}

Scalar the_value(PyObject* o) {
  if (is_generic(o)) return value_of(as_generic(o));
  Array& a = as_array(o);
  if (a.mask) settle(a);
  if (a.size() != 1) {
    raise(ErrorKind::Value, "truth", "the truth value of an array with more than one element is ambiguous",
          "shape " + shape_string(*a.layout), "a.any() or a.all(), or an array of one element");
  }
  return read_element(a, 0);
}
Scalar number_value(PyObject* o) {
  if (is_array(o) && as_array(o).size() != 1 && !as_array(o).mask) {
    raise(ErrorKind::Type, "scalar", "only arrays of one element can become Python numbers", "shape " + shape_string(*as_array(o).layout), "one element");
  }
  return the_value(o);
}

int bool_slot(PyObject* o) {
  int result = -1;
  PyObject* ok = guarded([&]() -> PyObject* {
    Scalar s = the_value(o);
    result = s.kind == Kind::Complex ? s.f[0] != 0 || s.f[1] != 0 : s.kind == Kind::Float ? s.f[0] != 0 : s.i != 0;
    return Py_None;
  });
  return ok ? result : -1;
}
PyObject* float_slot(PyObject* o) {
  return guarded([&]() -> PyObject* {
    Scalar s = number_value(o);
    if (s.kind == Kind::Complex) raise(ErrorKind::Type, "float", "cannot convert", "a complex value", "a real one (see .real)");
    return PyFloat_FromDouble(s.real());
  });
}
PyObject* int_slot(PyObject* o) {
  return guarded([&]() -> PyObject* {
    nb::object v = nb::steal(python_number(number_value(o)));
    return PyNumber_Long(v.ptr());
  });
}
PyObject* index_slot(PyObject* o) {
  return guarded([&]() -> PyObject* {
    DType t = is_generic(o) ? as_generic(o).dtype : as_array(o).dtype;
    if (!is_integer(t) || (is_array(o) && as_array(o).ndim() > 0)) {
      raise(ErrorKind::Type, "index", "only integer scalars can be an index", std::string(name(t)), "an integer type");
    }
    return python_number(number_value(o));
  });
}
Py_hash_t hash_slot(PyObject* o) {
  PyObject* v = guarded([&] { return python_number(value_of(as_generic(o))); });
  if (!v) return -1;
  Py_hash_t h = PyObject_Hash(v);
  Py_DECREF(v);
  return h;
}

Py_ssize_t length_slot(PyObject* o) {
  Py_ssize_t n = -1;
  guarded([&]() -> PyObject* {
    Array& a = as_array(o);
    if (a.mask) settle(a);
    if (a.ndim() == 0) raise(ErrorKind::Type, "len", "object has no length", "a 0-d array", "at least one dimension");
    n = a.layout->shape(0);
    return Py_None;
  });
  return n;
}
PyObject* item_slot(PyObject* o, Py_ssize_t i) {
  nb::object index = nb::steal(PyLong_FromSsize_t(i));
  return get_item(o, index.ptr());
}

PyType_Slot array_slots[] = {
#define BINARY(slot, op) {Py_nb_##slot, reinterpret_cast<void*>(binary_slot<Op::op>)}, {Py_nb_inplace_##slot, reinterpret_cast<void*>(in_place_slot<Op::op>)},
#define NUMBERS BINARY(add, add) BINARY(subtract, subtract) BINARY(multiply, multiply) BINARY(true_divide, divide) \
  BINARY(floor_divide, floor_divide) BINARY(remainder, remainder) BINARY(and, bitwise_and) BINARY(or, bitwise_or) \
  BINARY(xor, bitwise_xor) BINARY(lshift, left_shift) BINARY(rshift, right_shift)
    NUMBERS
#undef BINARY
    {Py_nb_power, reinterpret_cast<void*>(power_slot)},
    {Py_nb_inplace_power, reinterpret_cast<void*>(in_place_power)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(matmul_slot)},
#define UNARY {Py_nb_negative, reinterpret_cast<void*>(unary_slot<Op::negative>)}, \
    {Py_nb_positive, reinterpret_cast<void*>(unary_slot<Op::positive>)}, {Py_nb_absolute, reinterpret_cast<void*>(unary_slot<Op::absolute>)}, \
    {Py_nb_invert, reinterpret_cast<void*>(unary_slot<Op::invert>)}, {Py_nb_bool, reinterpret_cast<void*>(bool_slot)}, \
    {Py_nb_float, reinterpret_cast<void*>(float_slot)}, {Py_nb_int, reinterpret_cast<void*>(int_slot)}, \
    {Py_nb_index, reinterpret_cast<void*>(index_slot)}, {Py_tp_richcompare, reinterpret_cast<void*>(compare_slot)},
    UNARY
    {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_mp_length, reinterpret_cast<void*>(length_slot)},
    {Py_sq_item, reinterpret_cast<void*>(item_slot)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr}};

PyType_Slot generic_slots[] = {
#define BINARY(slot, op) {Py_nb_##slot, reinterpret_cast<void*>(binary_slot<Op::op>)},
    NUMBERS
#undef BINARY
    {Py_nb_power, reinterpret_cast<void*>(power_slot)},
    UNARY
    {Py_tp_hash, reinterpret_cast<void*>(hash_slot)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr}};

nb::object to_tuple(std::span<const int64_t> v) {
  nb::object t = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(v.size())));
  for (size_t i = 0; i < v.size(); ++i) PyTuple_SetItem(t.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(v[i]));
  return t;
}

// A view must keep its origin's Python object reachable for `base`: held in the instance's dictionary.
std::vector<int> all_axes(int n, bool reversed) {
  std::vector<int> axes(n);
  for (int d = 0; d < n; ++d) axes[d] = reversed ? n - 1 - d : d;
  return axes;
}

nb::object taken(PyObject* o) { return nb::steal(o); }

Array& settled(Array& a) {
  if (a.mask) settle(a);
  return a;
}

// A result that happens to be a view of something nobody else has.
Array owned(Array a) {
  a.owns = true;
  a.origin = nullptr;
  return a;
}

nb::object transposed(nb::handle self, nb::handle args) {
  Array& a = settled(nb::cast<Array&>(self));
  std::vector<int> axes = all_axes(a.ndim(), true);
  if (args.is_valid() && nb::len(args) > 0 && !(nb::len(args) == 1 && args[0].is_none())) {
    nb::object given = nb::len(args) == 1 && !PyIndex_Check(nb::object(args[0]).ptr()) ? nb::object(args[0]) : nb::borrow(args);
    std::vector<int64_t> order = to_shape(given.ptr());
    if (static_cast<int>(order.size()) != a.ndim()) raise(ErrorKind::Value, "transpose", "axes do not match the array", std::to_string(order.size()) + " axes", std::to_string(a.ndim()));
    std::vector<char> seen(order.size(), 0);
    for (size_t d = 0; d < order.size(); ++d) {
      int64_t x = order[d] < 0 ? order[d] + a.ndim() : order[d];
      if (x < 0 || x >= a.ndim()) raise(ErrorKind::Axis, "transpose", "axis out of bounds", std::to_string(order[d]), "below " + std::to_string(a.ndim()));
      if (seen[x]++) raise(ErrorKind::Value, "transpose", "repeated axis", std::to_string(order[d]), "each axis once");
      axes[d] = static_cast<int>(x);
    }
  }
  return taken(wrap_view(self.ptr(), transpose(a, axes)));
}

}  // namespace

namespace {

struct Export {
  Handle base;
  std::unique_ptr<Py_ssize_t[]> dims;
  std::unique_ptr<std::shared_ptr<char>> memory;
  bool shares;  // the memory itself, not a copy
};

}  // namespace

static bool view_is_readonly(const Array& a, PyObject* self) { return !a.writeable || is_generic(self); }

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  PyObject* ok = guarded([&]() -> PyObject* {
    if (is_array(self)) settled(as_array(self));
    const Array& a = is_array(self) ? as_array(self) : array_of(as_generic(self));
    if ((flags & PyBUF_WRITABLE) && (!a.writeable || is_generic(self))) {
      PyErr_SetString(PyExc_BufferError, "[buffer] array is read-only; got a request for a writable buffer; expected a read-only one");
      return nullptr;
    }
    int n = a.ndim();
    auto* dims = new Py_ssize_t[2 * n + 1];
    for (int d = 0; d < n; ++d) {
      dims[d] = a.layout->shape(d);
      dims[n + d] = a.layout->stride(d);
    }
    static const char* const kFormats[kNumDTypes] = {"?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d", "Zf", "Zd"};
    if (a.base->mask && !view_is_readonly(a, self)) before_write(a);  // whoever gets the memory may write it
    bool on_host = a.base->device->kind() == DeviceKind::Cpu;
    auto* memory = new std::shared_ptr<char>(host_view(a, "buffer"));
    view->buf = memory->get();
    view->obj = self;
    Py_INCREF(self);
    view->len = a.size() * itemsize(a.dtype);
    view->itemsize = itemsize(a.dtype);
    view->readonly = !a.writeable || is_generic(self) || !on_host;
    view->ndim = n;
    view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(kFormats[static_cast<int>(a.dtype)]) : nullptr;
    view->shape = dims;
    view->strides = dims + n;
    view->suboffsets = nullptr;
    // The base stays shared, and alive, until the last export ends.
    if (on_host) ++a.base.get()->shared;
    view->internal = new Export{a.base, std::unique_ptr<Py_ssize_t[]>(dims), std::unique_ptr<std::shared_ptr<char>>(memory), on_host};
    return Py_None;
  });
  return ok ? 0 : -1;
}

void release_buffer(PyObject*, Py_buffer* view) {
  auto* e = static_cast<Export*>(view->internal);
  if (e->shares) --e->base->shared;
  delete e;
}

void bind_arrays(nb::module_& m) {
  auto cls = nb::class_<Array>(m, "ndarray", nb::type_slots(array_slots), nb::dynamic_attr(),
                               "A typed, strided view of memory on a device. Operations are recorded and fused; values are there when read.");
  array_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  auto get = [&](const char* name, auto f, const char* doc) { cls.def_prop_ro(name, f, doc); };
  get("shape", [](Array& a) { return to_tuple(settled(a).shape()); }, "Extents, one per dimension.");
  get("strides", [](Array& a) { return to_tuple({settled(a).layout->strides(), static_cast<size_t>(a.ndim())}); }, "Bytes between neighbours, one per dimension.");
  get("dtype", [](Array& a) { return nb::borrow(dtype_object(a.dtype)); }, "Element type, a numpy.dtype.");
  get("ndim", [](Array& a) { return settled(a).ndim(); }, "Number of dimensions.");
  get("size", [](Array& a) { return settled(a).size(); }, "Number of elements.");
  get("itemsize", [](Array& a) { return itemsize(a.dtype); }, "Bytes per element.");
  get("nbytes", [](Array& a) { return settled(a).size() * itemsize(a.dtype); }, "Bytes of all elements.");
  get("_writeable", [](Array& a) { return a.writeable; }, "");
  get("_owns", [](Array& a) { return a.owns && a.base->owned; }, "");
  get("_contiguous", [](Array& a) { return nb::make_tuple(settled(a).layout->c_contiguous(), a.layout->f_contiguous()); }, "");
  get("_masked", [](Array& a) { return a.mask != nullptr; }, "");
  get("_storage", [](Array& a) { return reinterpret_cast<uintptr_t>(a.base.get()); }, "");
  get("_device", [](Array& a) { return a.base->device->name(); }, "");
  cls.def("_set_writeable", [](Array& a, bool w) { a.writeable = w; });
  get("_origin", [](Array& a) { return a.origin ? nb::borrow(nb::handle(static_cast<PyObject*>(a.origin.get()))) : nb::none(); }, "");
  get("base", [](Array& a) { return a.origin ? nb::borrow(nb::handle(static_cast<PyObject*>(a.origin.get()))) : nb::none(); }, "The array this one is a view of, or None.");
  get("T", [](nb::object self) { return transposed(self, {}); }, "View with the dimensions reversed.");
  get("real", [](nb::object self) {
    Array& a = settled(nb::cast<Array&>(self));
    return is_complex(a.dtype) ? taken(wrap_view(self.ptr(), part(a, false))) : self;
  }, "View of the real parts.");
  get("imag", [](nb::object self) {
    Array& a = settled(nb::cast<Array&>(self));
    if (is_complex(a.dtype)) return taken(wrap_view(self.ptr(), part(a, true)));
    Array zeros = full(a.shape(), a.dtype, Scalar::from_int(0));
    zeros.writeable = false;
    return taken(wrap(std::move(zeros)));
  }, "View of the imaginary parts; of a real array, read-only zeros.");
  cls.def("transpose", [](nb::object self, nb::args axes) { return transposed(self, axes); },
          "View with the dimensions in the order `axes` (reversed without).");
  cls.def("reshape", [](nb::object self, nb::args shape, const std::string& order, nb::object) {
    Array& a = settled(nb::cast<Array&>(self));
    nb::object s = shape.size() == 1 ? nb::borrow(shape[0]) : nb::object(shape);
    mark_line();
    std::vector<int64_t> to = to_shape(s.ptr());
    if (order == "F" || (order == "A" && a.layout->f_contiguous() && !a.layout->c_contiguous())) {
      std::vector<int64_t> turned(to.rbegin(), to.rend());
      Array t = transpose(a, all_axes(a.ndim(), true));
      Array r = reshape(t, turned);
      return taken(wrap_view(self.ptr(), transpose(r, all_axes(static_cast<int>(to.size()), true))));
    }
    return taken(wrap_view(self.ptr(), reshape(a, to)));
  }, nb::arg("shape"), nb::arg("order") = "C", nb::arg("copy").none() = nb::none(), "The elements in another shape: a view where strides allow, else a copy.");
  cls.def("ravel", [](nb::object self, const std::string& order) {
    Array& a = settled(nb::cast<Array&>(self));
    mark_line();
    bool f = order == "F" || ((order == "A" || order == "K") && a.layout->f_contiguous() && !a.layout->c_contiguous());
    Array source = f ? transpose(a, all_axes(a.ndim(), true)) : a;
    if (!source.layout->c_contiguous()) source = copy(source, a.dtype, true);
    return taken(wrap_view(self.ptr(), reshape(source, {a.size()})));
  }, nb::arg("order") = "C", "The elements in one dimension.");
  cls.def("copy", [](Array& a, const std::string& order) {
    mark_line();
    if (order == "F") {
      Array t = transpose(settled(a), all_axes(a.ndim(), true));
      return taken(wrap(transpose(owned(copy(t, a.dtype, true)), all_axes(a.ndim(), true))));
    }
    return taken(wrap(copy(a, a.dtype, order == "C")));
  }, nb::arg("order") = "C", "A copy with memory of its own.");
  cls.def("astype", [](nb::object self, nb::object t, const std::string& order, nb::object casting, bool, bool make_copy) {
    Array& a = nb::cast<Array&>(self);
    DType to = to_dtype(t.ptr());
    if (!can_cast(a.dtype, to, to_casting(casting.ptr()))) {
      raise(ErrorKind::Casting, "astype", "cannot cast under this rule", std::string(name(a.dtype)) + " to " + std::string(name(to)), "a cast that casting= allows");
    }
    if (!make_copy && to == a.dtype) return self;
    mark_line();
    return taken(wrap(copy(a, to, order == "C")));
  }, nb::arg("dtype"), nb::arg("order") = "K", nb::arg("casting") = "unsafe", nb::arg("subok") = true, nb::arg("copy") = true,
          "A copy converted to `dtype`.");
  cls.def("view", [](nb::object self, nb::object t, nb::object) {
    Array& a = settled(nb::cast<Array&>(self));
    return taken(wrap_view(self.ptr(), view_as(a, t.is_none() ? a.dtype : to_dtype(t.ptr()))));
  }, nb::arg("dtype").none() = nb::none(), nb::arg("type").none() = nb::none(), "The same memory, read as `dtype`.");
  cls.def("fill", [](Array& a, nb::object v) {
    Operands ops;
    Arg from;
    if (!ops.convert(v.ptr(), from)) raise(ErrorKind::Type, "fill", "not a number", nb::cast<std::string>(nb::repr(v)), "a number");
    mark_line();
    assign(settled(a), from);
  }, nb::arg("value"), "Sets every element to `value`.");
  cls.def("item", [](Array& a, nb::args index) {
    settled(a);
    int64_t at = 0;
    if (index.size() == 0) {
      if (a.size() != 1) raise(ErrorKind::Value, "item", "can only convert an array of size 1 to a Python scalar", std::to_string(a.size()), "1");
    } else {
      nb::object i = index.size() == 1 ? nb::borrow(index[0]) : nb::object(index);
      std::vector<int64_t> ix = to_shape(i.ptr());
      if (ix.size() == 1 && a.ndim() != 1) {  // flat
        int64_t rest = ix[0] < 0 ? ix[0] + a.size() : ix[0];
        if (rest < 0 || rest >= a.size()) raise(ErrorKind::Index, "item", "index out of bounds", std::to_string(ix[0]), "below " + std::to_string(a.size()));
        ix.assign(a.ndim(), 0);
        for (int d = a.ndim() - 1; d >= 0; --d) {
          ix[d] = rest % a.layout->shape(d);
          rest /= a.layout->shape(d);
        }
      }
      if (static_cast<int>(ix.size()) != a.ndim()) raise(ErrorKind::Value, "item", "incorrect number of indices", std::to_string(ix.size()), std::to_string(a.ndim()));
      for (int d = 0; d < a.ndim(); ++d) {
        int64_t k = ix[d] < 0 ? ix[d] + a.layout->shape(d) : ix[d];
        if (k < 0 || k >= a.layout->shape(d)) raise(ErrorKind::Index, "item", "index out of bounds for axis " + std::to_string(d), std::to_string(ix[d]), "below " + std::to_string(a.layout->shape(d)));
        at += k * a.layout->stride(d);
      }
    }
    return taken(python_number(read_element(a, at)));
  }, "The element at `index` as a Python number.");

  auto g = nb::class_<Generic>(m, "generic", nb::type_slots(generic_slots), nb::dynamic_attr(),
                               "A 0-d value: immutable, hashable, computed when Python needs the number.");
  generic_type = reinterpret_cast<PyTypeObject*>(g.ptr());
  g.def_prop_ro("dtype", [](Generic& s) { return nb::borrow(dtype_object(s.dtype)); }, "Element type, a numpy.dtype.");
  g.def("item", [](Generic& s) { return taken(python_number(value_of(s))); }, "The value as a Python number.");
  g.def_prop_ro("real", [](Generic& s) { Scalar v = value_of(s); Generic r; r.known = true; r.dtype = real_of(s.dtype); r.value = is_complex(s.dtype) ? Scalar::from_float(v.real()) : v; return taken(wrap_generic(std::move(r))); });
  g.def_prop_ro("imag", [](Generic& s) { Scalar v = value_of(s); Generic r; r.known = true; r.dtype = real_of(s.dtype); r.value = is_inexact(s.dtype) ? Scalar::from_float(v.imag()) : Scalar::from_int(0); return taken(wrap_generic(std::move(r))); });
  g.def("_array", [](Generic& s) { return taken(wrap(copy(array_of(s), s.dtype, true))); });
  g.def("__complex__", [](Generic& s) { Scalar v = value_of(s); return taken(PyComplex_FromDoubles(v.real(), v.imag())); });
  cls.def("__complex__", [](nb::object o) { Scalar v = number_value(o.ptr()); return taken(PyComplex_FromDoubles(v.real(), v.imag())); });
}

}  // namespace numbus::bindings
