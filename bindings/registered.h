// The adapter of registered functions: what their annotations say, done before the body runs.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "convert.h"

namespace numbus::bindings {

constexpr int kMaxParameters = 16;

// One parameter of a registered function, from its annotation (numbus/functions/registry.py).
struct Parameter {
  enum Kind : uint8_t {
    Any,      // as it is
    Array,    // an ndarray
    Operand,  // an ndarray, a generic or a number
    Axis,     // an int in [0, ndim) of the array `of`; None: see `none`
    Axes,     // a tuple of such; None stays
    Out,      // None or an array, into which the adapter stores the result; the body gets None
    DType,    // a numpy.dtype that Numbus has, or None
    Choice,   // one of some words
    Flag,     // True or False; None stays where it is the default
    Int,      // an int; None stays where it is the default
  } kind = Any;
  enum None : uint8_t { Refused, Flat, Kept } none = Kept;  // Flat: of the flattened array
  uint8_t of = 0;
  PyObject* name = nullptr;      // interned
  PyObject* fallback = nullptr;  // the default; null: it has none
  PyObject* choices = nullptr;   // a tuple of interned words
};

struct Signature {
  std::string op;  // what messages call the function
  std::vector<Parameter> parameters;
  int positional_only = 0, positional = 0;  // of the parameters; the rest goes by keyword
  PyObject* names = nullptr;                // of the rest, a tuple
  int out = -1;
  bool others = false;  // arguments that do not fit are NumPy's, which takes any keywords
  // What *arguments after the positional ones become; null: there are none.
  std::optional<Parameter> rest;

  static Signature* from_python(const std::string& op, nb::sequence parameters, int positional_only,
                                int positional, int rest);
};

// The arguments of one call, in the order of the parameters.
struct Bound {
  std::array<PyObject*, kMaxParameters> values{};
  std::vector<PyObject*> rest;   // the *arguments
  std::vector<nb::object> made;  // keeps what conversions gave
  PyObject* out = nullptr;       // as the caller gave it
};

// Whether the arguments fit the parameters; if not, the function itself says what is wrong.
bool bind(const Signature& s, PyObject* const* args, Py_ssize_t positional, PyObject* names,
          Bound& b);
// Makes of the arguments what the annotations say. Raises.
void convert(const Signature& s, Bound& b);
// The body with these arguments; those that are its own defaults are left out where they come last.
PyObject* call_with(const Signature& s, const Bound& b, PyObject* body);
// The body's result, in the caller's `out` if there is one.
PyObject* store(const Signature& s, const Bound& b, PyObject* result);

}  // namespace numbus::bindings
