// The entries of the routines that sort, select, search and count, and of folds on a GPU.
#include <algorithm>
#include <cstring>

#include "compile/scan.h"
#include "lazy/entries.h"
#include "lazy/fold_cpu.h"
#include "routines/count.h"
#include "routines/gpu_count.h"
#include "routines/gpu_fold.h"
#include "routines/gpu_select.h"
#include "routines/gpu_sort.h"
#include "routines/search.h"
#include "routines/sort.h"

namespace numbus {
namespace {

// Dense lines, the operand's and the result's, which follows `operands`.
struct Lines {
  const KernelStep& step;
  DType type;
  const char* in;
  char* out;
  int64_t lines, n;
  const std::array<int64_t, kMaxAttributes>& attributes;

  explicit Lines(const KernelStep& step, int operands = 1)
      : step(step),
        type(step.call->types[0]),
        in(address(step, 0)),
        out(address(step, operands)),
        attributes(step.call->attributes) {
    const Layout& l = step.call->in(0);
    n = l.shape(l.ndim() - 1);
    lines = n ? l.size() / n : 0;
  }
  int64_t* indices() const { return reinterpret_cast<int64_t*>(out); }
  // The second operand, in the device's memory.
  std::span<const int64_t> given_ranks() const {
    return {reinterpret_cast<const int64_t*>(address(step, 1)),
            static_cast<size_t>(step.call->in(1).size())};
  }
  // Attributes; those that are given come first.
  std::span<const int64_t> ranks() const {
    auto end = std::find(attributes.begin(), attributes.end(), -1);
    return {attributes.data(), static_cast<size_t>(end - attributes.begin())};
  }
};

}  // namespace

void sort_cpu(Runtime&, Device&, KernelStep& step) {
  Lines l(step);
  routines::sort(l.type, l.in, l.out, l.lines, l.n, l.attributes[0] != 0, l.attributes[1] != 0);
}

void argsort_cpu(Runtime&, Device&, KernelStep& step) {
  Lines l(step);
  routines::argsort(l.type, l.in, l.indices(), l.lines, l.n, l.attributes[0] != 0);
}

void partition_cpu(Runtime&, Device&, KernelStep& step) {
  Lines l(step);
  routines::partition(l.type, l.in, l.out, l.lines, l.n, l.ranks());
}

void argpartition_cpu(Runtime&, Device&, KernelStep& step) {
  Lines l(step);
  routines::argpartition(l.type, l.in, l.indices(), l.lines, l.n, l.ranks());
}

void sort_gpu(Runtime&, Device& device, KernelStep& step) {
  Lines l(step);
  routines::sort_gpu(device, l.type, l.in, l.out, l.lines, l.n, l.attributes[1] != 0);
}

void argsort_gpu(Runtime&, Device& device, KernelStep& step) {
  Lines l(step);
  routines::argsort_gpu(device, l.type, l.in, l.indices(), l.lines, l.n, l.attributes[0] != 0);
}

void select_cpu(Runtime&, Device& device, KernelStep& step) {
  const Lines l(step, 2);
  const std::span<const int64_t> ranks = l.given_ranks();
  const int64_t size = itemsize(l.type), line = l.n * size;
  const auto bytes = static_cast<size_t>(l.lines * line);
  auto* parted = static_cast<char*>(device.allocate(bytes));
  struct Freed {
    Device& device;
    char* data;
    size_t bytes;
    ~Freed() { device.free(data, bytes); }
  } freed{device, parted, bytes};
  routines::partition(l.type, l.in, parted, l.lines, l.n, ranks);
  char* out = l.out;
  for (int64_t k = 0; k < l.lines; ++k)
    for (int64_t rank : ranks) {
      std::memcpy(out, parted + k * line + rank * size, static_cast<size_t>(size));
      out += size;
    }
}

void select_gpu(Runtime&, Device& device, KernelStep& step) {
  const Lines l(step, 2);
  routines::select_gpu(device, l.type, l.in, l.lines, l.n, l.given_ranks(), l.out);
}

void search_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::search(c.types[0], address(step, 0), c.in(0).size(), address(step, 1), c.in(1).size(),
                   nullptr, c.attributes[0] != 0, reinterpret_cast<int64_t*>(address(step, 2)));
}

void search_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::search_gpu(device, c.types[0], address(step, 0), c.in(0).size(), address(step, 1),
                       c.in(1).size(), c.attributes[0] != 0,
                       reinterpret_cast<int64_t*>(address(step, 2)));
}

namespace {

const double* reals(const KernelStep& step, int n) {
  return reinterpret_cast<const double*>(address(step, n));
}

}  // namespace

