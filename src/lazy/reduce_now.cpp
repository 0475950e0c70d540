// Small reductions without a plan, in the order of the recorded ones.
#include "lazy/single.h"

#include <algorithm>
#include <cstdlib>

#include "interp/blocks.h"
#include "lazy/reduce.h"

namespace numbus::small {
namespace {

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
  small::gather(size, {rank, shape}, strides, from, block);
}

}  // namespace

bool reduce_now(const Instr& i, const ViewRef& a, const ViewRef* where, const ViewRef& out) {
  const Layout& l = *a.layout;
  const int64_t n = l.size();
  if (is_complex(i.loop) || is_complex(a.dtype) || a.base == out.base || n > ir::kUnitPoints)
    return false;
  const interp::Loop load = a.dtype == i.loop ? nullptr : conversion(a.dtype, i.loop);
  if (a.dtype != i.loop && !load) return false;

  // Its dimensions in the order of memory, as a kernel's; along equal strides the kept ones last.
  Dim dims[kMaxDims];
  int rank = 0, kept = 0;
  const bool keeps = out.layout->ndim() == l.ndim();
  bool in_order = true;
  for (int d = 0; d < l.ndim(); ++d) {
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

  Block dense, wide, chosen;
  const bool by_columns = rank == 2 && outer == 1 && dims[0].from == itemsize(a.dtype) &&
                          dims[1].from == itemsize(a.dtype) * dims[0].extent && !where;
  int64_t expected = itemsize(a.dtype);
  bool in_place = true;
  for (int d = rank; d-- > 0; expected *= dims[d].extent)
    in_place = in_place && dims[d].from == expected;
  // What a block does not hold has to be one line that is read where it lies.
  if (n > kBlock && (!in_place || outer > 0 || where || load || a.dtype == DType::Bool))
    return false;
  out.base->ensure_data();
  a.base->ensure_data();
  const char* from = a.base->data + a.offset;
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
    convert(load, i.loop, wide.bytes, from, n);
    from = wide.bytes;
  }
  over.values = from;
  char* to = out.base->data + out.offset;
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
  return true;
}

}  // namespace numbus::small
