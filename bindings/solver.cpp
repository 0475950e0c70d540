// cuSOLVER's functions on arrays whose matrices are stored by columns.
#include "vendor/solver.h"
#include "convert.h"
#include "lazy/spill.h"

namespace numbus::bindings {
namespace {

// An operand as the library takes it: on a GPU, in one piece, with work on it done.
char* memory(Array& a, const char* what, const char* shape, int ndim) {
  if (a.ndim() != ndim || !a.layout->c_contiguous() || !a.base->device->runs_ptx())
    raise(ErrorKind::Value, "linalg", std::string(what) + " does not fit",
          shape_string(*a.layout) + " on " + device_label(*a.base->device),
          std::string("a C-contiguous array ") + shape + " on a GPU");
  before_write(a);
  a.base->changed();
  char* data = data_of(a, "passed to cuSOLVER");
  a.base->device->claim(data, static_cast<size_t>(a.size() * itemsize(a.dtype)));
  return data;
}

Array& array_from(nb::handle o) {
  if (!is_array(o.ptr()))
    raise(ErrorKind::Type, "linalg", "not an array", nb::cast<std::string>(nb::str(o.type())),
          "numbus.ndarray");
  return as_array(o.ptr());
}

// (count, columns, rows): what lies in columns is row-major to us if it is transposed.
vendor::Matrices matrices(nb::handle a, nb::handle info) {
  Array &x = array_from(a), &i = array_from(info);
  vendor::Matrices m;
  m.type = x.dtype;
  m.data = memory(x, "the matrix", "(count, columns, rows)", 3);
  m.info = memory(i, "info", "(count,)", 1);
  m.count = x.layout->shape(0);
  m.cols = x.layout->shape(1);
  m.rows = x.layout->shape(2);
  if (!is_inexact(m.type) || is_half(m.type) || i.dtype != DType::I32 || i.size() < m.count)
    raise(ErrorKind::Type, "linalg", "unsupported types", std::string(name(m.type)),
          "float32, float64, complex64 or complex128, and an int32 for each matrix");
  return m;
}

// The memory of another operand, whose shape the caller vouches for in `shape`.
char* other(nb::handle o, const char* what, DType type, std::vector<int64_t> shape) {
  Array& a = array_from(o);
  std::string wanted = shape_string(shape) + " of " + std::string(name(type));
  if (a.dtype != type ||
      !std::equal(shape.begin(), shape.end(), a.shape().begin(), a.shape().end()))
    raise(ErrorKind::Value, "linalg", std::string(what) + " does not fit",
          shape_string(*a.layout) + " of " + std::string(name(a.dtype)), wanted);
  return memory(a, what, wanted.c_str(), static_cast<int>(shape.size()));
}

Device& device_of(nb::handle a) { return *array_from(a).base->device; }

}  // namespace

void bind_solver(nb::module_& m) {
  m.def("set_stacks", vendor::set_stacks_for_tests, nb::arg("largest") = -1, nb::arg("piece") = 0,
        "Up to how many rows stacks of matrices are done by one call of a library, and how many at "
        "a time; for tests and benchmarks.");
  m.def("cusolver_gesvdp",
        [](nb::object a, nb::object s, nb::object u, nb::object v, nb::object info) {
          const InPlace operands;
          vendor::Matrices x = matrices(a, info);
          char* values = other(s, "s", real_of(x.type), {x.count, x.cols});
          char* left = other(u, "u", x.type, {x.count, x.cols, x.rows});
          char* right = other(v, "v", x.type, {x.count, x.cols, x.cols});
          return vendor::solver_gesvdp(device_of(a), x, values, left, right);
        });
  m.def("cusolver_has_geev", vendor::solver_has_geev);
  m.def(
      "cusolver_geev",
      [](nb::object a, nb::object w, nb::object v, nb::object info) {
        const InPlace operands;
        vendor::Matrices x = matrices(a, info);
        const int64_t parts = is_complex(x.type) ? 1 : 2;
        char* values = other(w, "w", x.type, {x.count, parts * x.rows});
        char* vectors = v.is_none() ? nullptr : other(v, "v", x.type, {x.count, x.rows, x.rows});
        vendor::solver_geev(device_of(a), x, values, vectors);
      },
      nb::arg("a"), nb::arg("w"), nb::arg("v").none(), nb::arg("info"));
}

}  // namespace numbus::bindings