void interp_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  const double* ends = reals(step, 3);
  routines::interp(reals(step, 0), c.in(0).size(), reals(step, 1), reals(step, 2), c.in(1).size(),
                   ends[0], ends[1], reinterpret_cast<double*>(address(step, 4)));
}

void interp_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::interp_gpu(device, reals(step, 0), c.in(0).size(), reals(step, 1), reals(step, 2),
                       c.in(1).size(), reals(step, 3), reinterpret_cast<double*>(address(step, 4)));
}

void bincount_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::bincount(c.types[0], address(step, 0), c.in(0).size(), c.out().size(), nullptr,
                     address(step, 1));
}

void bincount_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::bincount_gpu(device, c.types[0], address(step, 0), c.in(0).size(), c.out().size(),
                         reinterpret_cast<int64_t*>(address(step, 1)));
}

void weigh_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::bincount(c.types[0], address(step, 0), c.in(0).size(), c.out().size(),
                     reinterpret_cast<const double*>(address(step, 1)), address(step, 2));
}

void weigh_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::weighted_bincount_gpu(device, c.types[0], address(step, 0),
                                  reinterpret_cast<const double*>(address(step, 1)), c.in(0).size(),
                                  c.out().size(), reinterpret_cast<double*>(address(step, 2)));
}

void histogram_cpu(Runtime&, Device&, KernelStep& step) {
  const CallStep& c = *step.call;
  const int64_t n = c.in(0).size(), bins = c.out().size();
  auto* out = reinterpret_cast<int64_t*>(address(step, 2));
  const char* edges = address(step, 1);
  if (c.attributes[0] == 0)
    return routines::histogram_edges(c.types[0], address(step, 0), n, edges, bins, out);
  const double first = load_scalar(c.types[1], edges).f[0],
               last = load_scalar(c.types[1], edges + bins * itemsize(c.types[1])).f[0];
  routines::histogram_uniform(c.types[0], address(step, 0), n,
                              {c.types[1], edges, bins, first, last, last - first}, out);
}

void histogram_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::histogram_gpu(device, c.types[0], address(step, 0), c.in(0).size(),
                          reinterpret_cast<const double*>(address(step, 1)), c.out().size(),
                          c.attributes[0] != 0, reinterpret_cast<int64_t*>(address(step, 2)));
}

void compact_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  routines::compact_gpu(device, itemsize(c.types[0]), address(step, 0), address(step, 1),
                        c.in(0).size(), address(step, 2),
                        reinterpret_cast<int64_t*>(address(step, 3)));
}

void flatnonzero_gpu(Runtime&, Device& device, KernelStep& step) {
  auto integers = [&](int n) { return reinterpret_cast<int64_t*>(address(step, n)); };
  routines::flatnonzero_gpu(device, address(step, 0), step.call->in(0).size(), integers(1),
                            integers(2));
}

void reduceat_gpu(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  const Layout &in = c.in(0), &out = c.out();
  routines::fold_segments_gpu(device, c.op, c.type, compile::is_associative(c.op),
                              {in.shape(0), in.shape(1), in.shape(2)}, address(step, 0),
                              reinterpret_cast<const int64_t*>(address(step, 1)), out.shape(1),
                              address(step, 2));
}

void fold_runs(Runtime&, Device& device, KernelStep& step) {
  const CallStep& c = *step.call;
  constexpr int64_t kMany = 4096;  // two launches are worth it
  const DType t = c.types[2];
  const int64_t points = c.in(0).size(), inner = c.in(2).size() / points;
  const routines::FoldRuns operands{reinterpret_cast<const int64_t*>(address(step, 0)),
                                    reinterpret_cast<const int64_t*>(address(step, 1)),
                                    address(step, 2),
                                    address(step, 3),
                                    address(step, 4),
                                    address(step, 5)};
  if (points >= kMany && c.type == t && order_free(c.op, t))
    routines::fold_runs_in_pieces(device, c.op, t, points, inner, operands);
  else
    routines::fold_runs(device, c.op, t, c.type, points, inner, operands);
}

// A full sort is a partition, and until there is a selection of its own it is the one.
void partition_gpu(Runtime&, Device& device, KernelStep& step) {
  Lines l(step);
  routines::sort_gpu(device, l.type, l.in, l.out, l.lines, l.n, false);
}

void argpartition_gpu(Runtime&, Device& device, KernelStep& step) {
  Lines l(step);
  routines::argsort_gpu(device, l.type, l.in, l.indices(), l.lines, l.n, false);
}

}  // namespace numbus
