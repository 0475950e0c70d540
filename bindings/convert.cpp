// Conversions, and the mapping of errors to Python's exception classes.
#include "convert.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/error.h"
#include "numpy_objects.h"
#include "program/program.h"
#include "scalars.h"

namespace numbus::bindings {

PyTypeObject* array_type = nullptr;
PyTypeObject* generic_type = nullptr;

namespace {

PyObject* numpy() {
  static PyObject* m = PyImport_ImportModule("numpy");
  if (!m) throw nb::python_error();
  return m;
}

PyObject* dtype_objects[kNumDTypes];

void load_dtypes() {
  if (dtype_objects[0]) return;
  nb::object make = nb::borrow(numpy()).attr("dtype");
  for (int t = kNumDTypes; t-- > 0;)
    dtype_objects[t] =
        make(nb::str(kDTypes[t].name.data(), kDTypes[t].name.size())).release().ptr();
}

}  // namespace

std::optional<DType> from_format(const char* f, Py_ssize_t size) {
  if (!f) f = "B";
  if (*f == '@' || *f == '=' || *f == '<') ++f;
  bool z = *f == 'Z';
  if (z) ++f;
  if (f[0] == 0 || f[1] != 0) return std::nullopt;
  if (z)
    return *f == 'f'   ? std::optional(DType::C64)
           : *f == 'd' ? std::optional(DType::C128)
                       : std::nullopt;
  switch (*f) {
    case '?': return DType::Bool;
    case 'e': return DType::F16;
    case 'E': return DType::BF16;
    case 'f': return DType::F32;
    case 'd': return DType::F64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return int_of_size(static_cast<int>(size), true);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return int_of_size(static_cast<int>(size), false);
    default: return std::nullopt;
  }
}

void set_error(const Error& e) {
  PyObject* type = PyExc_RuntimeError;
  switch (e.kind()) {
    case ErrorKind::Value: type = PyExc_ValueError; break;
    case ErrorKind::Type:
    case ErrorKind::Casting: type = PyExc_TypeError; break;
    case ErrorKind::Index: type = PyExc_IndexError; break;
    case ErrorKind::Memory: type = PyExc_MemoryError; break;
    case ErrorKind::Overflow: type = PyExc_OverflowError; break;
    case ErrorKind::NotImplemented: type = PyExc_NotImplementedError; break;
    case ErrorKind::Linalg: {
      nb::object error = nb::module_::import_("numpy.linalg").attr("LinAlgError");
      PyErr_SetString(error.ptr(), e.what());
      return;
    }
    case ErrorKind::Axis: {
      nb::object axis = nb::module_::import_("numpy.exceptions").attr("AxisError");
      PyErr_SetString(axis.ptr(), e.what());
      return;
    }
    case ErrorKind::Interrupted:
      // What the handler has raised, or raises now that it may run.
      if (PyErr_Occurred() || PyErr_CheckSignals() != 0) return;
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      return;
    case ErrorKind::Runtime: break;
  }
  PyErr_SetString(type, e.what());
  if (e.of_tensors()) retype_error();
}

namespace {

template <class Value>
PyObject* wrapped(Value&& value) {
  nb::object o = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(array_type)));
  new (nb::inst_ptr<Masked>(o)) Masked(std::forward<Value>(value));
  nb::inst_mark_ready(o);
  return o.release().ptr();
}

}  // namespace

PyObject* wrap(Masked&& m) { return wrapped(std::move(m)); }
PyObject* wrap(Array&& a) { return wrapped(std::move(a)); }
PyObject* wrap_view(PyObject* of, Array&& a) {
  const Array* parent = is_array(of) ? &as_array(of) : nullptr;
  if (parent && parent->base.get() == a.base.get()) {
    // A reference of its own for each view: the garbage collector counts them.
    PyObject* origin = parent->origin ? static_cast<PyObject*>(parent->origin.get()) : of;
    Py_INCREF(origin);
    a.origin = std::shared_ptr<void>(origin, [](void* p) { Py_DECREF(static_cast<PyObject*>(p)); });
  } else {
    a.origin = nullptr;
  }
  return wrap(std::move(a));
}
PyObject* wrap_generic(Generic&& g) {
  nb::object o = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(generic_type)));
  new (nb::inst_ptr<Generic>(o)) Generic(std::move(g));
  nb::inst_mark_ready(o);
  return o.release().ptr();
}
PyObject* wrap_result(Masked&& m) {
  return m.ndim() > 0 ? wrap(std::move(m)) : scalar_or_generic(std::move(m.full));
}

