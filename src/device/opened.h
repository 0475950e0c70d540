// Devices that are in use already.
#pragma once

#include "device/device.h"

namespace numbus {

// Like cuda_device(), but opens none: null where nothing has asked for that GPU so far.
Device* opened_cuda_device(int ordinal);

// The number of the GPU that "cuda" stands for: the first one, or what a rank of a program of
// several processes has chosen.
int current_gpu();
void set_current_gpu(int ordinal);

}  // namespace numbus
