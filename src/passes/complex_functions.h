// Elementary functions of complex numbers, as real steps on their parts.
#pragma once

#include "passes/math_builder.h"

namespace numbus::complex_math {

struct Parts {
  ir::Val re, im;
};

enum class LogBase { E, Two, Ten };

Parts multiply(MathBuilder& m, Parts x, Parts y);
Parts divide(MathBuilder& m, Parts x, Parts y);
Parts reciprocal(MathBuilder& m, Parts z);
Parts sign(MathBuilder& m, Parts z);
Parts power(MathBuilder& m, Parts x, Parts y);

Parts sqrt(MathBuilder& m, Parts z);
Parts exp(MathBuilder& m, Parts z);
Parts exp2(MathBuilder& m, Parts z);
Parts expm1(MathBuilder& m, Parts z);
Parts log(MathBuilder& m, Parts z, LogBase base);
Parts log1p(MathBuilder& m, Parts z);
Parts sinh(MathBuilder& m, Parts z);
Parts cosh(MathBuilder& m, Parts z);
Parts tanh(MathBuilder& m, Parts z);
Parts sin(MathBuilder& m, Parts z);
Parts cos(MathBuilder& m, Parts z);
Parts tan(MathBuilder& m, Parts z);

Parts arcsin(MathBuilder& m, Parts z);
Parts arccos(MathBuilder& m, Parts z);
Parts arctan(MathBuilder& m, Parts z);
Parts arcsinh(MathBuilder& m, Parts z);
Parts arccosh(MathBuilder& m, Parts z);
Parts arctanh(MathBuilder& m, Parts z);

}  // namespace numbus::complex_math
