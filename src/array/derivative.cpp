// Derivatives of elementwise operations over arrays.
#include "array/array.h"
#include "base/error.h"
#include "ops/derivatives.h"

namespace numbus {

namespace {

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

Quantity of(Op op, const Quantity& a) {
  Arg args[] = {a.arg()};
  return Quantity(Array(apply(op, args)));
}

Quantity of(Op op, const Quantity& a, const Quantity& b) {
  Arg args[] = {a.arg(), b.arg()};
  return Quantity(Array(apply(op, args)));
}

Quantity choose(const Quantity& condition, const Quantity& a, const Quantity& b) {
  return Quantity(Array(select(condition.arg(), a.arg(), b.arg())));
}

Quantity operator+(const Quantity& a, const Quantity& b) { return of(Op::add, a, b); }
Quantity operator-(const Quantity& a, const Quantity& b) { return of(Op::subtract, a, b); }
Quantity operator*(const Quantity& a, const Quantity& b) { return of(Op::multiply, a, b); }
Quantity operator/(const Quantity& a, const Quantity& b) { return of(Op::divide, a, b); }
Quantity operator-(const Quantity& a) { return of(Op::negative, a); }

struct Maker {
  Quantity operator()(double c) const { return c; }
  Quantity exp(const Quantity& a) const { return of(Op::exp, a); }
  Quantity exp2(const Quantity& a) const { return of(Op::exp2, a); }
  Quantity log(const Quantity& a) const { return of(Op::log, a); }
  Quantity sqrt(const Quantity& a) const { return of(Op::sqrt, a); }
  Quantity sin(const Quantity& a) const { return of(Op::sin, a); }
  Quantity cos(const Quantity& a) const { return of(Op::cos, a); }
  Quantity sinh(const Quantity& a) const { return of(Op::sinh, a); }
  Quantity cosh(const Quantity& a) const { return of(Op::cosh, a); }
  Quantity sign(const Quantity& a) const { return of(Op::sign, a); }
  Quantity floor(const Quantity& a) const { return of(Op::floor, a); }
  Quantity trunc(const Quantity& a) const { return of(Op::trunc, a); }
  Quantity power(const Quantity& a, const Quantity& b) const { return of(Op::power, a, b); }
  Quantity copysign(const Quantity& a, const Quantity& b) const { return of(Op::copysign, a, b); }
  Quantity share(const Quantity& r, const Quantity& x, const Quantity& y) const {
    return choose(of(Op::equal, r, x), choose(of(Op::equal, r, y), 0.5, 1), 0);
  }
  Quantity unless(const Quantity& c, const Quantity& v) const {
    return choose(of(Op::equal, c, 0), 0, v);
  }
};

}  // namespace

std::optional<Array> partial_derivative(Op op, int argument, std::span<const Array> operands) {
  const Row& r = row(op);
  if (operands.size() != r.nin || argument < 0 || argument >= r.nin)
    raise(ErrorKind::Value, "partial", "wrong number of operands or argument",
          std::to_string(operands.size()) + " operands, argument " + std::to_string(argument),
          std::to_string(r.nin) + " operands of " + std::string(r.name) + ", one of them");
  if (!r.differentiable[argument]) return {};
  Quantity x = operands[0], y = operands[r.nin - 1];
  Quantity result = r.nin == 1 ? of(op, x) : of(op, x, y);
  std::optional<Quantity> d = partial_derivative<Quantity>(Maker{}, op, argument, x, y, result);
  if (!d->is_number) {
    // Numbers alone, as in share(), compute in float64.
    bool as_is = d->array.dtype == result.array.dtype;
    return as_is ? std::move(d->array) : copy(d->array, result.array.dtype);
  }
  return full(result.array.shape(), result.array.dtype, Scalar::from_float(d->number));
}

}  // namespace numbus