Scalar value_of(Generic& g) {
  if (!g.known) {
    g.value = read_element(g.array, 0);
    if (observer()) return g.value;  // it goes on to depend on what the array depends on
    g.known = true;
    g.array = Array();
  }
  return g.value;
}
const Array& array_of(Generic& g) {
  if (!g.array.base.get()) {
    Array host = empty({}, g.dtype, &cpu_device());
    host.base->ensure_data();
    store_scalar(g.value, g.dtype, host.base->data);
    g.array = to_default_device(host);
  }
  return g.array;
}

PyObject* dtype_object(DType t) {
  load_dtypes();
  return dtype_objects[static_cast<int>(t)];
}

std::optional<DType> find_dtype(PyObject* o) {
  load_dtypes();
  for (int t = 0; t < kNumDTypes; ++t)
    if (dtype_objects[t] == o) return static_cast<DType>(t);
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::F64;
  nb::object d = nb::borrow(numpy()).attr("dtype")(nb::handle(o));
  for (int t = 0; t < kNumDTypes; ++t)
    if (dtype_objects[t] == d.ptr()) return static_cast<DType>(t);
  // Aliases such as longlong and intp are other objects that compare equal.
  for (int t = 0; t < kNumDTypes; ++t)
    if (d.equal(nb::handle(dtype_objects[t]))) return static_cast<DType>(t);
  return std::nullopt;
}

DType to_dtype(PyObject* o) {
  if (auto t = find_dtype(o)) return *t;
  raise(ErrorKind::Type, "dtype", "not available in Numbus",
        nb::cast<std::string>(nb::str(nb::borrow(numpy()).attr("dtype")(nb::handle(o)))),
        "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 or "
        "complex128");
}

