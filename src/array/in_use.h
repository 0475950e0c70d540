// The device that work may be pending on.
#pragma once

#include "device/device.h"

namespace numbus {

// The default device, or the first GPU, if anything has asked for it so far; else null: no driver
// is loaded for the question.
Device* device_in_use();

}  // namespace numbus
