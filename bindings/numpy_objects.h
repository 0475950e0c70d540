// NumPy's own objects as they lie in memory: what the second version of its binary interface
// promises to extension modules. NumPy's headers are not needed to build.
#pragma once

#include "convert.h"

namespace numbus::bindings {

// Finds NumPy's table of functions and types. Raises ImportError where the binary interface is
// another one.
void load_numpy();

// A scalar is the head of an object and its value (numpy/arrayscalars.h).
constexpr size_t kScalarValue = sizeof(PyObject);
// NumPy's type of scalars.
PyTypeObject* numpy_scalar_type(DType t);
// Has scalars of a subclass be read as NumPy's own are.
void add_scalar_type(PyTypeObject* type, DType t);
// The dtype of NumPy's own type of scalars, or one that was added; nothing for other types.
std::optional<DType> numpy_scalar_dtype(PyTypeObject* type);
// Whether it is one that element loops read: float64 or int64, as Numbus makes them.
extern PyTypeObject* usual_scalars[2];
// NumPy's own two.
extern PyTypeObject* usual_of_numpy[2];
inline bool is_usual_scalar(PyObject* o) {
  return Py_TYPE(o) == usual_scalars[0] || Py_TYPE(o) == usual_scalars[1];
}
// numpy.True_ or numpy.False_; a new reference.
PyObject* numpy_bool(bool value);
// The value of a scalar whose type numpy_scalar_dtype() knows; false for anything else.
bool read_numpy_scalar(PyObject* o, Scalar& value, DType& dtype);

// The memory of an array; shape and strides are the array's own.
struct NumpyMemory {
  char* data;
  std::span<const int64_t> shape, strides;
  DType dtype;
  bool writeable;
  bool rows;     // in C order without gaps
  bool columns;  // in Fortran order without gaps
  bool owns;     // its own memory, that of nothing else
};
// Nothing for what is no array of NumPy's without behaviour of its own (plain_array_types()), and
// for elements that Numbus has not.
std::optional<NumpyMemory> numpy_memory(PyObject* o);
// Whether it is of NumPy's own type of arrays, whatever its elements are.
bool is_plain_numpy(PyObject* o);
// An array of NumPy's over the memory of ours, which is on a CPU and shared for as long.
nb::object numpy_view(const Array& a);

// The same for the length of one call: an array of NumPy's that is used again by the next call
// where nobody has kept it.
class Lease {
 public:
  Lease() = default;
  explicit Lease(const Array& a);
  Lease(Lease&& o) noexcept : base_(std::move(o.base_)), view_(o.view_), pooled_(o.pooled_) {
    o.view_ = nullptr;
  }
  Lease& operator=(Lease&&) = delete;
  ~Lease();
  PyObject* view() const { return view_; }

 private:
  Handle base_;
  PyObject* view_ = nullptr;
  bool pooled_ = false;
};

}  // namespace numbus::bindings
