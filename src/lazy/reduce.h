// Reduction state: its fields, how a kernel steps it, how states merge, and what result they give.
#pragma once

#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "lazy/window.h"

namespace numbus {

std::string_view reduction_name(Reduction kind);

// Field types of the state for elements of `in` (already the type NumPy reduces in).
std::vector<DType> reduction_fields(Reduction kind, DType in);

// Emits the step: state of the current lane or column, updated with `value` where `predicate` holds
// (or always). `position` is the element's place in NumPy's order, for argmin and argmax.
void emit_reduction_step(ir::Builder& b, Reduction kind, int first_field, ir::Val value,
                         ir::Val predicate, ir::Val position);
inline bool needs_position(Reduction kind) {
  return kind == Reduction::ArgMin || kind == Reduction::ArgMax;
}

// State arrays hold `width` values per field, one field after the other, starting at `state`.
void init_state(Reduction kind, DType in, char* state, int width);
// Merges lanes 1..width-1 into lane 0, pairwise in a fixed order.
void merge_lanes(Reduction kind, DType in, char* state, int width);
// into = merge(into, from): both compact states (one value per field, 8-byte slots).
void merge_states(Reduction kind, DType in, char* into, const char* from);
// Lane `lane` of a state array as a compact state, and the result of a compact state stored as
// `out`.
void extract_state(Reduction kind, DType in, const char* state, int width, int lane, char* compact);
void finish_state(Reduction kind, DType in, const char* compact, double ddof, DType out, char* to);
// Both for the first n columns of a state array, the results `stride` bytes apart.
void finish_columns(Reduction kind, DType in, const char* state, int width, int64_t n, double ddof,
                    DType out, char* to, int64_t stride);
constexpr int kCompactBytes = 32;

}  // namespace numbus
