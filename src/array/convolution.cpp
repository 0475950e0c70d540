// Convolutions as recorded calls.
#include "array/convolution.h"

#include "base/error.h"
#include "lazy/calls.h"
#include "vendor/convolution.h"

namespace numbus {
namespace {

Array dense(const Array& a) { return a.layout->c_contiguous() ? a : copy(a, a.dtype, true); }

}  // namespace

bool convolves(const Device& device) {
  return device.runs_on_host() || (device.runs_ptx() && vendor::has_cudnn());
}

Array convolve(ConvolutionKind kind, const Array& a, const Array& b, std::span<const int64_t> shape,
               const ConvolutionForm& f) {
  const Array x = dense(a), y = dense(b);
  if (x.ndim() != 4 || y.ndim() != 4 || shape.size() != 4 || x.dtype != y.dtype ||
      (x.dtype != DType::F32 && x.dtype != DType::F64))
    raise(ErrorKind::Value, "convolution", "not two arrays of four axes of float32 or float64",
          shape_string(*x.layout) + " " + std::string(name(x.dtype)) + ", " +
              shape_string(*y.layout) + " " + std::string(name(y.dtype)),
          "(batch, channels, height, width) and weights");
  Array out = empty(shape, x.dtype, x.base->device);
  if (out.size() == 0) return out;
  if (x.size() == 0 || y.size() == 0) {
    Arg zero;
    zero.weak = true;
    zero.scalar = Scalar::from_int(0);
    assign(out, zero);
    return out;
  }
  Instr i;
  i.routine = Routine::convolve;
  i.loop = x.dtype;
  i.attributes = attributes_of(kind, f);
  record_call(i, {{&x, &y}}, {{&out}});
  return out;
}

}  // namespace numbus
