// NumPy's scalars as Numbus makes them: values that are known, in the memory of a CPU. Each type is
// a subclass of NumPy's whose operators know Numbus's arrays: those of NumPy's own types take a way
// of 0.4 µs to them. Booleans are NumPy's two objects.
#pragma once

#include "convert.h"

namespace numbus::bindings {

// The element at this address: such a scalar, or a `generic` after keep_generics().
PyObject* scalar_of(DType t, const void* at);
// The 0-d result of an operation: its value where that is there already, else a `generic`.
PyObject* scalar_or_generic(Array&& a);
// A scalar of ours as an object of NumPy's own type; others as they are.
nb::object plain_scalar(PyObject* o);
// A number that a function of NumPy's returned: itself, or a `generic` after keep_generics().
nb::object library_number(nb::handle number);
void bind_scalars(nb::module_& m);

}  // namespace numbus::bindings
