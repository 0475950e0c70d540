// The functions under test: name, argument list for sampling, and references in double and quad.
#pragma once

#include "math_backends.h"

// X(name, f64 reference, quad reference, lo, hi): [lo, hi] is sampled densely besides all exponents.
#define NUMBUS_UNARY(X)                     \
  X(exp, std::exp, expq, -745, 710)         \
  X(log, std::log, logq, 0, 4)              \
  X(tanh, std::tanh, tanhq, -20, 20)        \
  X(sin, std::sin, sinq, -100, 100)         \
  X(cos, std::cos, cosq, -100, 100)         \
  X(sincos_sin, std::sin, sinq, -100, 100)  \
  X(sincos_cos, std::cos, cosq, -100, 100)

#define NUMBUS_BINARY(X)

namespace numbus::math {
template <class B>
Val<B> sincos_sin(B& b, Val<B> x) {
  return sincos(b, x).sin;
}
template <class B>
Val<B> sincos_cos(B& b, Val<B> x) {
  return sincos(b, x).cos;
}
}  // namespace numbus::math
