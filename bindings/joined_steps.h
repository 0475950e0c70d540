// Steps of a formula joined to functions that are recorded as one instruction each.
#pragma once

#include <memory>
#include <vector>

#include "array/array.h"

namespace numbus::bindings::formula {

// What a step reads: an array, a number or an earlier step's result, by its position.
struct Source {
  enum Kind : int { Given, Number, Result } kind;
  size_t at;
  bool operator==(const Source&) const = default;
};

struct Step {
  Op op;
  int into;  // the array that it overwrites; -1: the result is new
  std::vector<Source> in;
  std::shared_ptr<const Recordable> function = nullptr;  // with op apply
};

// The same results by fewer steps, each an elementwise function of arrays of that type, which does
// the given steps in their order of operations and so gives their bits.
std::vector<Step> joined(const std::vector<Step>& steps, DType type);

}  // namespace numbus::bindings::formula
