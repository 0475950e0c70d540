// Random bits of Philox, and normal numbers made from them: the same bits as those of the device
// kernels (python/numbus/primitives/random.py).
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace numbus::routines {

// n elements of the stream of np.random.Philox from the block of a counter on: of uint64 the raw
// words, of float64 and float32 what Generator.random makes of them, which takes a word for an
// element, of float32 half of one, the lower one first. state: two words of the key, four of the
// counter, the lowest first. (NumPy counts up before it makes a block: its first one is that of its
// state's counter and one.)
void philox(DType t, const uint64_t* state, int64_t n, void* out);

// n numbers, float32 or float64, of mean 0 and variance 1, a function of the key, the counter and
// the element's index. state: the key, the counter. Box and Muller's pairs of Philox 4x32 words;
// the largest are 6.8 and 8.5.
void philox_normal(DType t, const uint64_t* state, int64_t n, void* out);
// By how much the counter has to grow for the numbers after n.
int64_t philox_normal_blocks(DType t, int64_t n);

}  // namespace numbus::routines
