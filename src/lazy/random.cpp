// Entries of the routines that draw random numbers.
#include "routines/random.h"
#include "lazy/entries.h"
#include "routines/gpu_random.h"

namespace numbus {

namespace {

const uint64_t* state(const KernelStep& step) {
  return reinterpret_cast<const uint64_t*>(address(step, 0));
}

void sample(const char* generator, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  const std::string kernel = routines::sample_kernel(generator, c.attributes[0]);
  routines::sample(device, kernel, c.type, {state(step), static_cast<size_t>(c.in(0).size())},
                   c.out().size(), c.attributes[1], address(step, 1),
                   reinterpret_cast<int64_t*>(address(step, 2)));
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

void pcg64(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::pcg64(device, c.out_type(), state(step), c.out().size(), address(step, 1));
}

void pcg64_sample(Runtime&, Device& device, KernelStep& step) { sample("pcg64", device, step); }
void philox_sample(Runtime&, Device& device, KernelStep& step) { sample("philox", device, step); }

void normal_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::philox_normal(c.out_type(), state(step), c.out().size(), address(step, 1));
}

void normal_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::philox_normal_gpu(device, c.out_type(), state(step), c.out().size(), address(step, 1));
}

}  // namespace numbus
