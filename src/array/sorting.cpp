// Routines that work on lines: operands brought into dense lines, then one recorded call.
#include <algorithm>
#include <numeric>

#include "array/array.h"
#include "base/error.h"

namespace numbus {

Array along_lines(Routine r, const Array& x, int axis, bool indices,
                  std::span<const int64_t> attributes) {
  const DType t = indices ? DType::I64 : x.dtype;
  Array a = x;
  if (a.mask) settle(a);
  const int n = a.ndim();
  if (axis < 0 || axis >= n)
    raise(ErrorKind::Axis, std::string(row(r).name), "axis out of bounds", std::to_string(axis),
          "below " + std::to_string(n));
  // Indices are in C order, elements in the order of a copy, as NumPy's.
  const Array like = indices ? empty(a.shape(), t, a.base->device) : copy_like(a, t);
  if (a.size() == 0) return like;
  // The lines lie in memory as the operand's other axes do.
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int p, int q) {
    if (p == axis || q == axis) return q == axis && p != axis;
    return std::abs(like.layout->stride(p)) > std::abs(like.layout->stride(q));
  });
  Array lines = transpose(a, order);
  if (!lines.layout->c_contiguous()) lines = copy(lines, lines.dtype, true);
  Array result = empty(lines.shape(), t, a.base->device);
  Instr i;
  i.routine = r;
  i.loop = t;
  std::copy(attributes.begin(), attributes.end(), i.attributes.begin());
  record_call(i, {{&lines}}, {{&result}});
  std::vector<int> back(n);
  for (int d = 0; d < n; ++d) back[order[d]] = d;
  Array moved = transpose(result, back);
  if (moved.layout.get() == like.layout.get()) {
    moved.owns = true;
    return moved;
  }
  Arg from(&moved);
  assign(like, from);
  return like;
}

}  // namespace numbus
