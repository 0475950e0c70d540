// Random numbers of Philox, by device kernels.
#pragma once

#include <array>
#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::routines {

// The stream of np.random.Philox for a key, from element `skip` of the block of a counter on (NumPy
// counts up before it makes a block: its first one is that of the state's counter and one), n
// elements: of uint64 the raw words, of float64 and float32 what Generator.random makes of them. An
// element is a word of 64 bits, of float32 half of one, the lower one first.
void philox_gpu(Device& device, DType t, const std::array<uint64_t, 2>& key,
                std::array<uint64_t, 4> counter, int64_t skip, int64_t n, char* out);

// n normal numbers, float32 or float64, of a stream of our own: a function of key, counter and the
// element's index. philox_normal_blocks: by how much the counter has to grow for the numbers after.
void philox_normal_gpu(Device& device, DType t, uint64_t key, uint64_t counter, int64_t n,
                       char* out);
int64_t philox_normal_blocks(DType t, int64_t n);

}  // namespace numbus::routines