bool has_format(PyObject* buffer) {
  Py_buffer view;
  if (get_typed_buffer(buffer, &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  bool known = from_format(view.format, view.itemsize).has_value();
  PyBuffer_Release(&view);
  return known;
}

PyObject* python_number(const Scalar& s) {
  switch (s.kind) {
    case Kind::Bool: return PyBool_FromLong(s.i != 0);
    case Kind::Int: return PyLong_FromLongLong(s.i);
    case Kind::UInt: return PyLong_FromUnsignedLongLong(s.u);
    case Kind::Float: return PyFloat_FromDouble(s.f[0]);
    case Kind::Complex: return PyComplex_FromDoubles(s.f[0], s.f[1]);
  }
  return nullptr;
}

bool is_numpy_scalar(PyObject* o) {
  if (numpy_scalar_dtype(Py_TYPE(o))) return true;
  static PyObject* const scalar = nb::object(nb::borrow(numpy()).attr("generic")).release().ptr();
  return PyObject_IsInstance(o, scalar) == 1;
}

std::vector<PyObject*>& plain_array_types() {
  static auto* types =
      new std::vector<PyObject*>{nb::object(nb::borrow(numpy()).attr("ndarray")).release().ptr(),
                                 nb::object(nb::borrow(numpy()).attr("memmap")).release().ptr()};
  return *types;
}

Owner owner_of(PyObject* o) {
  if (is_array(o) || is_usual_scalar(o) || is_generic(o) || PyFloat_CheckExact(o) ||
      PyLong_CheckExact(o) || PyBool_Check(o) || PyComplex_CheckExact(o)) {
    return Owner::Numbus;
  }
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  const std::vector<PyObject*>& plain = plain_array_types();
  if (std::find(plain.begin(), plain.end(), type) != plain.end() || is_numpy_scalar(o))
    return Owner::Numbus;
  PyObject* protocol = PyObject_GetAttrString(type, "__array_ufunc__");
  if (!protocol) {
    PyErr_Clear();
    return Owner::Numbus;
  }
  bool none = protocol == Py_None;
  Py_DECREF(protocol);
  return none ? Owner::Operand : Owner::NumPy;
}

PyObject* fall_back(const char* name, nb::object args) {
  static PyObject* const module =
      nb::object(nb::module_::import_("numbus.core.fallback")).release().ptr();
  PyObject* result =
      PyObject_CallObject(nb::object(nb::handle(module).attr(name)).ptr(), args.ptr());
  if (!result) throw nb::python_error();
  return result;
}

namespace {

// Memory of another library's, and what gives it back, from any thread.
struct Imported {
  NumpyMemory memory;
  void (*release)(void*);
  void* owner;
};

void let_go_of_array(void* p) {
  let_go([&] { Py_DECREF(static_cast<PyObject*>(p)); });
}

Imported import_array(PyObject* o, const NumpyMemory& memory) {
  Py_INCREF(o);
  return {memory, let_go_of_array, o};
}

Imported import_buffer(PyObject* o) {
  auto* view = new Py_buffer;
  bool writeable = true;
  if (get_typed_buffer(o, view, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) != 0) {
    PyErr_Clear();
    writeable = false;
    if (get_typed_buffer(o, view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      delete view;
      raise(ErrorKind::Type, "array", "object cannot be shared or converted",
            nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o))))),
            "numbers or an array of numbers");
    }
  }
  auto release = [](void* p) {
    auto* v = static_cast<Py_buffer*>(p);
    let_go([&] { PyBuffer_Release(v); });
    delete v;
  };
  auto t = from_format(view->format, view->itemsize);
  if (!t) {
    std::string got = view->format ? view->format : "bytes";
    release(view);
    raise(ErrorKind::Type, "array", "element type not available in Numbus", got,
          "a boolean, integer, float or complex type");
  }
  auto n = static_cast<size_t>(view->ndim);
  auto* data = static_cast<char*>(view->buf);
  return {{data, {view->shape, n}, {view->strides, n}, *t, writeable, false, false, false},
          release,
          view};
}

// An object of a kind that the core does not know, as an array of ours or of NumPy's.
nb::object array_like(PyObject* o) {
  static PyObject* const f =
      nb::object(nb::module_::import_("numbus.core.given").attr("array_like")).release().ptr();
  return nb::handle(f)(nb::handle(o));
}

}  // namespace

uint64_t own_value(const Array& a) {
  const Base& b = *a.base.get();
  if (!b.device->host_readable() || b.exposed || b.failure) return 0;
  if (b.owned) return b.shared == 0 ? b.value : 0;
  if (b.release != let_go_of_array || b.shared > 1) return 0;
  auto* array = static_cast<PyObject*>(b.owner);
  const std::optional<NumpyMemory> memory = numpy_memory(array);
  return memory && memory->owns && Py_REFCNT(array) == 1 ? b.value : 0;
}

Array import_numpy(PyObject* o, bool make_copy, bool shared, Device* onto) {
  std::optional<NumpyMemory> known = numpy_memory(o);
  auto [m, release, owner] = known ? import_array(o, *known) : import_buffer(o);
  Device& device = onto ? *onto : default_device();
  bool on_host = device.host_readable();
  if (!make_copy && on_host)
    return borrow(m.data, m.shape, m.strides, m.dtype, m.writeable, shared, release, owner);
  mark_line();
  // Its owner may write to it as soon as this returns.
  Array source = borrow(m.data, m.shape, m.strides, m.dtype, m.writeable, true, release, owner);
  if (!on_host) return onto ? to_device(source, device) : to_default_device(source);
  Array out = empty(m.shape, m.dtype, &device);
  out.base->ensure_data();
  if (source.layout->c_contiguous()) {
    std::memcpy(out.base->data, m.data, static_cast<size_t>(out.base->nbytes));
  } else {
    out = copy(source, m.dtype);
  }
  return out;
}

