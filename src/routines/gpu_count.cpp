// Grids and scratch memory of python/numbus/primitives/{count,compact,search}.py.
#include "routines/gpu_count.h"

#include <algorithm>

#include "routines/gpu_sort.h"
#include "routines/kernels.h"

namespace numbus::routines {
namespace {

constexpr int64_t kThreads = 256, kWarps = kThreads / 32;
constexpr int64_t kUnit = 8 * kThreads;  // elements that a block of these kernels takes at a time

// Shared memory of a block: up to kRoomy several blocks run on a multiprocessor, and every block
// has kMost.
constexpr int64_t kRoomy = 16 << 10, kMost = 48 << 10;

// Copies of the counts of a block, 0 where not one fits beside `fixed` bytes.
int64_t copies_of(int64_t bins, int64_t fixed) {
  if (bins > kMost / 4 || fixed + 4 * bins > kMost) return 0;
  return std::clamp((kRoomy - fixed) / (4 * bins), int64_t{1}, kWarps);
}

struct Walk {
  int64_t chunk, blocks;
};

// Parts of n elements for blocks that all run at once.
Walk walk(Device& device, const char* name, DType t, int64_t n, int64_t unit) {
  int64_t chunk = round_up(divide_up(n, resident_blocks(device, name, t, kThreads)), unit);
  return {chunk, chunk ? divide_up(n, chunk) : 0};
}

void compact(Device& device, const char* name, DType t, int64_t itemsize, const char* values,
             const char* mask, int64_t n, char* out, int64_t out_size, int64_t* count) {
  if (n == 0) {
    device.fill_bytes(count, 0, sizeof *count, nullptr);
    return;
  }
  // What the tiles tell each other, and the ticket.
  DeviceKernel code = device_kernel(name, t);
  int64_t tiles = divide_up(n, code.tile);
  Scratch status(device, 8 * (tiles + 1));
  device.fill_bytes(status.data(), 0, status.bytes(), nullptr);
  int64_t parts = itemsize == 16 ? 2 : 1;
  bool aligned = reinterpret_cast<std::uintptr_t>(mask) % 8 == 0;
  KernelLaunch(device, name, t)
      .in(values, values ? n * parts : 0, itemsize / parts)
      .in(mask, n, 1)
      .in(mask, aligned ? n / 8 : 0, 8)
      .out(out, n * parts, out_size / parts)
      .out(count, 1, 8)
      .out(status.data(), tiles, 8)
      .out(status.data() + 8 * tiles, 1, 4)
      .number(n)
      .number(aligned)
      .run(tiles, code.threads);
}

}  // namespace

void bincount_gpu(Device& device, DType t, const char* x, int64_t n, int64_t bins, int64_t* out) {
  if (bins == 0) return;
  device.fill_bytes(out, 0, static_cast<size_t>(8 * bins), nullptr);
  Walk w = walk(device, "bincount", t, n, kUnit);
  int64_t copies = copies_of(bins, 0);
  KernelLaunch(device, "bincount", t)
      .in(x, n, itemsize(t))
      .out(out, bins, 8)
      .number(n)
      .number(bins)
      .number(copies)
      .number(w.chunk)
      .run(w.blocks, kThreads, 4 * bins * copies);
}

void weighted_bincount_gpu(Device& device, DType t, const char* x, const double* weights, int64_t n,
                           int64_t bins, double* out) {
  if (bins == 0) return;
  if (n == 0) return device.fill_bytes(out, 0, static_cast<size_t>(8 * bins), nullptr);
  int64_t bytes = 1;
  while (bytes < itemsize(t) && bins > int64_t{1} << (8 * bytes)) ++bytes;
  Scratch at(device, 8 * n);
  argsort_low_bytes_gpu(device, t, x, reinterpret_cast<int64_t*>(at.data()), n, bytes);
  KernelLaunch(device, "weighted_sums", t)
      .in(x, n, itemsize(t))
      .in(at.data(), n, 8)
      .in(weights, n, 8)
      .out(out, bins, 8)
      .number(n)
      .run(bins, kThreads);
}

void histogram_gpu(Device& device, DType t, const char* x, int64_t n, const double* edges,
                   int64_t bins, bool uniform, int64_t* out) {
  if (bins == 0) return;
  device.fill_bytes(out, 0, static_cast<size_t>(8 * bins), nullptr);
  Walk w = walk(device, "histogram", t, n, kUnit);
  int64_t held = 8 * (bins + 1), copies = copies_of(bins, held);
  KernelLaunch(device, "histogram", t)
      .in(x, n, itemsize(t))
      .in(edges, bins + 1, 8)
      .out(out, bins, 8)
      .number(n)
      .number(bins)
      .number(copies)
      .number(w.chunk)
      .number(uniform)
      .run(w.blocks, kThreads, copies ? held + 4 * bins * copies : 0);
}

void compact_gpu(Device& device, int64_t itemsize, const char* values, const char* mask, int64_t n,
                 char* out, int64_t* count) {
  DType t = itemsize == 16 ? DType::C128 : int_of_size(static_cast<int>(itemsize), false);
  compact(device, "mask_compact", t, itemsize, values, mask, n, out, itemsize, count);
}

void flatnonzero_gpu(Device& device, const char* mask, int64_t n, int64_t* out, int64_t* count) {
  compact(device, "mask_indices", DType::I64, 1, nullptr, mask, n, reinterpret_cast<char*>(out), 8,
          count);
}

void search_gpu(Device& device, DType t, const char* sorted, int64_t count, const char* x,
                int64_t n, bool right, int64_t* out) {
  KernelLaunch(device, "search", t)
      .in(sorted, count, itemsize(t))
      .in(x, n, itemsize(t))
      .out(out, n, 8)
      .number(count)
      .number(n)
      .number(right)
      .run(std::min<int64_t>(divide_up(n, kThreads), 1 << 20), kThreads);
}

void interp_gpu(Device& device, const double* x, int64_t n, const double* xp, const double* fp,
                int64_t points, const double* ends, double* out) {
  KernelLaunch(device, "interp", DType::F64)
      .in(x, n, 8)
      .in(xp, points, 8)
      .in(fp, points, 8)
      .in(ends, 2, 8)
      .out(out, n, 8)
      .number(points)
      .number(n)
      .run(std::min<int64_t>(divide_up(n, kThreads), 1 << 20), kThreads);
}

}  // namespace numbus::routines
