// What this process may use of the machine: processors and memory, containers respected.
#pragma once

#include <cstddef>
#include <string>

namespace numbus {

// The processor's name as /proc/cpuinfo gives it.
std::string cpu_name();

// The smaller of the affinity mask and the cgroup's processor quota, at least 1.
int available_cpus();

// NUMBUS_NUM_THREADS where it is set (an error when it is no whole number from 1 to 1024), else
// available_cpus().
int configured_threads();

// The smaller of physical memory and the cgroup's limit, in bytes.
size_t available_memory();

}  // namespace numbus
