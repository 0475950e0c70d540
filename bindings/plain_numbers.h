// Numbers as element loops have them, read without a call where Python's headers show how they lie
// in memory: floats, ints, and scalars of float64 and int64.
#pragma once

#include <cstring>

#include "numpy_objects.h"

namespace numbus::bindings {

#ifdef Py_LIMITED_API
inline double float_value(PyObject* o) { return PyFloat_AsDouble(o); }
inline Py_ssize_t tuple_size(PyObject* tuple) { return PyTuple_Size(tuple); }
inline PyObject* tuple_item(PyObject* tuple, Py_ssize_t k) { return PyTuple_GetItem(tuple, k); }
#else
inline double float_value(PyObject* o) { return PyFloat_AS_DOUBLE(o); }
inline Py_ssize_t tuple_size(PyObject* tuple) { return PyTuple_GET_SIZE(tuple); }
inline PyObject* tuple_item(PyObject* tuple, Py_ssize_t k) { return PyTuple_GET_ITEM(tuple, k); }
#endif

// The value of a Python int; false: int64 does not hold it.
inline bool int_value(PyObject* o, int64_t& value) {
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030C0000
  const Py_ssize_t digits = Py_SIZE(o);
  if (digits >= -1 && digits <= 1) {
    value = digits * static_cast<int64_t>(reinterpret_cast<PyLongObject*>(o)->ob_digit[0]);
    return true;
  }
#endif
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow == 0;
}

// One of the numbers above.
struct PlainNumber {
  bool whole;
  bool weak;  // Python's own
  int64_t i;
  double f;

  // False: it is something else, or an int beyond int64.
  bool read(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    weak = false;
    if (type == usual_scalars[0]) return take_float(o);
    if (type == &PyFloat_Type) {
      whole = false;
      weak = true;
      f = float_value(o);
      return true;
    }
    if (type == usual_scalars[1]) return take_int(o);
    if (type == &PyLong_Type) {
      whole = weak = true;
      if (!int_value(o, i)) return false;
      f = static_cast<double>(i);
      return true;
    }
    if (type == usual_of_numpy[0]) return take_float(o);
    return type == usual_of_numpy[1] && take_int(o);
  }

 private:
  bool take_float(PyObject* o) {
    whole = false;
    std::memcpy(&f, reinterpret_cast<const char*>(o) + kScalarValue, sizeof(f));
    return true;
  }
  bool take_int(PyObject* o) {
    whole = true;
    std::memcpy(&i, reinterpret_cast<const char*>(o) + kScalarValue, sizeof(i));
    f = static_cast<double>(i);
    return true;
  }
};

// An index that is a plain number: an int of Python's, or an int64.
inline bool plain_index(PyObject* o, int64_t& i) {
  if (PyLong_CheckExact(o)) return int_value(o, i);
  if (Py_TYPE(o) != usual_scalars[1]) return false;
  std::memcpy(&i, reinterpret_cast<const char*>(o) + kScalarValue, sizeof(i));
  return true;
}

}  // namespace numbus::bindings
