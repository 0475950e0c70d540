// Which elements of an operation NumPy may warn of: not a number where no operand is none, infinite
// where all are finite, and what has no value among the integers.
#pragma once

#include <cstdint>

#include "lazy/window.h"

namespace numbus::float_errors {

// How it is found out that an operation meets an error.
enum class Evidence : uint8_t {
  None,     // NumPy warns of nothing
  Flags,    // the processor's flags say so, and nothing else sets them
  Result,   // our own steps set flags or leave them out: the result is looked at
  Any,      // as Result, but NumPy warns of operands that are no numbers, or infinite, too
  Large,    // as Any, and of last operands so large that steps of NumPy's overflow
  Order,    // complex numbers are compared: operands that are none
  Divisor,  // integers, by zero
  Cast      // of floats to integers
};
Evidence evidence_of(const Instr& i, DType out);

// Elements that lie side by side, or are one and the same (stride 0).
struct Elements {
  DType type;
  const char* at;
  bool one = false;
  const char* element(int64_t k) const { return at + (one ? 0 : k * itemsize(type)); }
};
struct Examined {
  Evidence by;
  Elements result;
  int count = 0;  // operands
  Elements in[3];
  const char* where = nullptr;  // a byte for each element: whether it takes part
};

// What a suspicious element looks like: NumPy may have another word for each.
enum class Looks : uint8_t { Invalid, OfNan, Pole, Infinite, OfInfinite, Large };
constexpr int kLooks = 6;

// Whether the flags of such an instruction say all there is, or none of its steps sets any.
bool keeps_flags_clean(const Instr& i, DType out);

// Whether any of these is infinite or not a number.
bool any_special(const Elements& e, int64_t n);
// Whether any of these int32 or int64 is what becomes of a float that has no value among them.
bool any_lowest(DType type, const char* at, int64_t n);

// The first suspicious element from `from` on, among n; n: there is none.
int64_t find_suspicious(const Examined& e, int64_t from, int64_t n, Looks& looks);

}  // namespace numbus::float_errors
