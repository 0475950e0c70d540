// The derivative of cross entropy with classes.
#pragma once

#include "array/array.h"

namespace numbus::program {

// What cross entropy is made of, along an axis of classes: `exponents` exp(x - max(x)) and their
// `sums`, which keep the axis, of arrays that programs see; whether an element is of its target's
// class (`own`, of x's shape), whether the target counts (`counts`, without the axis), and what the
// loss is multiplied by (`weights`).
struct ClassLosses {
  Array exponents, sums, own, counts, weights;
  int axis;
};

// Programs that depend on `x` are told that `losses`, which instructions made that they did not
// see, are log(sum(exp(x))) - x[target] times the weights, and zero where the target does not
// count.
void enter_class_losses(const Array& x, const ClassLosses& of, const Array& losses);

}  // namespace numbus::program
