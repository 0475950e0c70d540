// Results of tensors without elements.
#include <array>
#include <optional>
#include <span>

#include "program/program.h"
#include "tensors.h"

namespace numbus::bindings {
namespace {

// The arrays among arguments, also within tuples and lists.
void collect(PyObject* o, std::vector<Array>& found) {
  if (is_array(o)) {
    found.push_back(as_array(o));
  } else if (PyTuple_Check(o)) {
    for (Py_ssize_t k = 0; k < PyTuple_Size(o); ++k) collect(PyTuple_GetItem(o, k), found);
  } else if (PyList_Check(o)) {
    for (Py_ssize_t k = 0; k < PyList_Size(o); ++k) collect(PyList_GetItem(o, k), found);
  }
}

// Nothing is recorded of arrays without elements. What is made of them depends on them all the
// same, as in PyTorch: a loss over no element can be differentiated.
nb::object depending(PyObject* o, std::span<const Array> operands, bool empties) {
  if (PyTuple_Check(o)) {
    const Py_ssize_t n = PyTuple_Size(o);
    nb::object made = nb::steal(PyTuple_New(n));
    for (Py_ssize_t k = 0; k < n; ++k)
      PyTuple_SetItem(made.ptr(), k,
                      depending(PyTuple_GetItem(o, k), operands, empties).release().ptr());
    if (PyTuple_CheckExact(o)) return made;
    return nb::steal(PyObject_CallObject(reinterpret_cast<PyObject*>(Py_TYPE(o)), made.ptr()));
  }
  if (PyList_CheckExact(o)) {
    nb::list made;
    for (Py_ssize_t k = 0; k < PyList_Size(o); ++k)
      made.append(depending(PyList_GetItem(o, k), operands, empties));
    return made;
  }
  if (!is_array(o) && !is_numpys(o)) return nb::borrow(o);
  const nb::object held = array_object(o);
  const Array a = as_array(held.ptr());
  if (!is_inexact(a.dtype) || !(empties || a.size() == 0) || program::depends(a))
    return nb::borrow(o);
  std::optional<Array> own;
  {
    const Unobserved alone;
    own = copy(a, a.dtype);
  }
  const std::vector<Array> of(operands.begin(), operands.end());
  program::add_work("empty", of, std::array{*own}, [of](std::span<const std::optional<Array>>) {
    std::vector<std::optional<Array>> zeros;
    for (const Array& x : of) {
      Array zero = empty(x.shape(), x.dtype, x.base->device);
      assign(zero, Arg(Scalar::from_float(0), DType::F64));
      zeros.push_back(std::move(zero));
    }
    return zeros;
  });
  return nb::steal(wrap(*own));
}

// Whether an array without elements is among the arguments or the results.
bool holds_empty(PyObject* o) {
  if (is_array(o)) return as_masked(o).full.size() == 0;
  if (PyTuple_Check(o)) {
    for (Py_ssize_t k = 0; k < PyTuple_Size(o); ++k)
      if (holds_empty(PyTuple_GetItem(o, k))) return true;
  } else if (PyList_Check(o)) {
    for (Py_ssize_t k = 0; k < PyList_Size(o); ++k)
      if (holds_empty(PyList_GetItem(o, k))) return true;
  }
  return false;
}

}  // namespace

bool has_empty(PyObject* made, const Arguments& args) {
  if (holds_empty(made)) return true;
  for (const nb::object& x : args)
    if (holds_empty(x.ptr())) return true;
  return false;
}

nb::object with_empty(nb::object made, const Arguments& args) {
  std::vector<Array> given, operands;
  for (const nb::object& x : args) collect(x.ptr(), given);
  bool empties = false;
  for (const Array& a : given) {
    if (!is_inexact(a.dtype) || !program::depends(a)) continue;
    operands.push_back(a);
    empties = empties || a.size() == 0;
  }
  return operands.empty() ? made : depending(made.ptr(), operands, empties);
}

}  // namespace numbus::bindings
