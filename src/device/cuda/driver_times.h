// How often each entry point of the CUDA driver is called and how long the host waits in it.
#pragma once

#include "device/cuda/driver_api.h"

namespace numbus::cuda {

// Where the environment variable NUMBUS_TIME_DRIVER is set, puts a function that counts and times
// in front of each entry point; the sums are written to stderr when the process ends.
void time_driver_where_asked(DriverApi* api);

}  // namespace numbus::cuda
