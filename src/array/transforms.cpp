// Fourier transforms: operands brought into a form that the library takes, then one recorded call.
#include <algorithm>
#include <numeric>

#include "array/array.h"
#include "base/error.h"
#include "lazy/calls.h"
#include "vendor/fft.h"

namespace numbus {
namespace {

// `a` as (stack, last `rank` axes); nothing where only a copy has such a form.
std::optional<Array> stacked(const Array& a, int rank) {
  const int lead = a.ndim() - rank;
  std::vector<int64_t> shape = {1};
  for (int d = 0; d < a.ndim(); ++d) {
    if (d < lead)
      shape[0] *= a.layout->shape(d);
    else
      shape.push_back(a.layout->shape(d));
  }
  return reshape_view(a, shape);
}

// What the transform back to real values may destroy: nobody else has it. The coefficients that are
// real for real values are made so, which pocketfft takes for granted.
Array spectrum(const Array& x, int64_t last) {
  Array a = copy(x, x.dtype, true);
  Array imaginary = part(a, true);
  const Layout& l = *imaginary.layout;
  const auto lead = static_cast<size_t>(l.ndim() - 1);
  LayoutRef one(Layout::get({l.shape(), lead}, {l.strides(), lead}, l.itemsize()));
  Arg zero;
  zero.weak = true;
  zero.scalar = Scalar::from_int(0);
  assign(view_of(imaginary, one.get(), imaginary.offset), zero);
  if (last % 2 == 0)
    assign(view_of(imaginary, one.get(), imaginary.offset + last / 2 * l.stride(l.ndim() - 1)),
           zero);
  return a;
}

}  // namespace

Array fft(const Array& x, int rank, bool inverse, DType t, int64_t last, int scale, bool wide) {
  Array a = x;
  const bool on_host = a.base->device->runs_on_host();
  if (on_host && !vendor::has_fft_loops())
    raise(ErrorKind::Runtime, "fft", "NumPy's loops are not known", "an array on the CPU",
          "one on a GPU");
  if (rank < 1 || rank > (on_host ? 1 : 3) || rank > a.ndim())
    raise(ErrorKind::Value, "fft", "not a number of axes to transform", std::to_string(rank),
          on_host ? "1, the last of an array" : "1 to 3, the last of an array");
  if (scale < 0 || scale > (on_host ? 2 : 0) || (wide && !on_host))
    raise(ErrorKind::Value, "fft", "not a way to scale", std::to_string(scale),
          on_host ? "0, 1 or 2" : "0");
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  shape.back() = last;
  // The result lies in memory as the operand does, where that can be had without copies.
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int p, int q) {
    return std::abs(a.layout->stride(p)) > std::abs(a.layout->stride(q));
  });
  auto made = [&](const Layout* l) { return fresh(l, t, a.base->device); };
  Array result = made(dense_layout(shape, order, itemsize(t)));
  if (result.size() == 0) return result;
  Instr i;
  i.routine = inverse ? Routine::ifft : Routine::fft;
  i.loop = t;
  if (on_host) {
    i.attributes[0] = scale;
    i.attributes[1] = wide;
    record_call(i, {{&a}}, {{&result}});
    return result;
  }
  if (is_complex(a.dtype) && !is_complex(t) && a.layout->shape(a.ndim() - 1) == last / 2 + 1)
    a = spectrum(a, last);
  std::optional<Array> from, to;
  auto takes = [&] {
    from = stacked(a, rank);
    to = stacked(result, rank);
    if (!from || !to) return false;
    // Foreign memory begins anywhere.
    const int64_t start = a.base->owned ? 0 : reinterpret_cast<int64_t>(a.base->data) % 16;
    return vendor::fft_takes({a.dtype, t, inverse, from->layout.get(), to->layout.get()},
                             from->offset + start, to->offset);
  };
  if (!takes()) {
    a = copy(a, a.dtype, true);
    std::iota(order.begin(), order.end(), 0);
    result = made(dense_layout(shape, order, itemsize(t)));
    if (!takes())
      raise(ErrorKind::Value, "fft", "no transform between these",
            shape_string(*a.layout) + " " + std::string(name(a.dtype)) + " and " +
                shape_string(shape) + " " + std::string(name(t)),
            "complex numbers, or real ones and half as many complex ones");
  }
  record_call(i, {{&*from}}, {{&*to}});
  return result;
}

}  // namespace numbus
