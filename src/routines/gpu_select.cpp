// Radix select: what python/numbus/primitives/select.py runs, in order.
#include "routines/gpu_select.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "routines/kernels.h"

namespace numbus::routines {
namespace {

constexpr int64_t kThreads = 256, kBits = 11, kBins = 1 << kBits;
constexpr int64_t kRanks = 4;  // at a time, as select.py has it
constexpr int64_t kUnit = 8 * kThreads;

// What is known of the elements wanted, a word for each line and rank, and which rank counts for
// those that look for the same.
struct Wanted {
  Scratch known, owner;
  Wanted(Device& device, int64_t count, int64_t size)
      : known(device, count * size), owner(device, 4 * count) {
    device.fill_bytes(known.data(), 0, known.bytes(), nullptr);
    device.fill_bytes(owner.data(), 0, owner.bytes(), nullptr);
  }
};

// At most kRanks ranks. `out` has `stride` elements a line.
void select_some(Device& device, DType t, const char* in, int64_t lines, int64_t n,
                 std::span<const int64_t> ranks, char* out, int64_t stride) {
  int64_t size = itemsize(t), count = static_cast<int64_t>(ranks.size()), all = lines * count;
  int64_t digits = divide_up(8 * size, kBits);
  int64_t each = std::max<int64_t>(resident_blocks(device, "select_count", t, kThreads) / lines, 1);
  int64_t chunk = round_up(divide_up(n, each), kUnit), blocks = divide_up(n, chunk);
  Scratch wanted(device, 4 * all), counts(device, 4 * digits * all * kBins);
  device.fill_bytes(counts.data(), 0, counts.bytes(), nullptr);
  Wanted now(device, all, size), next(device, all, size);
  for (int64_t d = 0; d < digits; ++d) {
    const Wanted &from = d % 2 ? next : now, &to = d % 2 ? now : next;
    int64_t shift = kBits * (digits - 1 - d);
    char* here = counts.data() + 4 * d * all * kBins;
    KernelLaunch(device, "select_count", t)
        .in(in, lines * n, size)
        .in(from.known.data(), all, size)
        .in(from.owner.data(), all, 4)
        .out(here, all * kBins, 4)
        .number(n)
        .number(chunk)
        .number(blocks)
        .number(shift)
        .number(count)
        .run(lines * blocks, kThreads);
    KernelLaunch(device, "select_choose", t)
        .in(here, all * kBins, 4)
        .in(ranks.data(), count, 8)
        .out(wanted.data(), all, 4)
        .in(from.known.data(), all, size)
        .in(from.owner.data(), all, 4)
        .out(to.known.data(), all, size)
        .out(to.owner.data(), all, 4)
        .out(out, (lines - 1) * stride + count, size)
        .number(shift)
        .number(count)
        .number(stride)
        .number(d == 0)
        .number(d + 1 == digits)
        .run(lines, kThreads);
  }
}

}  // namespace

void select_gpu(Device& device, DType t, const char* in, int64_t lines, int64_t n,
                std::span<const int64_t> ranks, char* out) {
  if (lines == 0 || ranks.empty()) return;
  if (n > std::numeric_limits<uint32_t>::max())
    raise(ErrorKind::NotImplemented, "select", "lines as long as this are not taken on a GPU yet",
          std::to_string(n) + " elements", "fewer than 2**32");
  int64_t size = itemsize(t), count = static_cast<int64_t>(ranks.size());
  for (int64_t k = 0; k < count; k += kRanks)
    select_some(
        device, t, in, lines, n,
        ranks.subspan(static_cast<size_t>(k), static_cast<size_t>(std::min(kRanks, count - k))),
        out + k * size, count);
}

}  // namespace numbus::routines
