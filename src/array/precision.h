// How precisely products and convolutions of float32 are computed where a GPU offers less.
#pragma once

#include <atomic>
#include <cstdint>

namespace numbus::precision {

// What may be computed in TF32: operands rounded to 10 bits of mantissa, sums in float32. The
// setting in force when work is recorded belongs to it. One for the process, as in PyTorch.
enum : uint8_t { kProducts = 1, kConvolutions = 2 };
inline std::atomic<uint8_t> tf32{0};
// A number for the dtype and the device that new tensors have, by which captured calls are told
// apart.
inline std::atomic<uint32_t> new_tensors{0};

inline bool allows(uint8_t what) { return tf32.load(std::memory_order_relaxed) & what; }

}  // namespace numbus::precision