bool Operands::convert(PyObject* o, Arg& a) {
  if (is_array(o)) {
    a = Arg(&as_masked(o));
    return true;
  }
  if (is_generic(o)) {
    Generic& g = as_generic(o);
    if (g.known) {
      a.scalar = g.value;
      a.dtype = g.dtype;
    } else {
      // A copy: reading the value on the way would empty the generic's own.
      a.replace(&keep(Array(g.array)));
    }
    return true;
  }
  if (is_usual_scalar(o)) return read_numpy_scalar(o, a.scalar, a.dtype);
  a.weak = true;
  if (PyFloat_CheckExact(o)) {
    a.scalar = Scalar::from_float(PyFloat_AsDouble(o));
    return true;
  }
  if (PyBool_Check(o)) {
    a.weak = false;  // True and False are NumPy's bool
    a.dtype = DType::Bool;
    a.scalar = Scalar::from_bool(o == Py_True);
    return true;
  }
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow > 0) {
      unsigned long long u = PyLong_AsUnsignedLongLong(o);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        a.huge = true;
      } else {
        a.scalar = Scalar::from_uint(u);
      }
    }
    if (overflow < 0 || a.huge) {
      a.huge = true;
      double v = PyLong_AsDouble(o);
      if (v == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        raise(ErrorKind::Overflow, "scalar", "Python integer too large for a float",
              "an integer beyond 2**1023", "a value that a float can hold");
      }
      a.scalar = Scalar::from_float(v);
    } else if (overflow == 0) {
      a.scalar = Scalar::from_int(v);
    }
    return true;
  }
  if (PyComplex_CheckExact(o)) {
    a.scalar = Scalar::from_complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
    return true;
  }
  a.weak = false;
  if (read_numpy_scalar(o, a.scalar, a.dtype)) return true;
  if (auto memory = numpy_memory(o)) {
    if (memory->shape.empty()) {
      a.scalar = load_scalar(memory->dtype, memory->data);
      a.dtype = memory->dtype;
    } else {
      a.replace(&keep(import_numpy(o, false, true)));
    }
    return true;
  }
  if (PyUnicode_Check(o) || o == Py_None || PyDict_Check(o) || PySet_Check(o)) return false;
  if (is_numpy_scalar(o)) {  // read where it lies
    Py_buffer view;
    if (get_typed_buffer(o, &view, PyBUF_STRIDES | PyBUF_FORMAT) == 0) {
      auto t = view.ndim == 0 ? from_format(view.format, view.itemsize) : std::nullopt;
      if (t) {
        a.scalar = load_scalar(*t, view.buf);
        a.dtype = *t;
      }
      PyBuffer_Release(&view);
      if (t) return true;
    } else {
      PyErr_Clear();
    }
  }
  // Arrays of others, sequences: as an array of ours or of NumPy's.
  nb::object x = array_like(o);
  if (is_array(x.ptr())) {
    a.replace(&keep(Array(as_array(x.ptr()))));
    return true;
  }
  nb::object type = x.attr("dtype");
  if (!nb::cast<bool>(type.attr("isnative"))) x = x.attr("astype")(type.attr("newbyteorder")("="));
  if (!has_format(x.ptr())) return false;
  bool fresh = x.ptr() != o;
  Array made = import_numpy(x.ptr(), fresh, !fresh);
  if (made.ndim() == 0) {
    a.scalar = read_element(made, 0);
    a.dtype = made.dtype;
    return true;
  }
  a.replace(&keep(std::move(made)));
  return true;
}

void require_number(PyObject* o, Arg& a, DType to, const char* op) {
  if (a.weak || !is_integer(to)) return require_value(a, to, op);
  if (kind(to) == Kind::UInt) return;  // NumPy wraps its own scalars around
  bool ours = is_generic(o);
  if (!ours && (a.is_array() || !is_numpy_scalar(o))) return;
  DType from = ours ? as_generic(o).dtype : a.dtype;
  if (is_complex(from) || can_cast(from, to, Casting::Safe)) return;
  if (a.is_array()) {  // pending: the error is the call's, as it is for a number that is known
    const program::Constants whole;  // integers have no derivative
    a.scalar = value_of(as_generic(o));
    a.dtype = from;
    a.replace(nullptr);
  }
  Arg number = a;
  number.weak = true;
  require_value(number, to, op);
}

