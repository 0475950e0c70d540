// Sorting lines of numbers, and finding the order of their elements.
//
// Everywhere: `lines` lines of `n` elements, dense and one after the other; NumPy's order, in which
// NaN comes last (complex numbers: first by the real, then by the imaginary part; those with a NaN
// come last: in the imaginary part, in the real part, in both). `descending` is the exact reverse
// of that order: NaN comes first. Results do not depend on the number of threads. Ctrl-C raises
// Interrupted and leaves `out` in any state.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace numbus::routines {

// `stable`: elements that compare equal keep their order, which shows for 0.0 and -0.0 and in the
// bits of NaN. Otherwise -0.0 is put before 0.0 and every NaN becomes the quiet, positive one.
// `in` may be `out`.
void sort(DType t, const char* in, char* out, int64_t lines, int64_t n, bool stable,
          bool descending);

// The indices in their line of the elements of each line in sorted order. Equal elements (NaN are
// equal, too) keep their order: it is always stable.
void argsort(DType t, const char* in, int64_t* out, int64_t lines, int64_t n, bool descending);

// For each k of `kth`, which are in [0, n) in any order: the element k is the one that sorting puts
// there, none before it is larger, none after it is smaller. Bits as those of `sort` that is not
// stable. `in` may be `out`.
void partition(DType t, const char* in, char* out, int64_t lines, int64_t n,
               std::span<const int64_t> kth);
// The same for the indices of the elements.
void argpartition(DType t, const char* in, int64_t* out, int64_t lines, int64_t n,
                  std::span<const int64_t> kth);

}  // namespace numbus::routines
