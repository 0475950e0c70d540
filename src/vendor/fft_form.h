// A stack of transforms in cuFFT's terms: extents, embedding extents, strides in elements.
#pragma once

#include <array>
#include <compare>
#include <optional>

#include "vendor/fft.h"

namespace numbus::vendor {

// Element (x, y, z) of transform number b lies at
// b * distance + ((x * embed[1] + y) * embed[2] + z) * stride.
struct FftSide {
  std::array<long long, 3> embed = {1, 1, 1};
  long long stride = 1, distance = 1;
  auto operator<=>(const FftSide&) const = default;
};

struct FftForm {
  bool wide = false;  // float64 and complex128
  enum Kind { ComplexToComplex, RealToComplex, ComplexToReal } kind = ComplexToComplex;
  int rank = 1;
  std::array<long long, 3> n = {1, 1, 1};  // of the real side, where there is one
  long long stack = 1;
  FftSide in, out;
  auto operator<=>(const FftForm&) const = default;
};

// Nothing where it takes copies.
std::optional<FftForm> fft_form(const Transform& t);

}  // namespace numbus::vendor
