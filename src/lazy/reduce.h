// Reduction states in memory: how a kernel steps them, how they merge, and what result they give.
#pragma once

#include "ir/kernel.h"
#include "ops/reductions.h"

namespace numbus {

// Emits the step: state of the current lane or column, updated with `value` where `predicate` holds
// (or always). `position` is the element's index in NumPy's order, for argmin and argmax.
void emit_reduction_step(ir::Builder& b, Reduction kind, int first_field, ir::Val value,
                         ir::Val predicate, ir::Val position);

constexpr int kCompactBytes = 32;

// Lines of elements on the host, as a kernel reduces them: element e of line l is values[l * line +
// e * step], at most kUnitPoints of them, of the type `in`, which is not complex.
struct Lines {
  const char* values;
  int64_t lines, line, count, step;
  bool in_lanes;  // as the kernel of an innermost dimension does, else one after the other
  // A byte for each element, where the values are: 0 leaves it out. Null: all count. Of reductions
  // without indices.
  const char* where = nullptr;
};

// Two lines of at most kUnitPoints elements of one real type; steps count elements.
struct Factors {
  const char *x, *y;
  int64_t x_step, y_step, count;
};

// As merge_lanes below, and the result of lane 0 stored as `out`.
using FinishRow = void (*)(DType in, char* state, int64_t row, double ddof, DType out, char* to);
// The compact state of n elements side by side, of argmin, argmax, min or max; `index`: of the
// first. False: a minimum or maximum whose bits depend on the order of steps and merges.
using FindExtreme = bool (*)(DType in, const char* at, int64_t n, int64_t index, char* compact);

// What is done with states in memory. State arrays hold `width` values per field, one field after
// the other, starting at `state`; a compact state has one value per field, 8 bytes apart.
struct ReduceSet {
  void (*init_state)(Reduction kind, DType in, char* state, int width);
  // Merges the kLanes lanes of a state array into lane 0, pairwise by halves; those of a short row,
  // which has that many elements, one after the other.
  void (*merge_lanes)(Reduction kind, DType in, char* state, int64_t row);
  FinishRow (*row_finisher)(Reduction kind, DType in);
  FindExtreme (*extreme_finder)(Reduction kind, DType in);
  // The result of each line stored as `out`, `stride` bytes apart.
  void (*reduce_lines)(Reduction kind, DType in, const Lines& over, double ddof, DType out,
                       char* to, int64_t stride);
  // into = merge(into, from): both compact states.
  void (*merge_states)(Reduction kind, DType in, char* into, const char* from);
  // Merges compact states, which stand `each` bytes apart, into the first: pairwise in their order,
  // like the carries of a binary counter.
  void (*merge_units)(Reduction kind, DType in, char* states, int64_t units, size_t each);
  // Lane `lane` of a state array as a compact state, and the result of a compact state stored as
  // `out`.
  void (*extract_state)(Reduction kind, DType in, const char* state, int width, int lane,
                        char* compact);
  void (*finish_state)(Reduction kind, DType in, const char* compact, double ddof, DType out,
                       char* to);
  // Both for the first n columns of a state array, the results `stride` bytes apart.
  void (*finish_columns)(Reduction kind, DType in, const char* state, int width, int64_t n,
                         double ddof, DType out, char* to, int64_t stride);
  // The sum of the products of two lines, with the bits of a kernel that multiplies and sums them.
  void (*sum_of_products)(DType in, const Factors& factors, char* to);
};

// Built for x86-64-v3 where the processor has it, else for the baseline; both give the same bits.
const ReduceSet& reduce_set();
extern const ReduceSet kReduceBaseline, kReduceV3;

}  // namespace numbus
