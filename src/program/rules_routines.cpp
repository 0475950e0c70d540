// Derivatives of routines.
#include <array>

#include "array/convolution.h"
#include "array/quantity.h"
#include "base/error.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

Array transposed(const Array& matrices) {
  std::vector<int> axes;
  for (int d = 0; d < matrices.ndim() - 2; ++d) axes.push_back(d);
  axes.push_back(matrices.ndim() - 1);
  axes.push_back(matrices.ndim() - 2);
  return transpose(matrices, axes);
}

// Whether matrices lie column by column.
bool by_columns(const Layout& l) {
  const int n = l.ndim();
  return l.shape(n - 2) > 1 && l.shape(n - 1) > 1 && l.stride(n - 2) < l.stride(n - 1);
}

// The products lie in memory as the operands do whose adjoints they are.
Contributions of_product(const Entry& e, const Array& g) {
  Contributions parts(2);
  const Operand &a = e.operands[0], &b = e.operands[1];
  const DType t = e.instr.loop;
  if (a.active) {
    const Array other = conjugate(saved(b));
    parts[0] = by_columns(*a.region.layout) ? transposed(matmul(other, transposed(g), t))
                                            : matmul(g, transposed(other), t);
  }
  if (b.active) {
    const Array other = conjugate(saved(a));
    parts[1] = by_columns(*b.region.layout) ? transposed(matmul(transposed(g), other, t))
                                            : matmul(transposed(other), g, t);
  }
  return parts;
}

