// Sorts of lines by device kernels: grids, scratch memory and the order of launches.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::routines {

// Operands are dense: `lines` lines of n elements each, one after the other, and do not overlap.
// The order is NumPy's: NaN last, complex numbers by real and then by imaginary part. `descending`
// is the reverse order, so that NaN comes first. The kernels are those of numbus.primitives for
// "sort" and "argsort" of the type; nothing waits for the device.

// Of equal elements -0.0 comes before 0.0, and NaN keeps its payload but not its sign.
void sort_gpu(Device& device, DType t, const char* in, char* out, int64_t lines, int64_t n,
              bool descending);
// Equal elements stay in their order, in descending order too. Raises NotImplemented for lines of
// more than 2**32 - 2**16 elements; so does sort_gpu.
void argsort_gpu(Device& device, DType t, const char* in, int64_t* out, int64_t lines, int64_t n,
                 bool descending);

// The same for one line by the lowest `bytes` of what argsort orders by, in ascending order only.
void argsort_low_bytes_gpu(Device& device, DType t, const char* in, int64_t* out, int64_t n,
                           int64_t bytes);

}  // namespace numbus::routines
