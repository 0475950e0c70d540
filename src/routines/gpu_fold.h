// Folds by an operation of the table, by device kernels that numbus.primitives loads under the
// routine's name and the operation's.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"
#include "ops/table.h"

namespace numbus::routines {

// Lines of n elements, of which `inner` lie side by side.
struct FoldShape {
  int64_t outer, n, inner;
};

// Dense operands in the device's memory; nothing waits for the device. out[o, s, i]: the fold of
// x[o, begin : end, i], where bounds[s] is segment s's begin and bounds[segments + s] its end.
// associative: elements of a segment meet in an order that depends on its length alone, else one
// after the other.
void fold_segments_gpu(Device& device, Op op, DType t, bool associative, const FoldShape& shape,
                       const char* x, const int64_t* bounds, int64_t segments, char* out);

// Elements of type t and the values that are folded into them, computed in `loop`, as `points` rows
// of `inner`. keys: sorted; order: the row that each belongs to. out: at the row of the last of
// equal keys the fold of the element at the row of the first with the values of all, in the order
// of the keys; last: true for that row, else false.
struct FoldRuns {
  const int64_t *keys, *order;
  const char *old, *values;
  char *out, *last;
};
void fold_runs(Device& device, Op op, DType t, DType loop, int64_t points, int64_t inner,
               const FoldRuns& operands);
// The same where the values of equal keys may meet in any order and are of the elements' type: many
// threads share those of one key.
void fold_runs_in_pieces(Device& device, Op op, DType t, int64_t points, int64_t inner,
                         const FoldRuns& operands);

}  // namespace numbus::routines
