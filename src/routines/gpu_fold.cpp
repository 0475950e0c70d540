// Grids of python/numbus/primitives/fold.py.
#include "routines/gpu_fold.h"

#include <algorithm>

#include "routines/kernels.h"

namespace numbus::routines {
namespace {

constexpr int64_t kThreads = 256, kMostBlocks = 1 << 20;
constexpr int64_t kSideBySide = 32;  // a warp's threads read one row of memory
constexpr int64_t kWorthBlock = 64;  // elements a segment has, for a block to fold it

}  // namespace

void fold_segments_gpu(Device& device, Op op, DType t, bool associative, const FoldShape& shape,
                       const char* x, const int64_t* bounds, int64_t segments, char* out) {
  const int64_t count = shape.outer * segments * shape.inner;
  if (count == 0) return;
  const bool blocks = associative && shape.inner < kSideBySide && shape.n >= kWorthBlock * segments;
  const std::string name = (blocks ? "reduceat_blocks." : "reduceat.") + std::string(op_name(op));
  const int64_t wanted = blocks ? count : divide_up(count, kThreads);
  KernelLaunch(device, name, t)
      .in(x, shape.outer * shape.n * shape.inner, itemsize(t))
      .in(bounds, 2 * segments, 8)
      .out(out, count, itemsize(t))
      .number(shape.n)
      .number(shape.inner)
      .number(segments)
      .number(count)
      .run(std::min(wanted, kMostBlocks), kThreads);
}

void fold_runs(Device& device, Op op, DType t, DType loop, int64_t points, int64_t inner,
               const FoldRuns& operands) {
  const int64_t count = points * inner;
  std::string kernel = "fold_runs." + std::string(op_name(op));
  if (loop != t) kernel += "." + std::string(name(loop));
  const DType values = row(op).nin == 2 ? loop : t;
  KernelLaunch(device, kernel, t)
      .in(operands.keys, points, 8)
      .in(operands.order, points, 8)
      .in(operands.old, count, itemsize(t))
      .in(operands.values, count, itemsize(values))
      .out(operands.out, count, itemsize(t))
      .out(operands.last, points, 1)
      .number(points)
      .number(inner)
      .run(std::min(divide_up(count, kThreads), kMostBlocks), kThreads);
}

void fold_runs_in_pieces(Device& device, Op op, DType t, int64_t points, int64_t inner,
                         const FoldRuns& operands) {
  const int64_t count = points * inner, size = itemsize(t);
  const int64_t blocks = std::min(divide_up(count, kThreads), kMostBlocks);
  const std::string operation(op_name(op));
  Scratch folded(device, count * size), ends(device, points * 8);
  KernelLaunch(device, "fold_pieces." + operation, t)
      .in(operands.keys, points, 8)
      .in(operands.order, points, 8)
      .in(operands.values, count, size)
      .out(folded.data(), count, size)
      .out(ends.data(), points, 8)
      .out(operands.last, points, 1)
      .number(points)
      .number(inner)
      .run(blocks, kThreads);
  KernelLaunch(device, "fold_joined." + operation, t)
      .in(operands.keys, points, 8)
      .in(operands.order, points, 8)
      .in(operands.old, count, size)
      .in(folded.data(), count, size)
      .in(ends.data(), points, 8)
      .out(operands.out, count, size)
      .number(points)
      .number(inner)
      .run(blocks, kThreads);
}

}  // namespace numbus::routines
