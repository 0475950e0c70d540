// For tests: what a GPU does later and all at once, on the fenced device.
#pragma once

#include <memory>

#include "lazy/late.h"
#include "lazy/replay.h"

namespace numbus {

// Reports whose outcome is read only when a caller waits for it.
std::unique_ptr<LateWords> host_late_words(size_t words);
// Launches that wait for each other, in memory of their own.
std::unique_ptr<Replay> host_replay(Device& device);

}  // namespace numbus
