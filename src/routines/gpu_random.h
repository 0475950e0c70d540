// Random numbers of Philox, by device kernels. Arguments as in random.h, in a device's memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::routines {

void philox_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out);
// The device kernel on any device, a CPU's among them. state: of the element 0, and the increment,
// the upper words first; whether half a word is left from before, which float32 takes first, and
// which.
void pcg64(Device& device, DType t, const uint64_t* state, int64_t n, char* out);

// What numbers of a stream are made of which some are drawn again: "normal", "exponential", and
// "integers64" to "integers1", of units of so many bits of the stream. Below 0: there is none.
int64_t sample_kind(std::string_view name);
// The device kernel for a kind, of the stream of "pcg64" or "philox".
std::string sample_kernel(std::string_view generator, int64_t kind);
constexpr int64_t kSampleReport = 2;
// n numbers of `units` units of a stream. report: after which unit the last one ends, 0 where there
// were too few units; what is uncertain, 0 for nothing. Types of integers are unsigned, of bool
// uint8. state: python/numbus/primitives/samples.py.
void sample(Device& device, const std::string& kernel, DType t, std::span<const uint64_t> state,
            int64_t n, int64_t units, char* out, int64_t* report);
void philox_normal_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out);

}  // namespace numbus::routines
