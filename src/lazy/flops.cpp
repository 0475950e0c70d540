// How many operations on floating-point numbers kernels and library calls take.
#include <bit>

#include "lazy/plan.h"

namespace numbus {

int64_t flops_of(const ir::Kernel& k, int64_t iterations) {
  int64_t once = 0, each_iteration = 0;
  bool turning = false;
  int rare = 0;  // what seldom runs does not count
  for (const ir::Inst& i : k.body) {
    // A loop of the program; how often those of functions run is known to nobody, and counts once.
    if (i.op == Op::repeat && i.a != ir::kNone) turning = true;
    if (i.op == Op::end_repeat && i.b == ir::kNone) turning = false;
    if (i.op == Op::if_any) ++rare;
    if (i.op == Op::end_if) --rare;
    if (rare > 0 || i.a == ir::kNone || !is_inexact(k.body[i.a].type)) continue;
    int64_t n = 0;
    switch (i.op) {
      case Op::fma: n = 2; break;
      case Op::add:
      case Op::subtract:
      case Op::multiply:
      case Op::divide:
      case Op::sqrt:
      case Op::fmod:
      case Op::minimum:
      case Op::maximum: n = 1; break;
      default: break;
    }
    (turning ? each_iteration : once) += n;
  }
  return once + each_iteration * iterations;
}

namespace {

int64_t real_products(const CallStep& c) {
  return is_complex(c.out_type()) || is_complex(c.types[0]) ? 4 : 1;
}

// A product and a sum for each term.
int64_t product_flops(const CallStep& c) {
  return 2 * real_products(c) * c.out().size() * c.in(0).shape(c.in(0).ndim() - 1);
}

// 5 n log2 n of a radix-2 transform of n complex numbers, as FFTW's benchmarks count; half of that
// for real ones.
int64_t fft_flops(const CallStep& c) {
  const Layout &in = c.in(0), &out = c.out();
  int64_t n = std::max(in.shape(in.ndim() - 1), out.shape(out.ndim() - 1));
  bool real = !is_complex(c.types[0]) || !is_complex(c.out_type());
  int64_t size = std::max(in.size(), out.size());
  return 5 * size * std::bit_width(static_cast<uint64_t>(std::max<int64_t>(n, 2) - 1)) /
         (real ? 2 : 1);
}

// A product and a sum for each tap of each output: of the weights' derivative, each of their
// elements is a sum over the batch and the positions.
int64_t convolution_flops(const CallStep& c) {
  const vendor::Convolution f = convolution_of(c);
  return 2 * f.batch * f.out_channels * f.positions() * f.in_each() * f.taps();
}

int64_t linalg_flops(const CallStep& c) {
  const Layout& a = c.in(0);
  const int64_t rows = a.shape(a.ndim() - 2), columns = a.shape(a.ndim() - 1);
  return 2 * real_products(c) * (a.size() / std::max<int64_t>(1, rows * columns)) *
         vendor::linalg_work(linalg_of(c.routine), rows, columns);
}

int64_t fold_flops(const CallStep& c) {
  return is_inexact(c.type) ? real_products(c) * c.in(0).size() : 0;
}

}  // namespace

int64_t flops_of(const CallStep& c) {
  switch (c.routine) {
// NOLINTBEGIN(bugprone-branch-clone): rows may count alike.
#define ROUTINE(name, operands, results, attributes, cpu, gpu, flops, doc) \
  case Routine::name: return flops;
#include "ops/routines.def"
#undef ROUTINE
    // NOLINTEND(bugprone-branch-clone)
  }
  return 0;
}

}  // namespace numbus
