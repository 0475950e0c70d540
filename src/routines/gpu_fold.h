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

}  // namespace numbus::routines
