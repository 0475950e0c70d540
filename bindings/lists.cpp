// Arrays from lists of plain Python numbers.
#include "convert.h"

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
    } else if (PyFloat_CheckExact(item)) {
      kind = std::max(kind, Kind::Float);
    } else if (PyLong_CheckExact(item)) {
      int overflow = 0;
      PyLong_AsLongLongAndOverflow(item, &overflow);
      if (overflow) return false;
      kind = std::max(kind, Kind::Int);
    } else if (PyComplex_CheckExact(item)) {
      kind = Kind::Complex;
    } else if (!PyBool_Check(item)) {
      return false;
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
    Scalar s;
    if (PyComplex_CheckExact(item))
      s = Scalar::from_complex(PyComplex_RealAsDouble(item), PyComplex_ImagAsDouble(item));
    else if (is_inexact(t))  // integers, too, become doubles first
      s = Scalar::from_float(PyFloat_AsDouble(item));
    else
      s = Scalar::from_int(PyLong_AsLongLong(item));
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
    if (!is_inexact(*dtype) || *dtype == DType::F16 || most > kind(*dtype)) return std::nullopt;
    t = *dtype;
  }
  Array made = empty(shape, t, &cpu_device());
  made.base->ensure_data();
  char* to = made.base->data;
  store(o, t, itemsize(t), shape.size(), to);
  return made;
}

}  // namespace numbus::bindings
