// Small reductions with nothing pending: carried out at once, in the order of the recorded ones.
#include <algorithm>
#include <cstdlib>

#include "array/at_once_blocks.h"
#include "array/at_once_calls.h"
#include "interp/blocks.h"
#include "lazy/reduce.h"

namespace numbus {
namespace {

using small::Block;

struct Dim {
  int64_t extent, from, to;  // bytes from element to element, and from result to result
  int64_t where;             // and from byte to byte of the predicate
  bool reduced;
};

// The elements in the order of the dimensions, side by side.
void gather(const Dim* dims, int rank, int64_t Dim::* stride, int size, const char* from,
            char* block) {
  int64_t shape[kMaxDims], strides[kMaxDims];
  for (int d = 0; d < rank; ++d) {
    shape[d] = dims[d].extent;
    strides[d] = dims[d].*stride;
  }
  const auto extents = static_cast<size_t>(rank);
  const LayoutRef l(Layout::get({shape, extents}, {strides, extents}, size));
  small::gather(size, *l, from, block);
}

}  // namespace

bool reduce_at_once(const Instr& i, const Array& a, const ViewRef* where, const Array& out) {
  const Layout& l = *a.layout;
  const int64_t n = l.size();
  Base &source = *a.base.get(), &target = *out.base.get();
  if (is_complex(i.loop) || is_complex(a.dtype) || &source == &target ||
      !small::may_run(n, *target.device) || target.mask)
    return false;
  Device* device = target.device;  // a flush may move the target elsewhere
  const bool resting = small::rests(*device, [&] {
    return small::at_rest(target, device) && small::readable(source, device) &&
           (!where || (where->base != &target && small::readable(*where->base, device)));
  });
  if (!resting) return false;
  const interp::Loop load = a.dtype == i.loop ? nullptr : small::conversion(a.dtype, i.loop);
  if (a.dtype != i.loop && !load) return false;

  // Its dimensions in the order of memory, as a kernel's; along equal strides the kept ones last.
  Dim dims[kMaxDims];
  int rank = 0, kept = 0;
  const bool keeps = out.ndim() == a.ndim();
  bool in_order = true;
  for (int d = 0; d < a.ndim(); ++d) {
    const bool reduced = i.axes >> d & 1;
    const int at = keeps ? d : kept;
    if (!reduced) ++kept;
    if (l.shape(d) == 1) continue;
    const Dim dim{l.shape(d), l.stride(d), reduced ? 0 : out.layout->stride(at),
                  where ? where->layout->stride(d) : 0, reduced};
    auto before = [&](const Dim& x, const Dim& y) {
      const int64_t p = std::abs(x.from), q = std::abs(y.from);
      return p != q ? p > q : x.reduced && !y.reduced;
    };
    int place = rank++;
    for (; place > 0 && before(dim, dims[place - 1]); --place) {
      dims[place] = dims[place - 1];
      in_order = false;
    }
    dims[place] = dim;
  }
  // Indices are those of C's order.
  if (needs_position(i.reduction) && !in_order) return false;
  const bool innermost = rank == 0 || dims[rank - 1].reduced;
  std::stable_partition(dims, dims + rank, [](const Dim& d) { return !d.reduced; });
  int64_t lines = 1, columns = 1;
  int outer = 0;
  for (; outer < rank && !dims[outer].reduced; ++outer) lines *= dims[outer].extent;
  const int64_t count = n / lines;
  // Kept dimensions that lie side by side: where they are many, short rows are taken as columns.
  for (int k = outer; k-- > 0;) {
    columns *= dims[k].extent;
    if (k == 0 || dims[k - 1].from != dims[k].from * dims[k].extent) break;
  }
  const int64_t short_row = needs_position(i.reduction) ? ir::kShortPositions : ir::kShortRow;
  Lines over{nullptr, lines, count, count, 1, innermost};
  if (count <= short_row && columns >= ir::kFewColumns) over.in_lanes = false;

  target.ensure_data();
  source.ensure_data();
  const char* from = source.data + a.offset;
  Block dense, wide, chosen;
  const bool by_columns = rank == 2 && outer == 1 && dims[0].from == itemsize(a.dtype) &&
                          dims[1].from == itemsize(a.dtype) * dims[0].extent && !where;
  int64_t expected = itemsize(a.dtype);
  bool in_place = true;
  for (int d = rank; d-- > 0; expected *= dims[d].extent)
    in_place = in_place && dims[d].from == expected;
  if (by_columns) {
    over.line = 1;
    over.step = dims[0].extent;
  } else if (!in_place) {
    gather(dims, rank, &Dim::from, itemsize(a.dtype), from, dense.bytes);
    from = dense.bytes;
  }
  if (where) {
    where->base->ensure_data();
    gather(dims, rank, &Dim::where, 1, where->base->data + where->offset, chosen.bytes);
    over.where = chosen.bytes;
  }
  if (a.dtype == DType::Bool && !load) {
    interp::normalise(from, wide.bytes, n);
    from = wide.bytes;
  } else if (load) {
    small::convert(load, i.loop, wide.bytes, from, n);
    from = wide.bytes;
  }
  over.values = from;
  char* to = target.data + out.offset;
  const ReduceSet& states = reduce_set();
  if (outer < 2) {
    states.reduce_lines(i.reduction, i.loop, over, i.param, out.dtype, to, outer ? dims[0].to : 0);
  } else {
    // The innermost kept dimension at a time.
    const Dim& last = dims[outer - 1];
    Lines some = over;
    some.lines = last.extent;
    int64_t index[kMaxDims] = {};
    for (int64_t done = 0; done < lines; done += last.extent) {
      states.reduce_lines(i.reduction, i.loop, some, i.param, out.dtype, to, last.to);
      some.values += last.extent * count * itemsize(i.loop);
      if (some.where) some.where += last.extent * count;
      for (int d = outer - 2; d >= 0; --d) {
        to += dims[d].to;
        if (++index[d] < dims[d].extent) break;
        to -= dims[d].to * dims[d].extent;
        index[d] = 0;
      }
    }
  }
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

bool dot_at_once(const Array& x, const Array& y, void* result) {
  const int64_t size = itemsize(x.dtype), n = x.layout->shape(0), from_x = x.layout->stride(0),
                from_y = y.layout->stride(0);
  if (n > ir::kUnitPoints || is_complex(x.dtype) || from_x % size != 0 || from_y % size != 0 ||
      !may_work_at_once() || x.base->device != y.base->device)
    return false;
  // Where parts of an array that was written to are summed, the program needs the number to go on:
  // what is pending would be carried out after the next few operations on numbers anyway.
  for (const Array* a : {&x, &y}) {
    if (readable_now(*a)) continue;
    if (a->owns || !a->base->device->host_readable() || a->base->failure) return false;
    Recorder::of(*a->base->device).flush("a part of an array is summed");
    if (!readable_now(*a)) return false;
  }
  x.base->ensure_data();
  y.base->ensure_data();
  const Factors factors{x.base->data + x.offset, y.base->data + y.offset, from_x / size,
                        from_y / size, n};
  reduce_set().sum_of_products(x.dtype, factors, static_cast<char*>(result));
  ++Runtime::get().stats.at_once;
  return true;
}

}  // namespace numbus
