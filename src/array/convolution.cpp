// Convolutions as recorded calls.
#include "array/convolution.h"

#include <algorithm>

#include "array/placement.h"
#include "base/error.h"
#include "lazy/calls.h"
#include "lazy/grid_convolution.h"
#include "vendor/convolution.h"

namespace numbus {
namespace {

// Weights of few inputs are sums over very many positions, which no algorithm of cuDNN's that gives
// the same bits each time shares out well (docs/performance.md).
constexpr int64_t kFewInputs = 64;
constexpr int64_t kMostBytes = int64_t{1} << 30;  // of all windows

int64_t windows_bytes(const Array& g, std::span<const int64_t> shape) {
  const int64_t inputs = shape[1] * shape[2] * shape[3];
  const Layout& l = *g.layout;
  return inputs * l.shape(0) * l.shape(2) * l.shape(3) * itemsize(g.dtype);
}

using Margins = vendor::Convolution::Pair;

// What an image with margins around it shows of itself.
Array inside(const Array& wide, const Margins& margins, std::span<const int64_t> shape) {
  const Layout& m = *wide.layout;
  const int64_t strides[4] = {m.stride(0), m.stride(1), m.stride(2), m.stride(3)};
  const LayoutRef inner(Layout::get(shape, strides, m.itemsize()));
  return view_of(wide, inner.get(),
                 wide.offset + margins[0] * m.stride(2) + margins[1] * m.stride(3));
}

Array zero_around(const Array& x, const Margins& margins) {
  if (margins[0] == 0 && margins[1] == 0) return x;
  const Layout& l = *x.layout;
  const int64_t shape[4] = {l.shape(0), l.shape(1), l.shape(2) + 2 * margins[0],
                            l.shape(3) + 2 * margins[1]};
  Array made = empty(shape, x.dtype, x.base->device);
  Arg zero;
  zero.weak = true;
  zero.scalar = Scalar::from_int(0);
  assign(made, zero);
  assign(inside(made, margins, x.shape()), Arg(&x));
  return made;
}

// By how much margins are wider than all that a filter reaches of them from the image: cuDNN takes
// no such margins.
Margins beyond_filters(const ConvolutionForm& f, std::span<const int64_t> kernel) {
  Margins found;
  for (size_t d = 0; d < 2; ++d)
    found[d] = std::max<int64_t>(0, f.padding[d] - (kernel[d] - 1) * f.dilation[d]);
  return found;
}

// Of each example the products of its outputs' derivatives and of a matrix whose lines are what one
// weight meets (im2col: Chellapilla, Puri and Simard, 2006); their sum over the batch.
Array weights_by_windows(const Array& x, const Array& g, std::span<const int64_t> shape,
                         const ConvolutionForm& f) {
  const Array wide = zero_around(x, f.padding);
  const Layout &l = *wide.layout, &of_g = *g.layout;
  const int64_t batch = of_g.shape(0), outputs = of_g.shape(1),
                positions = of_g.shape(2) * of_g.shape(3), inputs = shape[1] * shape[2] * shape[3];
  const int64_t extents[6] = {batch, shape[1], shape[2], shape[3], of_g.shape(2), of_g.shape(3)};
  const int64_t strides[6] = {l.stride(0),
                              l.stride(1),
                              l.stride(2) * f.dilation[0],
                              l.stride(3) * f.dilation[1],
                              l.stride(2) * f.stride[0],
                              l.stride(3) * f.stride[1]};
  const LayoutRef all(Layout::get(extents, strides, l.itemsize()));
  const Array lines = copy(view_of(wide, all.get(), wide.offset), wide.dtype, true);
  const Array columns =
      transpose(reshape(lines, {batch, inputs, positions}), std::vector<int>{0, 2, 1});
  const Array each = matmul(reshape(g, {batch, outputs, positions}), columns, g.dtype, nullptr,
                            precision::kConvolutions);
  const Array sum = reduce(Reduction::Sum, each, 1, false, g.dtype, nullptr, 0);
  return reshape(sum, {shape[0], shape[1], shape[2], shape[3]});
}

Array dense(const Array& a) { return a.layout->c_contiguous() ? a : copy(a, a.dtype, true); }

}  // namespace

bool convolves(const Device& device, DType t, std::span<const int64_t> weights,
               const vendor::Convolution::Pair& stride, int64_t groups) {
  if (device.runs_on_host() || (device.runs_ptx() && vendor::has_cudnn())) return true;
  // Without cuDNN the derivatives, too, have to be such as our own kernels serve.
  vendor::Convolution c;
  c.type = t;
  c.groups = groups;
  c.batch = 1;
  c.out_channels = weights[0];
  c.in_channels = weights[1] * groups;
  c.kernel = c.in = {weights[2], weights[3]};
  c.out = c.dilation = {1, 1};
  c.stride = stride;
  auto is_served = [&](vendor::Convolution::Kind kind) {
    c.kind = kind;
    return grid_convolution::fits(c);
  };
  return grid_convolution::runs_on(device) && is_served(vendor::Convolution::Forward) &&
         is_served(vendor::Convolution::Input) && is_served(vendor::Convolution::Weight);
}

namespace {

// Without what has no effect: strides between positions that are one, distances of taps that are.
ConvolutionForm reduced(ConvolutionForm f, std::span<const int64_t> weights,
                        std::span<const int64_t> positions) {
  for (size_t d = 0; d < 2; ++d) {
    if (positions[d] == 1) f.stride[d] = 1;
    if (weights[d] == 1) f.dilation[d] = 1;
    for (const int64_t x : {f.stride[d], f.padding[d], f.dilation[d]})
      if (x < 0 || x > INT32_MAX)
        raise(ErrorKind::Value, "convolution", "a stride, a padding or a dilation out of range",
              std::to_string(x), "at most 2**31 - 1");
  }
  return f;
}

using Extents = std::span<const int64_t>;

// The extents of the three arrays of a convolution, whichever of them is asked for.
struct Roles {
  Extents image, weights, result;
};

Roles roles_of(ConvolutionKind kind, Extents a, Extents b, Extents made) {
  switch (kind) {
    case ConvolutionKind::Input: return {made, b, a};
    case ConvolutionKind::Weight: return {a, made, b};
    default: return {a, b, made};
  }
}

// Whether every tap of every position lies in the image or in its margins.
bool fit_together(const Roles& of, const ConvolutionForm& f) {
  if (of.image[0] != of.result[0] || of.image[1] != of.weights[1] * f.groups ||
      of.result[1] != of.weights[0])
    return false;
  for (size_t d = 0; d < 2; ++d) {
    if (of.result[2 + d] == 0 || of.weights[2 + d] == 0) continue;
    const int64_t reach =
        (of.result[2 + d] - 1) * f.stride[d] + (of.weights[2 + d] - 1) * f.dilation[d] + 1;
    if (reach > of.image[2 + d] + 2 * f.padding[d]) return false;
  }
  return true;
}

}  // namespace

Array convolve(ConvolutionKind kind, const Array& a, const Array& b, std::span<const int64_t> shape,
               const ConvolutionForm& given) {
  const Array x = dense(a), y = dense(b);
  if (x.ndim() != 4 || y.ndim() != 4 || shape.size() != 4 || x.dtype != y.dtype ||
      (x.dtype != DType::F32 && x.dtype != DType::F64))
    raise(ErrorKind::Value, "convolution", "not two arrays of four axes of float32 or float64",
          shape_string(*x.layout) + " " + std::string(name(x.dtype)) + ", " +
              shape_string(*y.layout) + " " + std::string(name(y.dtype)),
          "(batch, channels, height, width) and weights");
  const Roles of = roles_of(kind, x.shape(), y.shape(), shape);
  const ConvolutionForm f = reduced(given, of.weights.subspan(2), of.result.subspan(2));
  if (!fit_together(of, f))
    raise(ErrorKind::Value, "convolution", "extents do not fit together",
          shape_string(*x.layout) + " and " + shape_string(*y.layout),
          "images, weights and results of one convolution");
  const auto attributes =
      attributes_of(kind, f, x.dtype == DType::F32 && precision::allows(precision::kConvolutions));
  Array out = empty(shape, x.dtype, x.base->device);
  const vendor::Convolution form =
      convolution_of(attributes, x.dtype, *x.layout, *y.layout, *out.layout);
  const bool empties = x.size() == 0 || y.size() == 0 || out.size() == 0;
  auto own_on = [&](const Device* d) {
    return d && !empties && grid_convolution::is_chosen(*d, form);
  };
  const auto may_be_widened = [&](const Margins& by) {
    const Extents image = of.image;
    return image[0] * image[1] * (image[2] + 2 * by[0]) <= kMostBytes / 8 / (image[3] + 2 * by[1]);
  };
  const Margins more = beyond_filters(f, of.weights.subspan(2));
  if ((more[0] > 0 || more[1] > 0) && !empties && !own_on(x.base->device) &&
      (!x.base->device->host_readable() || placement::on) && may_be_widened(more)) {
    ConvolutionForm narrow = f;
    for (size_t d = 0; d < 2; ++d) narrow.padding[d] -= more[d];
    if (kind != ConvolutionKind::Input)
      return convolve(kind, zero_around(x, more), y, shape, narrow);
    const int64_t wide[4] = {shape[0], shape[1], shape[2] + 2 * more[0], shape[3] + 2 * more[1]};
    return dense(inside(convolve(kind, x, y, wide, narrow), more, shape));
  }
  // A GPU that is not open yet may be opened by the very window.
  const bool may_move = placement::on && !empties && grid_convolution::fits(form);
  if (load_device_kernel && (own_on(x.base->device) || may_move))
    for (const std::string& kernel : grid_convolution::kernels(form))
      load_device_kernel(Routine::convolve, kernel, x.dtype);
  if (!own_on(x.base->device) && kind == ConvolutionKind::Weight &&
      !x.base->device->host_readable() && f.groups == 1 &&
      shape[1] * shape[2] * shape[3] <= kFewInputs && x.size() > 0 && y.size() > 0 &&
      windows_bytes(y, shape) <= kMostBytes && may_be_widened(f.padding))
    return weights_by_windows(x, y, shape, f);
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
  i.attributes = attributes;
  record_call(i, {{&x, &y}}, {{&out}});
  return out;
}

}  // namespace numbus