// Each of the three kinds is linear in both operands; the sum of x, w and weights y of products is
// the same for all.
Contributions of_convolution(const Entry& e, const Array& g) {
  const ConvolutionForm f = form_of(e.instr.attributes);
  const Operand &a = e.operands[0], &b = e.operands[1];
  auto shape = [](const Operand& o) {
    const Layout& l = *o.region.layout;
    return std::vector<int64_t>{l.shape(0), l.shape(1), l.shape(2), l.shape(3)};
  };
  Contributions parts(2);
  switch (kind_of(e.instr.attributes)) {
    case ConvolutionKind::Forward:
      if (a.active) parts[0] = convolve(ConvolutionKind::Input, g, saved(b), shape(a), f);
      if (b.active) parts[1] = convolve(ConvolutionKind::Weight, saved(a), g, shape(b), f);
      break;
    case ConvolutionKind::Input:
      if (a.active) parts[0] = convolve(ConvolutionKind::Forward, g, saved(b), shape(a), f);
      if (b.active) parts[1] = convolve(ConvolutionKind::Weight, g, saved(a), shape(b), f);
      break;
    case ConvolutionKind::Weight:
      if (a.active) parts[0] = convolve(ConvolutionKind::Input, saved(b), g, shape(a), f);
      if (b.active) parts[1] = convolve(ConvolutionKind::Forward, saved(a), g, shape(b), f);
      break;
  }
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

// 0, 1, … along the middle one of three axes.
Array counted(const Array& like) {
  const int64_t n = like.layout->shape(1);
  return reshape(arange(0, 1, 0, 1, n, DType::I64, like.base->device), {1, n, 1});
}

// Each running extreme is the element at the index where it last changed.
Array of_running_extreme(const Array& r, const Array& g) {
  const int64_t n = r.layout->shape(1), inner = r.layout->shape(2), outer = r.layout->shape(0);
  Device* device = r.base->device;
  const Array at = zeros(r.shape(), DType::I64, device);
  if (n > 1) {
    const Array here = along(counted(r), 1, n), now = along(r, 1, n), before = along(r, 0, n - 1);
    const Quantity changes = of(Op::not_equal, Quantity(now), Quantity(before));
    const Array last = choose(changes, Quantity(here), Quantity(0.0)).array;
    assign(along(at, 1, n), Arg(&last));
  }
  const Quantity position(accumulate(Op::maximum, at, 1, {}, nullptr));
  const Quantity lines(reshape(arange(0, 1, 0, 1, outer, DType::I64, device), {outer, 1, 1})),
      columns(reshape(arange(0, 1, 0, 1, inner, DType::I64, device), {1, 1, inner}));
  const Quantity row =
      of(Op::add, of(Op::multiply, lines, Quantity(static_cast<double>(n))), position);
  const Array number =
      copy(of(Op::add, of(Op::multiply, row, Quantity(static_cast<double>(inner))), columns).array,
           DType::I64, true);
  const int64_t all = outer * n * inner;
  const Array values = reshape(copy(g, g.dtype, true), {all});
  return reshape(sums_at(reshape(number, {all}), values, all), {outer, n, inner});
}

Contributions of_scan(const Entry& e, const Array& g) {
  Contributions parts(1);
  if (e.instr.op == Op::maximum || e.instr.op == Op::minimum) {
    parts[0] = of_running_extreme(saved(e.results[0]), g);
    return parts;
  }
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
  const Array sums =
      sums_at(reshape(numbers, {numbers.size()}), reshape(g, {g.size()}), lines.size());
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

namespace {

// Each element belongs to the segments that have begun and not ended.
Contributions of_segments(const Entry& e, const Array& g) {
  if (e.instr.op != Op::add) not_yet(e);
  const Array& bounds = saved(e.operands[1]);
  const Layout& l = *e.operands[0].region.layout;
  const int64_t shape[3] = {l.shape(0), l.shape(1) + 1, l.shape(2)};
  const int64_t count = bounds.size() / 2;
  const Array sums = zeros(shape, g.dtype, g.base->device);
  const LayoutRef half(Layout::contiguous({&count, 1}, itemsize(DType::I64)));
  const Arg value(&g);
  for (const bool ends : {false, true}) {
    const Array at = view_of(bounds, half.get(), bounds.offset + (ends ? count * 8 : 0));
    update(ends ? Op::subtract : Op::add, sums, 2, {&at, 1}, 1, &value);
  }
  Contributions parts(2);
  parts[0] = along(accumulate(Op::add, sums, 1, {}, nullptr), 0, l.shape(1));
  return parts;
}

// A value lies on the line between two points, or is that of an end.
Contributions of_interpolation(const Entry& e, const Array& g) {
  const Array &x = saved(e.operands[0]), &xp = saved(e.operands[1]), &fp = saved(e.operands[2]);
  const int64_t n = xp.size();
  auto element = [](const Array& line, int64_t k) {
    return Quantity(view_of(line, Layout::get({}, {}, line.layout->itemsize()),
                            line.offset + k * line.layout->stride(0)));
  };
  const Quantity given(x), adjoint(g);
  const Quantity below = of(Op::less, given, element(xp, 0)),
                 above = of(Op::greater, given, element(xp, n - 1));
  const Quantity outside = of(Op::logical_or, below, above);
  Contributions parts(4);
  const std::vector<int64_t> points{g.size()};
  // At the ends.
  const Array ends = empty(std::vector<int64_t>{2}, g.dtype, g.base->device);
  const uint64_t all = all_axes(g.ndim());
  for (int64_t k = 0; k < 2; ++k) {
    const Array there = choose(k ? above : below, adjoint, Quantity(0.0)).array;
    const Array sum = reduce(Reduction::Sum, there, all, false, g.dtype, nullptr, 0);
    assign(element(ends, k).array, Arg(&sum));
  }
  parts[3] =
      reshape(ends, {e.operands[3].region.layout->shape(),
                     e.operands[3].region.layout->shape() + e.operands[3].region.layout->ndim()});
  const Array line = zeros({&n, 1}, g.dtype, g.base->device),
              positions = zeros({&n, 1}, g.dtype, g.base->device);
  parts[2] = line;
  parts[1] = positions;
  if (n < 2) {
    // All values of points within are that of the only one.
    const Array within = choose(outside, Quantity(0.0), adjoint).array;
    const Array sum = reduce(Reduction::Sum, within, all, false, g.dtype, nullptr, 0);
    assign(line, Arg(&sum));
    parts[0] = zeros(x.shape(), x.dtype, x.base->device);
    return parts;
  }
  const Quantity last(static_cast<double>(n - 2));
  if (load_device_kernels) load_device_kernels(*x.base->device, Routine::search, DType::F64);
  const Quantity after(search(xp, x, true));
  const Quantity place =
      of(Op::maximum, of(Op::minimum, of(Op::subtract, after, Quantity(1.0)), last), Quantity(0.0));
  const Array low = copy(place.array, DType::I64, true);
  const Array high = copy(of(Op::add, Quantity(low), Quantity(1.0)).array, DType::I64, true);
  auto taken = [](const Array& of_line, const Array& at) {
    return Quantity(gather(of_line, 1, {&at, 1}, 0));
  };
  const Quantity x0 = taken(xp, low), width = of(Op::subtract, taken(xp, high), x0);
  const Quantity slope = of(Op::divide, of(Op::subtract, taken(fp, high), taken(fp, low)), width);
  const Quantity t = of(Op::divide, of(Op::subtract, given, x0), width);
  const Quantity own = choose(outside, Quantity(0.0), adjoint);
  parts[0] = of(Op::multiply, own, slope).array;
  const Quantity second = of(Op::multiply, own, t), first = of(Op::subtract, own, second);
  for (const bool upper : {false, true}) {
    const Array at = reshape(upper ? high : low, points);
    const Array share = reshape((upper ? second : first).array, points);
    const Array moves = reshape(of(Op::multiply, upper ? second : first, -slope).array, points);
    const Arg value(&share), by_position(&moves);
    update(Op::add, line, 1, {&at, 1}, 0, &value);
    update(Op::add, positions, 1, {&at, 1}, 0, &by_position);
  }
  return parts;
}

// Of sums of runs of equal keys. What is added in a run has the adjoint of the run's last point.
Contributions of_folds(const Entry& e, const Array& g) {
  const bool subtracts = e.instr.op == Op::subtract;
  if (e.instr.op != Op::add && !subtracts) not_yet(e);
  const Array &keys = saved(e.operands[0]), &order = saved(e.operands[1]);
  if (load_device_kernels) load_device_kernels(*keys.base->device, Routine::search, keys.dtype);
  const Quantity after(search(keys, keys, true));
  const Array last = copy(of(Op::subtract, after, Quantity(1.0)).array, DType::I64, true);
  const Array point = gather(order, 1, {&last, 1}, 0), sum = gather(g, 1, {&point, 1}, 0);
  const Region& values = e.operands[3].region;
  const Array added = zeros(sum.shape(), values.dtype, g.base->device);
  const Array each = subtracts ? (-Quantity(sum)).array : sum;
  scatter(added, 1, {&order, 1}, 0, Arg(&each), {.distinct = true});
  Contributions parts(4);
  parts[2] = g;
  parts[3] = added;
  return parts;
}

}  // namespace

Contributions pull_call(const Entry& e, const Array& g) {
  switch (e.instr.routine) {
    case Routine::matmul: return of_product(e, g);
    case Routine::convolve: return of_convolution(e, g);
    case Routine::accumulate: return of_scan(e, g);
    case Routine::sort: return of_sort(e, g);
    case Routine::partition: return of_partition(e, g);
    case Routine::select: return of_select(e, g);
    case Routine::weigh: return of_weights(e, g);
    case Routine::reduceat: return of_segments(e, g);
    case Routine::interp: return of_interpolation(e, g);
    case Routine::fold_runs: return of_folds(e, g);
    default: not_yet(e);
  }
}

}  // namespace numbus::program
