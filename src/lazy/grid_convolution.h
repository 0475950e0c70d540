// Convolutions by our own kernels (python/numbus/primitives/convolution.py), as grids of blocks.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "device/device.h"
#include "vendor/convolution.h"

namespace numbus::grid_convolution {

// The kernels of a convolution, by their names; empty: there are none for it, as for other types
// than float32, groups, more than 32 taps, derivatives by the input with strides, and sizes beyond
// 31 bits. They depend on the shapes alone, and so do the order of sums and the results.
std::vector<std::string> kernels(const vendor::Convolution& c);
bool fits(const vendor::Convolution& c);  // whether there are kernels for it
// Whether the device can: a GPU with tensor cores for TF32.
bool runs_on(const Device& device);
// Whether it is done by them on the device: where cuDNN is not there, or was slower for shapes of
// its kind (docs/performance.md).
bool is_chosen(const Device& device, const vendor::Convolution& c);
// The same when it is carried out: only if the kernels were added.
bool is_ready(const Device& device, const vendor::Convolution& c);
// Tests have them used wherever they can be, the host among it.
extern constinit bool always;
// The kernels were added for float32, as "convolve_" and the name. In order in the device's queue.
void run(Device& device, const vendor::Convolution& c, const char* a, const char* b, char* out);

}  // namespace numbus::grid_convolution
