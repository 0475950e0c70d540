// Derivatives of routines.
#include <array>

#include "array/quantity.h"
#include "base/error.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

// The adjoint (conjugate transpose) of matrices.
Array adjoint(const Array& m) {
  std::vector<int> axes;
  for (int d = 0; d < m.ndim() - 2; ++d) axes.push_back(d);
  axes.push_back(m.ndim() - 1);
  axes.push_back(m.ndim() - 2);
  Array t = transpose(m, axes);
  if (!is_complex(m.dtype)) return t;
  const Arg a(&t);
  return apply(Op::conjugate, {&a, 1});
}

Contributions of_product(const Entry& e, const Array& g) {
  Contributions parts(2);
  if (e.operands[0].active) parts[0] = matmul(g, adjoint(saved(e.operands[1])), e.instr.loop);
  if (e.operands[1].active) parts[1] = matmul(adjoint(saved(e.operands[0])), g, e.instr.loop);
  return parts;
}

// The middle one of three axes, from `begin` on to the end, or from its beginning.
Array along(const Array& x, int64_t begin, int64_t end, bool backwards = false) {
  const Layout& l = *x.layout;
  const int64_t shape[3] = {l.shape(0), end - begin, l.shape(2)};
  const int64_t step = l.stride(1);
  const int64_t strides[3] = {l.stride(0), backwards ? -step : step, l.stride(2)};
  const int64_t first = backwards ? end - 1 : begin;
  return view_of(x, Layout::get(shape, strides, l.itemsize()), x.offset + first * step);
}

Array backwards(const Array& x) { return along(x, 0, x.layout->shape(1), true); }

// r[k] = g[k] + x[k + 1] r[k + 1], by doubling the distance that is folded.
Array recurrence(const Array& g, const Array& x) {
  const int64_t n = g.layout->shape(1);
  Array sums = copy(g, g.dtype, true), factors = copy(x, g.dtype, true);
  // factors[k]: the product of x[k + 1] to x[k + distance].
  if (n > 1) {
    const Array from = copy(along(x, 1, n), g.dtype, true);
    assign(along(factors, 0, n - 1), Arg(&from));
  }
  assign(along(factors, n - 1, n), zero());
  for (int64_t distance = 1; distance < n; distance *= 2) {
    const Quantity far_sums(along(sums, distance, n)), far_factors(along(factors, distance, n)),
        near_factors(along(factors, 0, n - distance));
    const Array more = of(Op::multiply, near_factors, far_sums).array,
                longer = of(Op::multiply, near_factors, far_factors).array;
    const Array near = along(sums, 0, n - distance);
    const Array sum = of(Op::add, Quantity(near), Quantity(more)).array;
    assign(near, Arg(&sum));
    assign(along(factors, 0, n - distance), Arg(&longer));
    assign(along(factors, n - distance, n), zero());
  }
  return sums;
}

Array conjugate(const Array& x) {
  if (!is_complex(x.dtype)) return x;
  const Arg a(&x);
  return apply(Op::conjugate, {&a, 1});
}

Contributions of_scan(const Entry& e, const Array& g) {
  Contributions parts(1);
  if (e.instr.op == Op::add) {
    parts[0] = backwards(accumulate(Op::add, backwards(g), 1, g.dtype, nullptr));
    return parts;
  }
  if (e.instr.op != Op::multiply) not_yet(e);
  const Array x = conjugate(saved(e.operands[0])), r = conjugate(saved(e.results[0]));
  const int64_t n = x.layout->shape(1);
  const Array own = x.dtype == g.dtype ? x : copy(x, g.dtype);
  Array before = copy(r, g.dtype, true);  // the product of all elements before each
  if (n > 1) {
    const Array moved = copy(along(r, 0, n - 1), g.dtype, true);
    assign(along(before, 1, n), Arg(&moved));
  }
  Arg one;
  one.weak = true;
  one.scalar = Scalar::from_int(1);
  assign(along(before, 0, 1), one);
  parts[0] = of(Op::multiply, Quantity(before), Quantity(recurrence(g, own))).array;
  return parts;
}

