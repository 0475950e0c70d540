// The errors that all devices share.
#include "device/device.h"

#include "base/error.h"

namespace numbus {

void raise_out_of_memory(size_t bytes, size_t at_most) {
  raise(ErrorKind::Memory, "allocate", "out of memory",
        "a request of " + std::to_string(bytes) + " bytes", "at most " + std::to_string(at_most));
}

}  // namespace numbus
