// Calls back at given times, on one thread that all devices share.
#pragma once

#include <chrono>

namespace numbus {

// Calls call(of) at that time or later, unless the process ends or forks before. The call takes no
// lock of Python's, and `of` lives as long as the process. Nothing happens where the system has no
// thread or no memory to give.
void call_at(std::chrono::steady_clock::time_point at, void (*call)(void*), void* of) noexcept;

}  // namespace numbus
