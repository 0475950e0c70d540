// Derivatives of elementwise operations over arrays.
#include "array/quantity.h"
#include "base/error.h"
#include "ops/derivatives.h"

namespace numbus {

std::optional<Array> partial_derivative(Op op, int argument, std::span<const Array> operands) {
  const Row& r = row(op);
  if (operands.size() != r.nin || argument < 0 || argument >= r.nin)
    raise(ErrorKind::Value, "partial", "wrong number of operands or argument",
          std::to_string(operands.size()) + " operands, argument " + std::to_string(argument),
          std::to_string(r.nin) + " operands of " + std::string(r.name) + ", one of them");
  if (!r.differentiable[argument]) return {};
  Quantity x = operands[0], y = operands[r.nin - 1];
  Quantity result = r.nin == 1 ? of(op, x) : of(op, x, y);
  std::optional<Quantity> d =
      partial_derivative<Quantity>(QuantityMaker{}, op, argument, x, y, result);
  if (!d->is_number) {
    // Numbers alone, as in share(), compute in float64.
    bool as_is = d->array.dtype == result.array.dtype;
    return as_is ? std::move(d->array) : copy(d->array, result.array.dtype);
  }
  return full(result.array.shape(), result.array.dtype, Scalar::from_float(d->number));
}

}  // namespace numbus
