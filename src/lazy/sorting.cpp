// The entries of the routines that sort lines.
#include <algorithm>

#include "lazy/entries.h"

#include "routines/gpu_sort.h"
#include "routines/sort.h"

namespace numbus {
namespace {

// Dense lines, the operand's and the result's.
struct Lines {
  DType type;
  const char* in;
  char* out;
  int64_t lines, n;
  const std::array<int64_t, kMaxAttributes>& attributes;

  explicit Lines(const KernelStep& step)
      : type(step.call->types[0]),
        in(reinterpret_cast<const char*>(step.params[0])),
        out(reinterpret_cast<char*>(step.params[1])),
        attributes(step.call->attributes) {
    const Layout& l = step.call->in(0);
    n = l.shape(l.ndim() - 1);
    lines = n ? l.size() / n : 0;
  }
  int64_t* indices() const { return reinterpret_cast<int64_t*>(out); }
  // Those that are given come first.
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
