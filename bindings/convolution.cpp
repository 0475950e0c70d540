// Convolutions for Python.
#include "array/convolution.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "given.h"
#include "lazy/grid_convolution.h"

namespace numbus::bindings {
namespace {

using Pair = std::array<int64_t, 2>;

nb::object convolved(int kind, nb::handle a, nb::handle b, std::vector<int64_t> shape, Pair stride,
                     Pair padding, Pair dilation, int64_t groups) {
  mark_line();
  return nb::steal(wrap(convolve(static_cast<vendor::Convolution::Kind>(kind), given(a), given(b),
                                 shape, {stride, padding, dilation, groups})));
}

}  // namespace

void bind_convolution(nb::module_& m) {
  m.def(
      "convolves",
      [](nb::handle a, nb::handle dtype, const std::array<int64_t, 4>& weights, Pair stride,
         int64_t groups) {
        return numbus::convolves(*given(a).base->device, to_dtype(dtype.ptr()), weights, stride,
                                 groups);
      },
      nb::arg("a"), nb::arg("dtype"), nb::arg("weights"), nb::arg("stride"), nb::arg("groups"),
      "Whether the array's device carries out convolutions in that dtype by weights of that shape, "
      "and their derivatives.");
  m.def(
      "set_grid_convolutions", [](bool on) { grid_convolution::always = on; }, nb::arg("on"),
      "Whether convolutions use the kernels of our own wherever these can be used, for tests.");
  m.def(
      "convolve", &convolved, nb::arg("kind"), nb::arg("a"), nb::arg("b"), nb::arg("shape"),
      nb::arg("stride"), nb::arg("padding"), nb::arg("dilation"), nb::arg("groups"),
      "Convolution (kind 0), its derivative by the input (1) or by the weights (2), of four axes.");
}

}  // namespace numbus::bindings
