// Devices that are in use already.
#pragma once

#include "device/device.h"

namespace numbus {

// Like cuda_device(), but opens none: null where nothing has asked for that GPU so far.
Device* opened_cuda_device(int ordinal);

}  // namespace numbus
