// Formulas of arrays and numbers: what the derivatives of ops.def are computed with.
#pragma once

#include "array/array.h"
#include "array/observer.h"

namespace numbus {

// An array, or a number whose type yields to the arrays'.
struct Quantity {
  Array array;
  double number = 0;
  bool is_number = false;

  Quantity(double c) : number(c), is_number(true) {}
  Quantity(Array a) : array(std::move(a)) {}
  Arg arg() const {
    if (!is_number) return Arg(&array);
    Arg a(Scalar::from_float(number), DType::F64);
    a.weak = true;
    return a;
  }
};

inline Quantity of(Op op, const Quantity& a) {
  Arg args[] = {a.arg()};
  return Quantity(Array(apply(op, args)));
}

inline Quantity of(Op op, const Quantity& a, const Quantity& b) {
  Arg args[] = {a.arg(), b.arg()};
  return Quantity(Array(apply(op, args)));
}

// Of a function that is constant but for jumps: a constant of the derivative's own derivative.
inline Quantity constant_of(Op op, const Quantity& a) {
  const Unobserved alone;
  return of(op, a);
}

inline Quantity choose(const Quantity& condition, const Quantity& a, const Quantity& b) {
  return Quantity(Array(select(condition.arg(), a.arg(), b.arg())));
}

inline Quantity operator+(const Quantity& a, const Quantity& b) { return of(Op::add, a, b); }
inline Quantity operator-(const Quantity& a, const Quantity& b) { return of(Op::subtract, a, b); }
inline Quantity operator*(const Quantity& a, const Quantity& b) { return of(Op::multiply, a, b); }
inline Quantity operator/(const Quantity& a, const Quantity& b) { return of(Op::divide, a, b); }
inline Quantity operator-(const Quantity& a) { return of(Op::negative, a); }

// Makes values of a row's derivative (ops/derivatives.h).
struct QuantityMaker {
  Quantity operator()(double c) const { return c; }
  Quantity exp(const Quantity& a) const { return of(Op::exp, a); }
  Quantity exp2(const Quantity& a) const { return of(Op::exp2, a); }
  Quantity log(const Quantity& a) const { return of(Op::log, a); }
  Quantity sqrt(const Quantity& a) const { return of(Op::sqrt, a); }
  Quantity sin(const Quantity& a) const { return of(Op::sin, a); }
  Quantity cos(const Quantity& a) const { return of(Op::cos, a); }
  Quantity sinh(const Quantity& a) const { return of(Op::sinh, a); }
  Quantity cosh(const Quantity& a) const { return of(Op::cosh, a); }
  Quantity sign(const Quantity& a) const { return constant_of(Op::sign, a); }
  Quantity floor(const Quantity& a) const { return constant_of(Op::floor, a); }
  Quantity trunc(const Quantity& a) const { return constant_of(Op::trunc, a); }
  Quantity power(const Quantity& a, const Quantity& b) const { return of(Op::power, a, b); }
  Quantity copysign(const Quantity& a, const Quantity& b) const { return of(Op::copysign, a, b); }
  Quantity share(const Quantity& r, const Quantity& x, const Quantity& y) const {
    return choose(of(Op::equal, r, x), choose(of(Op::equal, r, y), 0.5, 1), 0);
  }
  Quantity unless(const Quantity& c, const Quantity& v) const {
    return choose(of(Op::equal, c, 0), 0, v);
  }
};

}  // namespace numbus
