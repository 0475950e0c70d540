// Grids of python/numbus/primitives/random.py.
#include "routines/gpu_random.h"

#include <algorithm>
#include <iterator>

#include "routines/kernels.h"
#include "routines/random.h"

namespace numbus::routines {
namespace {

constexpr std::string_view kSamples[] = {"normal",     "exponential", "integers64", "integers32",
                                         "integers16", "integers8",   "integers1"};
constexpr int64_t kThreads = 256, kWord = sizeof(uint64_t);

}  // namespace

void philox_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out) {
  KernelLaunch(device, "philox", t)
      .out(out, n, itemsize(t))
      .number(n)
      .in(state, 6, kWord)
      .run(divide_up(n, (t == DType::F32 ? 8 : 4) * kThreads), kThreads);
}

void pcg64(Device& device, DType t, const uint64_t* state, int64_t n, char* out) {
  const DeviceKernel code = device_kernel("pcg64", t);
  KernelLaunch(device, "pcg64", t)
      .out(out, n, itemsize(t))
      .number(n)
      .in(state, 6, kWord)
      .run(divide_up(n, code.tile), code.threads);
}

int64_t sample_kind(std::string_view name) {
  const auto* at = std::find(std::begin(kSamples), std::end(kSamples), name);
  return at == std::end(kSamples) ? -1 : at - kSamples;
}

std::string sample_kernel(std::string_view generator, int64_t kind) {
  return std::string(generator) + "_" + std::string(kSamples[kind]) + "_sample";
}

void sample(Device& device, const std::string& kernel, DType t, std::span<const uint64_t> state,
            int64_t n, int64_t units, char* out, int64_t* report) {
  const DeviceKernel code = device_kernel(kernel, t);
  const int64_t tiles = divide_up(units, code.tile);
  // What the tiles tell each other, and the ticket.
  Scratch status(device, 8 * (tiles + 1));
  device.fill_bytes(status.data(), 0, status.bytes(), nullptr);
  device.fill_bytes(report, 0, 8 * kSampleReport, nullptr);
  KernelLaunch(device, kernel, t)
      .out(out, n, itemsize(t))
      .out(report, kSampleReport, 8)
      .out(status.data(), tiles, 8)
      .out(status.data() + 8 * tiles, 1, 4)
      .number(n)
      .in(state.data(), std::ssize(state), kWord)
      .run(tiles, code.threads);
}

void philox_normal_gpu(Device& device, DType t, const uint64_t* state, int64_t n, char* out) {
  KernelLaunch(device, "philox_normal", t)
      .out(out, n, itemsize(t))
      .number(n)
      .in(state, 2, kWord)
      .run(divide_up(philox_normal_blocks(t, n), kThreads * (t == DType::F32 ? 2 : 1)), kThreads);
}

}  // namespace numbus::routines
