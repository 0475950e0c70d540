// Arrays and functions that programs are given by Python.
#pragma once

#include <memory>

#include "convert.h"

namespace numbus::bindings {

inline bool is_ours(nb::handle o) { return is_array(o.ptr()) || is_generic(o.ptr()); }

// An array or a 0-d value of ours, as it is.
inline Array given(nb::handle o) {
  if (is_array(o.ptr())) return as_array(o.ptr());
  if (is_generic(o.ptr())) return array_of(as_generic(o.ptr()));
  raise(ErrorKind::Type, "grad", "not an array of Numbus",
        nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o.ptr()))))),
        "an ndarray");
}

// What a derivative in Python answers: also a number of NumPy's, as operations on 0-d operands do.
inline Array answered(nb::handle o) {
  return is_ours(o) || !is_numpy_scalar(o.ptr()) ? given(o) : to_array(o.ptr());
}

inline std::vector<Array> all_given(nb::handle sequence) {
  std::vector<Array> found;
  for (nb::handle o : nb::borrow<nb::list>(nb::list(sequence))) found.push_back(given(o));
  return found;
}

// A 0-d array stays lazy.
inline nb::object wrapped(Array a) { return nb::steal(wrap_result(Masked(std::move(a)))); }

// For those who let go of it without Python's lock.
inline std::shared_ptr<nb::object> held_by_python(nb::object o) {
  return {new nb::object(std::move(o)), [](nb::object* held) {
            const nb::gil_scoped_acquire python;
            delete held;
          }};
}

}  // namespace numbus::bindings
