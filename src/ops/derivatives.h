// The partial derivatives of elementwise operations, as ops.def gives them, over any kind of value.
#pragma once

#include <numbers>
#include <optional>
#include <type_traits>

#include "ops/table.h"

namespace numbus {

struct NoDerivative {};

// d op / d argument at the operands x and y (y = x where there is one), where the result is r; none
// where the row has none. V has the operators + - * /, also with a double on the left, and negation
// and subtraction of a double. D makes values:
//   D(c)                the number c
//   D.sin(x), ...       operations by their names
//   D.share(r, x, y)    1 where r is x alone, 1/2 where it is x and y, else 0
//   D.unless(c, v)      v, but 0 where c is 0
template <class V, class Maker>
std::optional<V> partial_derivative(const Maker& D, Op op, int argument, const V& x, const V& y,
                                    const V& r) {
  constexpr double kPi = std::numbers::pi, kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;
  constexpr NoDerivative NONE;  // NOLINT(readability-identifier-naming): the word of the table
  auto given = [](const auto& v) -> std::optional<V> {
    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, NoDerivative>)
      return {};
    else
      return v;
  };
  switch (op) {
// NOLINTBEGIN(bugprone-branch-clone): rows may have equal derivatives.
#define NUMBUS_DERIVATIVE(name, dx, dy) \
  case Op::name: return argument == 0 ? given(dx) : given(dy);
#define PRIM(name, nin, rule, bool_as, llvm, c, lo, hi, doc, ulp, also, libm, dx, dy) \
  NUMBUS_DERIVATIVE(name, dx, dy)
#define MATH(name, nin, rule, bool_as, lo, hi, doc, ulp, also, libm, dx, dy) \
  NUMBUS_DERIVATIVE(name, dx, dy)
#define INTERNAL(name, nin, rule, llvm, c, dx) NUMBUS_DERIVATIVE(name, dx, NONE)
#include "ops/ops.def"
#undef PRIM
#undef MATH
#undef INTERNAL
#undef NUMBUS_DERIVATIVE
      // NOLINTEND(bugprone-branch-clone)
    default: return {};
  }
}

}  // namespace numbus
