// Entries of the routines that draw random numbers.
#include "routines/random.h"
#include "lazy/entries.h"
#include "routines/gpu_random.h"

namespace numbus {

namespace {

const uint64_t* state(const KernelStep& step) {
  return reinterpret_cast<const uint64_t*>(address(step, 0));
}

}  // namespace

void philox_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::philox(c.out_type(), state(step), c.out().size(), address(step, 1));
}

void philox_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::philox_gpu(device, c.out_type(), state(step), c.out().size(), address(step, 1));
}

void normal_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::philox_normal(c.out_type(), state(step), c.out().size(), address(step, 1));
}

void normal_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::philox_normal_gpu(device, c.out_type(), state(step), c.out().size(), address(step, 1));
}

}  // namespace numbus
