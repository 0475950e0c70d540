// Grids of python/numbus/primitives/random.py.
#include "routines/gpu_random.h"

#include "routines/kernels.h"
#include "routines/random.h"

namespace numbus::routines {
namespace {

constexpr int64_t kThreads = 256, kWord = sizeof(uint64_t);

}  // namespace

void philox_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out) {
  KernelLaunch(device, "philox", t)
      .out(out, n, itemsize(t))
      .number(n)
      .in(state, 6, kWord)
      .run(divide_up(n, (t == DType::F32 ? 8 : 4) * kThreads), kThreads);
}

void philox_normal_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out) {
  KernelLaunch(device, "philox_normal", t)
      .out(out, n, itemsize(t))
      .number(n)
      .in(state, 2, kWord)
      .run(divide_up(philox_normal_blocks(t, n), kThreads * (t == DType::F32 ? 2 : 1)), kThreads);
}

}  // namespace numbus::routines