Array to_array(PyObject* o) {
  if (is_array(o)) return as_array(o);
  if (is_generic(o)) return array_of(as_generic(o));
  Operands ops;
  Arg a;
  if (!ops.convert(o, a)) {
    raise(ErrorKind::Type, "array", "cannot convert",
          nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o))))),
          "numbers or an array of numbers");
  }
  if (a.is_array()) return *a.array();
  Array made = empty({}, a.weak ? common_dtype({&a, 1}) : a.dtype, &cpu_device());
  made.base->ensure_data();
  store_scalar(a.scalar, made.dtype, made.base->data);
  return to_default_device(made);
}

std::vector<int64_t> to_shape(PyObject* o) {
  std::vector<int64_t> shape;
  auto extent = [&](PyObject* e) {
    if (PyBool_Check(e))
      raise(ErrorKind::Type, "shape", "a truth value is no integer", "bool", "an int");
    nb::object i = nb::steal(PyNumber_Index(e));
    if (!i.is_valid()) throw nb::python_error();
    long long v = PyLong_AsLongLong(i.ptr());
    if (v == -1 && PyErr_Occurred()) throw nb::python_error();
    shape.push_back(v);
  };
  if (PyIndex_Check(o)) {
    extent(o);
    return shape;
  }
  nb::object fast = nb::steal(PySequence_Tuple(o));
  if (!fast.is_valid()) throw nb::python_error();
  for (nb::handle e : nb::borrow<nb::tuple>(fast)) extent(e.ptr());
  return shape;
}

Casting to_casting(PyObject* o) {
  static constexpr std::pair<const char*, Casting> kRules[] = {{"unsafe", Casting::Unsafe},
                                                               {"same_kind", Casting::SameKind},
                                                               {"safe", Casting::Safe},
                                                               {"equiv", Casting::Equiv},
                                                               {"no", Casting::No}};
  if (PyUnicode_Check(o))
    for (auto [name, rule] : kRules)
      if (PyUnicode_CompareWithASCIIString(o, name) == 0) return rule;
  const bool text = PyUnicode_Check(o) || PyBytes_Check(o);
  raise(text ? ErrorKind::Value : ErrorKind::Type, "casting", "unknown casting rule",
        nb::cast<std::string>(nb::str(nb::handle(o))), "no, equiv, safe, same_kind or unsafe");
}

char to_order(PyObject* o, std::string_view op, char otherwise) {
  if (o == Py_None) return otherwise;
  static PyObject* const letters[] = {
      PyUnicode_InternFromString("C"), PyUnicode_InternFromString("K"),
      PyUnicode_InternFromString("F"), PyUnicode_InternFromString("A")};
  for (int k = 0; k < 4; ++k)
    if (o == letters[k]) return "CKFA"[k];
  bool text = PyUnicode_Check(o);
  if (!text && !PyBytes_Check(o)) {
    raise(ErrorKind::Type, std::string(op), "order is no text",
          nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o))))),
          "'C', 'F', 'A' or 'K'");
  }
  std::string s = text ? nb::cast<std::string>(nb::handle(o))
                       : std::string(PyBytes_AsString(o), static_cast<size_t>(PyBytes_Size(o)));
  char letter = s.size() == 1 && s[0] >= 'a' ? static_cast<char>(s[0] - 'a' + 'A') : s[0];
  if (s.size() != 1 || std::string_view("CFAK").find(letter) == std::string_view::npos)
    raise(ErrorKind::Value, std::string(op), "unknown order", "'" + s + "'",
          "'C', 'F', 'A' or 'K'");
  return letter;
}

}  // namespace numbus::bindings
