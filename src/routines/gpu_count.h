// Counts by bin, compaction by a mask and searches in sorted lines, by device kernels.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::routines {

// Operands are dense, in the device's memory, and do not overlap; nothing waits for the device. The
// kernels are those that numbus.primitives loads under the routine's name.

// out[i], of `bins` elements: how often i is among the n integers at x. Others are not counted.
void bincount_gpu(Device& device, DType t, const char* x, int64_t n, int64_t bins, int64_t* out);

// out[i]: the sum of the weights of those that are i; all have to be of [0, bins). The weights of a
// bin are added in an order that depends on their number alone, not on the device: the k-th one, in
// the order of x, to sum k % 256, and these by a tree. NumPy adds one after the other, so that the
// last bits differ.
void weighted_bincount_gpu(Device& device, DType t, const char* x, const double* weights, int64_t n,
                           int64_t bins, double* out);

// NumPy's histogram of n numbers, compared as float64: `edges` are bins + 1 of these in the
// device's memory that do not decrease, none NaN. uniform: they are evenly spaced, as linspace
// gives them.
void histogram_gpu(Device& device, DType t, const char* x, int64_t n, const double* edges,
                   int64_t bins, bool uniform, int64_t* out);

// The n elements for which the byte of the mask is not zero, in their order; count[0], in the
// device's memory, becomes their number. `out` has room for n.
void compact_gpu(Device& device, int64_t itemsize, const char* values, const char* mask, int64_t n,
                 char* out, int64_t* count);
// Their indices.
void flatnonzero_gpu(Device& device, const char* mask, int64_t n, int64_t* out, int64_t* count);

// out[i]: before which of the `count` sorted elements x[i] belongs; right: after equal ones. NaN is
// the largest.
void search_gpu(Device& device, DType t, const char* sorted, int64_t count, const char* x,
                int64_t n, bool right, int64_t* out);
// As interp() of search.h; ends[0] is what is before the first point, ends[1] after the last one.
void interp_gpu(Device& device, const double* x, int64_t n, const double* xp, const double* fp,
                int64_t points, const double* ends, double* out);

}  // namespace numbus::routines
