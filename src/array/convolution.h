// Convolutions of two spatial axes, which are linear in both operands, and their derivatives.
#pragma once

#include "array/array.h"
#include "lazy/calls.h"

namespace numbus {

// Whether the device carries out the routine and its derivatives, for weights of that shape.
bool convolves(const Device& device, DType t, std::span<const int64_t> weights,
               const vendor::Convolution::Pair& stride, int64_t groups);
// See vendor/convolution.h for the operands of each kind; `shape` is that of the result, (batch,
// channels, height, width) or (out, in / groups, height, width).
Array convolve(ConvolutionKind kind, const Array& a, const Array& b, std::span<const int64_t> shape,
               const ConvolutionForm& f);

}  // namespace numbus
