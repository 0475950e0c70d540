// Arrays from lists of numbers: Python's, and those read out of arrays.
#include "array/at_once_calls.h"
#include "convert.h"
#include "numpy_objects.h"

namespace numbus::bindings {

namespace {

// A list or tuple and its items, which stay where they are while nothing else runs.
struct Items {
  PyObject* o;
  bool tuple;
  explicit Items(PyObject* o) : o(o), tuple(PyTuple_CheckExact(o)) {}
  static bool are(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }
  Py_ssize_t size() const { return tuple ? PyTuple_Size(o) : PyList_Size(o); }
  PyObject* operator[](Py_ssize_t k) const {
    return tuple ? PyTuple_GetItem(o, k) : PyList_GetItem(o, k);
  }
};

// Whether it is the type of Python's numbers as arrays.
bool usual(DType t) {
  return t == DType::F64 || t == DType::I64 || t == DType::Bool || t == DType::C128;
}

// A number of a known type: a Python number, or a value of the type that Python's become (NumPy's
// scalars of these types, and ours that are known); nothing for any other object.
std::optional<Scalar> number(PyObject* o) {
  if (PyFloat_CheckExact(o)) return Scalar::from_float(PyFloat_AsDouble(o));
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow ? std::nullopt : std::optional(Scalar::from_int(n));
  }
  if (PyBool_Check(o)) return Scalar::from_bool(o == Py_True);
  if (PyComplex_CheckExact(o))
    return Scalar::from_complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
  if (is_generic(o)) {
    Generic& g = as_generic(o);
    if (!g.known && g.array.base.get() && g.array.base->data && readable_now(g.array)) value_of(g);
    const Base* there = g.array.base.get();
    if (there && !there->device->host_readable()) return {};  // the array is to be made there, too
    return g.known && usual(g.dtype) ? std::optional(g.value) : std::nullopt;
  }
  Scalar value;
  DType t;
  return read_numpy_scalar(o, value, t) && usual(t) ? std::optional(value) : std::nullopt;
}

// Whether all is even and plain; `kind` becomes the largest kind of number.
bool look(PyObject* o, const std::vector<int64_t>& shape, size_t axis, Kind& kind) {
  if (!Items::are(o)) return false;
  Items items(o);
  Py_ssize_t n = items.size();
  if (n != shape[axis]) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = items[k];
    if (axis + 1 < shape.size()) {
      if (!look(item, shape, axis + 1, kind)) return false;
    } else {
      const std::optional<Scalar> n = number(item);
      if (!n) return false;
      kind = std::max(kind, n->kind);
    }
  }
  return true;
}

void store(PyObject* o, DType t, int size, size_t depth, char*& to) {
  Items items(o);
  Py_ssize_t n = items.size();
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = items[k];
    if (depth > 1) {
      store(item, t, size, depth - 1, to);
      continue;
    }
    Scalar s = *number(item);
    if (is_inexact(t) && s.kind < Kind::Float)  // integers, too, become doubles first
      s = Scalar::from_float(static_cast<double>(s.i));
    store_scalar(s, t, to);
    to += size;
  }
}

}  // namespace

std::optional<Array> from_list(PyObject* o, std::optional<DType> dtype) {
  std::vector<int64_t> shape;
  for (PyObject* first = o; Items::are(first); first = Items(first)[0]) {
    shape.push_back(Items(first).size());
    if (shape.back() == 0 || shape.size() == kMaxDims) return std::nullopt;
  }
  Kind most = Kind::Bool;
  if (shape.empty() || !look(o, shape, 0, most)) return std::nullopt;
  DType t = most == Kind::Bool    ? DType::Bool
            : most == Kind::Int   ? DType::I64
            : most == Kind::Float ? DType::F64
                                  : DType::C128;
  if (dtype && *dtype != t) {
    // Only where every number becomes the same as in NumPy without a further look.
    if (!is_inexact(*dtype) || is_half(*dtype) || most > kind(*dtype)) return std::nullopt;
    t = *dtype;
  }
  Array made = empty(shape, t, &cpu_device());
  made.base->ensure_data();
  char* to = made.base->data;
  store(o, t, itemsize(t), shape.size(), to);
  return made;
}

}  // namespace numbus::bindings
