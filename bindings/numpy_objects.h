// NumPy's own objects as they lie in memory: what the second version of its binary interface
// promises to extension modules. NumPy's headers are not needed to build.
#pragma once

#include "convert.h"

namespace numbus::bindings {

// Finds NumPy's table of functions and types. Raises ImportError where the binary interface is
// another one.
void load_numpy();

// Whether it is a type of NumPy's own scalars that Numbus has; subclasses of these are not.
bool is_numpy_scalar_type(PyTypeObject* type);
// The value of a scalar whose type is one of NumPy's own; false for anything else, subclasses of
// these types among them.
bool read_numpy_scalar(PyObject* o, Scalar& value, DType& dtype);

// The memory of an array; shape and strides are the array's own.
struct NumpyMemory {
  char* data;
  std::span<const int64_t> shape, strides;
  DType dtype;
  bool writeable;
};
// Nothing for what is no array of NumPy's without behaviour of its own (plain_array_types()), and
// for elements that Numbus has not.
std::optional<NumpyMemory> numpy_memory(PyObject* o);

}  // namespace numbus::bindings
