// Grids of python/numbus/primitives/random.py.
#include "routines/gpu_random.h"

#include "routines/kernels.h"

namespace numbus::routines {
namespace {

constexpr int64_t kThreads = 256;
constexpr std::uintptr_t kAligned = 16;

}  // namespace

void philox_gpu(Device& device, DType t, const std::array<uint64_t, 2>& key,
                std::array<uint64_t, 4> counter, int64_t skip, int64_t n, char* out) {
  if (n == 0) return;
  int64_t size = itemsize(t), each = t == DType::F32 ? 8 : 4;
  for (size_t w = 0, more = static_cast<size_t>(skip / each); w < 4 && more; ++w) {
    counter[w] += more;
    more = counter[w] < more;
  }
  skip %= each;
  if (skip || reinterpret_cast<std::uintptr_t>(out) % kAligned) {
    // The kernel writes whole blocks to aligned memory.
    Scratch whole(device, (skip + n) * size);
    philox_gpu(device, t, key, counter, 0, skip + n, whole.data());
    device.copy_within(out, whole.data() + skip * size, static_cast<size_t>(n * size));
    return;
  }
  KernelLaunch launch(device, "philox", t);
  launch.out(out, n, size).number(n);
  for (uint64_t k : key) launch.number(static_cast<int64_t>(k));
  for (uint64_t c : counter) launch.number(static_cast<int64_t>(c));
  launch.run(divide_up(n, each * kThreads), kThreads);
}

int64_t philox_normal_blocks(DType t, int64_t n) {
  return divide_up(n, kThreads * (t == DType::F32 ? 4 : 2)) * kThreads;
}

void philox_normal_gpu(Device& device, DType t, uint64_t key, uint64_t counter, int64_t n,
                       char* out) {
  KernelLaunch(device, "philox_normal", t)
      .out(out, n, itemsize(t))
      .number(n)
      .number(static_cast<int64_t>(key))
      .number(static_cast<int64_t>(counter))
      .run(divide_up(philox_normal_blocks(t, n), kThreads * (t == DType::F32 ? 2 : 1)), kThreads);
}

}  // namespace numbus::routines
