// The functions under test: names, references and the ranges that are sampled densely.
#pragma once

#include <cmath>

#include "math_backends.h"

// X(name, reference for float .. long double, reference in quad, lo, hi)
#define NUMBUS_UNARY(X)                    \
  X(exp, std::exp, expq, -745, 710)        \
  X(exp2, std::exp2, exp2q, -1075, 1024)   \
  X(expm1, std::expm1, expm1q, -40, 710)   \
  X(log, std::log, logq, 0, 4)             \
  X(log2, std::log2, log2q, 0, 4)          \
  X(log10, std::log10, log10q, 0, 4)       \
  X(log1p, std::log1p, log1pq, -1, 4)      \
  X(sin, std::sin, sinq, -100, 100)        \
  X(cos, std::cos, cosq, -100, 100)        \
  X(sincos_sin, std::sin, sinq, -100, 100) \
  X(sincos_cos, std::cos, cosq, -100, 100) \
  X(tan, std::tan, tanq, -100, 100)        \
  X(arcsin, std::asin, asinq, -1, 1)       \
  X(arccos, std::acos, acosq, -1, 1)       \
  X(arctan, std::atan, atanq, -4, 4)       \
  X(sinh, std::sinh, sinhq, -711, 711)     \
  X(cosh, std::cosh, coshq, -711, 711)     \
  X(tanh, std::tanh, tanhq, -20, 20)       \
  X(arcsinh, std::asinh, asinhq, -10, 10)  \
  X(arccosh, std::acosh, acoshq, 1, 10)    \
  X(arctanh, std::atanh, atanhq, -1, 1)    \
  X(cbrt, std::cbrt, cbrtq, -10, 10)

// X(name, reference, reference in quad, lo, hi, lo2, hi2)
#define NUMBUS_BINARY(X)                                        \
  X(pow, std::pow, powq, 0, 8, -40, 40)                         \
  X(hypot, std::hypot, hypotq, -4, 4, -4, 4)                    \
  X(arctan2, std::atan2, atan2q, -4, 4, -4, 4)                  \
  X(logaddexp, logaddexp_ref, logaddexp_refq, -40, 40, -40, 40) \
  X(logaddexp2, logaddexp2_ref, logaddexp2_refq, -50, 50, -50, 50)

namespace numbus::test {

template <class R>
R logaddexp_ref(R x, R y) {
  if (x != x || y != y) return x + y;
  R top = x > y ? x : y, bottom = x > y ? y : x;
  return std::isinf(top) ? top : top + std::log1p(std::exp(bottom - top));
}

template <class R>
R logaddexp2_ref(R x, R y) {
  if (x != x || y != y) return x + y;
  R top = x > y ? x : y, bottom = x > y ? y : x;
  return std::isinf(top) ? top : top + std::log1p(std::exp2(bottom - top)) / std::log(R(2));
}

}  // namespace numbus::test

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