// Elements at `order` along the last axis got g.
Array put_back(const Array& lines, const Array& order, const Array& g) {
  const int64_t n = lines.layout->shape(lines.ndim() - 1), count = lines.size() / n;
  const int64_t each = order.layout->shape(order.ndim() - 1);
  Device* device = lines.base->device;
  const Array first =
      reshape(arange(0, static_cast<double>(n), 0, n, count, DType::I64, device), {count, 1});
  const Array rows = reshape(order, {count, each});
  const Array numbers = of(Op::add, Quantity(rows), Quantity(first)).array;
  const int64_t all = lines.size();
  const Array sums = empty({&all, 1}, g.dtype, device);
  assign(sums, zero());
  const Array flat = reshape(numbers, {numbers.size()}), values = reshape(g, {g.size()});
  const Arg value(&values);
  update(Op::add, sums, 1, {&flat, 1}, 0, &value);
  const auto shape = lines.shape();
  return reshape(sums, {shape.begin(), shape.end()});
}

Array order_of(const Array& lines, int64_t descending) {
  if (load_device_kernels) load_device_kernels(*lines.base->device, Routine::argsort, lines.dtype);
  return along_lines(Routine::argsort, lines, lines.ndim() - 1, true, {&descending, 1});
}

Contributions of_sort(const Entry& e, const Array& g) {
  const Array& lines = saved(e.operands[0]);
  Contributions parts(1);
  parts[0] = put_back(lines, order_of(lines, e.instr.attributes[1]), g);
  return parts;
}

// Where each element of a partition came from is where sorting puts an equal one.
Contributions of_partition(const Entry& e, const Array& g) {
  const Array &lines = saved(e.operands[0]), &parts_of = saved(e.results[0]);
  const int last = lines.ndim() - 1;
  const Array from = order_of(parts_of, 0), to = order_of(lines, 0);
  const int64_t n = lines.layout->shape(last), count = lines.size() / n;
  const Array flat = reshape(copy(g, g.dtype, true), {count * n});
  const Array first = reshape(
      arange(0, static_cast<double>(n), 0, n, count, DType::I64, lines.base->device), {count, 1});
  const Array numbers = of(Op::add, Quantity(reshape(from, {count, n})), Quantity(first)).array;
  const Array index = reshape(numbers, {count * n});
  Contributions parts(1);
  parts[0] = put_back(lines, to, gather(flat, 1, {&index, 1}, 0));
  return parts;
}

Contributions of_select(const Entry& e, const Array& g) {
  const Array &lines = saved(e.operands[0]), &ranks = saved(e.operands[1]);
  const Array order = order_of(lines, 0);
  const int last = lines.ndim() - 1;
  Contributions parts(2);
  parts[0] = put_back(lines, gather(order, uint64_t{1} << last, {&ranks, 1}, last), g);
  return parts;
}

Contributions of_weights(const Entry& e, const Array& g) {
  Contributions parts(2);
  if (e.operands[0].active) no_derivative(e);
  const Array& x = saved(e.operands[0]);
  const Array numbers = copy(x, DType::I64, true);
  parts[1] = gather(g, 1, {&numbers, 1}, 0);
  return parts;
}

}  // namespace

Contributions pull_call(const Entry& e, const Array& g) {
  switch (e.instr.routine) {
    case Routine::matmul: return of_product(e, g);
    case Routine::accumulate: return of_scan(e, g);
    case Routine::sort: return of_sort(e, g);
    case Routine::partition: return of_partition(e, g);
    case Routine::select: return of_select(e, g);
    case Routine::weigh: return of_weights(e, g);
    default: not_yet(e);
  }
}

}  // namespace numbus::program
