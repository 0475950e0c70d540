// The CUDA driver, loaded at first use: state, errors, versions, device properties.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/driver_api.h"

namespace numbus::cuda {

struct TriedPath {
  std::string path;
  std::string outcome;  // "loaded", or the loader's message
};

// What loading came to. `reason` is empty when CUDA is usable.
struct DriverInfo {
  std::vector<TriedPath> tried;
  std::string library;  // the path that loaded
  std::string reason;
  int version = 0;  // as the driver gives it: 12040 is CUDA 12.4
  int devices = 0;
};

struct DeviceProperties {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  int warp_size = 0;
  int max_threads_per_block = 0, max_threads_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int shared_per_block = 0, shared_per_block_opt_in = 0, shared_per_multiprocessor = 0;
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  bool cooperative_launch = false;
  size_t total_memory = 0;
  size_t l2_bytes = 0;
  int driver_version = 0;

  int compute_capability() const { return compute_major * 10 + compute_minor; }  // 90 is sm_90
};

// NUMBUS_CUDA_DRIVER, where it is set, is the one library tried. Thread-safe; never throws.
bool cuda_available();
DriverInfo driver_info();

// The entry points; raises with the reason when CUDA is not usable.
const DriverApi& driver();

DeviceProperties device_properties(int ordinal);

// The newest PTX version that a driver takes, 84 for PTX 8.4; 0 below CUDA 11.0, which Numbus does
// not support. A driver newer than the table gets the table's newest.
int ptx_version_of(int driver_version);
int max_ptx_version();

// "12.4" for 12040.
std::string version_text(int driver_version);

// All of the above as lines for `python -m numbus info`.
std::string info_text();

// True in a child forked after the driver was initialised: CUDA does not work there.
bool in_forked_child();

// Raises "[cuda] <call> failed while <doing>; got CUDA_ERROR_x (n): <the driver's sentence>".
[[noreturn]] void raise_driver_error(Result result, const char* call, const std::string& doing);

// Calls an entry point and checks its result. `doing` is an expression that is evaluated only
// after a failure.
#define NUMBUS_CUDA(doing, entry, ...)                                                  \
  do {                                                                                  \
    ::numbus::cuda::Result numbus_result = ::numbus::cuda::driver().entry(__VA_ARGS__); \
    if (numbus_result != ::numbus::cuda::kSuccess) [[unlikely]] {                       \
      ::numbus::cuda::raise_driver_error(numbus_result, #entry, doing);                 \
    }                                                                                   \
  } while (false)

// Makes a context current for a scope and then restores the one that another library had chosen.
class ContextScope {
 public:
  explicit ContextScope(ContextHandle context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  ContextHandle previous_ = nullptr;
  bool changed_ = false;
};

// Forgets the driver, so that the next use loads it again. Objects made before are dead.
void reset_driver_for_tests();

}  // namespace numbus::cuda
