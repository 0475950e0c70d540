// Costs of operations and copies, in microseconds.
#include "array/costs.h"

#include <algorithm>
#include <limits>

#include "device/cpu/thread_pool.h"
#include "ops/is_function.h"

namespace numbus::placement {
namespace {

double factor = 1;

// Fixed costs: recording and running one more operation of a kernel, or a routine's launches.
constexpr double kNearStep = 0.5, kFarStep = 4, kFarRoutine = 25;
// Waiting for a GPU.
constexpr double kFarFlush = 10;
// What a copy takes beside its bytes.
constexpr double kThere = 8, kBack = 15;

// Of an array, in bytes: how much of it is read matters.
constexpr double kLarge = 1 << 20;

// Bytes, or operations, a microsecond.
constexpr double kNearMemory = 30'000, kFarMemory = 2'500'000, kLink = 12'000;
constexpr double kNearProducts = 35'000, kFarProducts = 35'000'000;
// Bytes, and operations of a product, from which on another thread has something to do.
constexpr double kBytesOfThread = 128 << 10, kOpsOfThread = 1 << 20;
// What functions such as exp take on a CPU, as bytes an element.
constexpr double kBytesOfFunction = 24;
// What simple operations take inside of a kernel, the same.
constexpr double kBytesOfStep = 3;
// Nanoseconds for each element.
constexpr double kNearRoutine = 3, kFarPoint = 0.1, kNearPoint = 1;

double threads_for(double work, double of_one) {
  return std::clamp(work / of_one, 1.0, static_cast<double>(thread_pool().num_threads()));
}

Cost of_bytes(double bytes, double extra) {
  const double work = bytes + extra;
  return {kNearStep * factor + work / kNearMemory / threads_for(work, kBytesOfThread),
          kFarStep * factor + bytes / kFarMemory};
}

}  // namespace

void scale_fixed_costs(double f) { factor = f; }

Cost cost_of_product(int64_t stack, int64_t rows, int64_t inner, int64_t cols, DType t) {
  const auto s = static_cast<double>(stack), m = static_cast<double>(rows),
             k = static_cast<double>(inner), n = static_cast<double>(cols);
  const double ops = 2 * s * m * k * n * (is_complex(t) ? 4 : 1),
               bytes = s * (m * k + k * n + m * n) * itemsize(t);
  // Elements of four bytes are computed twice as many at once.
  const double wide = t == DType::F32 || t == DType::C64 ? 2 : 1;
  const Cost moved = of_bytes(bytes, 0);
  return {std::max(moved.near, ops / kNearProducts / wide / threads_for(ops, kOpsOfThread)),
          kFarRoutine * factor + std::max(bytes / kFarMemory, ops / kFarProducts)};
}

Cost cost_of_routine(double near, double far) {
  return {kNearStep * factor + near, kFarRoutine * factor + far};
}

namespace {

// What one instruction computes, in bytes that take as long, and its routine's costs.
struct Sum {
  double bytes = 0, near = 0, far = 0;
  int64_t points = -1;  // of the instruction before
  int kernels = 0;
};

void add(const Instr& i, Sum& sum) {
  int64_t points = i.out.layout->size();
  // Of what a gather reads from, it reads as many elements as it gives.
  for (int n = i.gathers() ? 1 : 0; n < i.inputs(); ++n)
    if (i.in[n].slot >= 0) points = std::max(points, i.in[n].layout->size());
  const auto many = static_cast<double>(points);
  if (i.code == Instr::Call) {
    Cost c = cost_of_routine(many * kNearRoutine / 1000, many * kFarPoint / 1000);
    if (i.routine == Routine::matmul) {
      const Layout &x = *i.in[0].layout, &y = *i.in[1].layout;
      c = cost_of_product(x.shape(0), x.shape(1), x.shape(2), y.shape(2), i.loop);
    }
    sum.near += c.near;
    sum.far += c.far;
    sum.points = -1;
    return;
  }
  const bool function = i.code == Instr::Map && is_inexact(i.loop) && is_function(i.op);
  sum.bytes += many * (function ? kBytesOfFunction : kBytesOfStep) *
               (i.loop == DType::F32 ? 0.5
                : is_complex(i.loop) ? 2.0
                                     : 1.0);
  if (i.scatters() || i.gathers()) {
    sum.near += many * kNearPoint / 1000;
    sum.far += many * kFarPoint / 1000;
  }
  sum.kernels += i.code == Instr::Reduce || points != sum.points;
  sum.points = i.code == Instr::Reduce ? -1 : points;
}

// The bytes that are read of a slot which gathers alone use; of others, no limit.
double gathered_from(const Window& w, int32_t slot) {
  double bytes = 0;
  for (const Instr& i : w.instrs_)
    for (int n = 0; n < i.inputs() + i.more; ++n) {
      if (i.in[n].slot != slot) continue;
      if (n > 0 || !i.gathers()) return std::numeric_limits<double>::infinity();
      bytes += static_cast<double>(i.out.layout->size() * i.in[0].layout->itemsize());
    }
  return bytes > 0 ? bytes : std::numeric_limits<double>::infinity();
}

}  // namespace

Cost cost_of(const Window& w) {
  Sum sum;
  for (const Instr& i : w.instrs_) add(i, sum);
  const bool gathers =
      std::any_of(w.instrs_.begin(), w.instrs_.end(), [](const Instr& i) { return i.gathers(); });
  double moved = 0;
  for (size_t n = 0; n < w.slots_.size(); ++n) {
    const Slot& s = w.slots_[n];
    const auto bytes = static_cast<double>(s.base->nbytes);
    const auto seen = static_cast<double>(s.first_layout->size() * s.first_layout->itemsize());
    double read = s.mixed ? bytes : std::min(seen, bytes);
    if (gathers && read > kLarge) read = std::min(read, gathered_from(w, static_cast<int32_t>(n)));
    if (s.base->has_elements()) moved += read;
    if (s.written() && (s.base->has_elements() || s.base->handles > 0))
      moved += std::min(seen, bytes);
  }
  const double work = moved + sum.bytes;
  const auto steps = static_cast<double>(w.instrs_.size());
  return {kNearStep * factor * steps + work / kNearMemory / threads_for(work, kBytesOfThread) +
              sum.near,
          (kFarStep * sum.kernels + kFarFlush) * factor + work / kFarMemory + sum.far};
}

double price_of_copy(int64_t bytes, bool to_far) {
  return ((to_far ? kThere : kBack) + static_cast<double>(bytes) / kLink) * factor;
}

double price_of_read() { return kBack * factor; }

}  // namespace numbus::placement
