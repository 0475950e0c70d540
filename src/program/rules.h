// The derivatives of what a program can hold: rows, reductions, index arrays, routines.
#pragma once

#include "program/adjoints.h"

namespace numbus::program {

// What each operand of an entry gets of the adjoint of its result; nothing where it gets nothing.
using Contributions = std::vector<std::optional<Array>>;

// g: of the first result, zero where a predicate does not hold.
Contributions pull_map(const Entry& e, const Array& g);
Contributions pull_apply(const Entry& e, const Array& g);
Contributions pull_reduction(const Entry& e, const Array& g);
Contributions pull_call(const Entry& e, const Array& g);
// These change the adjoints themselves.
void pull_gather(const Entry& e, const Array& g, Adjoints& adjoints);
void pull_scatter(const Entry& e, Adjoints& adjoints);

// From the last entry to the first, those that anything depends on; `visited` is told of each,
// `passed` of every number once that entry and those after it are done, but for the first; `tells`:
// whether those who are to be told of its result's adjoint are.
void pull_all(const std::deque<Entry>& all, Adjoints& adjoints,
              const std::function<void(size_t)>& visited,
              const std::function<void(size_t)>& passed = {},
              const std::function<bool(const Entry&)>& tells = {});
// An adjoint as an array of its own, laid out as `x`: adjoints may be numbers spread over it, or
// share memory with each other.
Array own_copy(const Array& x, const std::optional<Array>& g);

// A derivative that nobody has written; missing: that there is none.
[[noreturn]] void not_yet(const Entry& e, const std::string& what = "");
[[noreturn]] void no_derivative(const Entry& e);

// The elements that an operand had.
const Array& saved(const Operand& o);
Array conjugate(const Array& x);  // of real numbers they themselves
Array zeros(std::span<const int64_t> shape, DType t, Device* device);
// Zeros, to which each value is added at its index; both are lines.
Array sums_at(const Array& index, const Array& values, int64_t size);

}  // namespace numbus::program
