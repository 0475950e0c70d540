// Routines that work on lines: operands brought into dense lines, then one recorded call.
#include <algorithm>
#include <numeric>

#include "array/array.h"
#include "base/error.h"

namespace numbus {

void (*load_device_kernels)(const Device&, Routine, DType) = nullptr;
void (*load_device_kernel)(Routine, const std::string&, DType) = nullptr;
void (*load_fold_kernels)(const Device&, Routine, Op, DType, DType) = nullptr;

Array along_lines(Routine r, const Array& a, int axis, bool indices,
                  std::span<const int64_t> attributes) {
  const DType t = indices ? DType::I64 : a.dtype;
  // Booleans are ordered by their bytes, which need not be 0 and 1 in another type's memory.
  if (a.dtype == DType::Bool) {
    Array bytes = along_lines(r, view_as(a, DType::U8), axis, indices, attributes);
    return indices ? bytes : view_as(bytes, DType::Bool);
  }
  const int n = a.ndim();
  if (axis < 0 || axis >= n)
    raise(ErrorKind::Axis, std::string(row(r).name), "axis out of bounds", std::to_string(axis),
          "below " + std::to_string(n));
  // Indices are in C order, elements in the order of a copy, as NumPy's.
  Array like = indices ? empty(a.shape(), t, a.base->device) : copy_like(a, t);
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

namespace {

// A byte of a boolean that is neither 0 nor 1 becomes 1.
Array dense(const Array& x) {
  return x.layout->c_contiguous() && x.dtype != DType::Bool ? x : copy(x, x.dtype, true);
}

}  // namespace

Array select(const Array& x, int axis, std::span<const int64_t> ranks) {
  const Array a = dense(x);
  std::vector<int> order;
  std::vector<int64_t> shape;
  for (int d = 0; d < a.ndim(); ++d)
    if (d != axis) order.push_back(d), shape.push_back(a.layout->shape(d));
  order.push_back(axis);
  shape.push_back(std::ssize(ranks));
  const int64_t n = a.layout->shape(axis);
  for (int64_t r : ranks)
    if (r < 0 || r >= n)
      raise(ErrorKind::Value, "select", "a rank is outside of the line", std::to_string(r),
            "0 to " + std::to_string(n - 1));
  const Array lines = dense(transpose(a, order)), result = empty(shape, a.dtype, a.base->device);
  if (result.size() == 0) return result;
  // An operand, not attributes: lines of other lengths and other ranks share a plan.
  const Array wanted = of_integers(ranks, *a.base->device);
  Instr i;
  i.routine = Routine::select;
  i.loop = a.dtype;
  record_call(i, {{&lines, &wanted}}, {{&result}});
  return result;
}

Array search(const Array& sorted, const Array& values, bool right) {
  const Array line = dense(sorted), v = dense(values);
  if (line.ndim() != 1)
    raise(ErrorKind::Value, "searchsorted", "object of too many or few axes",
          std::to_string(line.ndim()) + "-d", "1-d");
  Array result = empty(v.shape(), DType::I64, v.base->device);
  Instr i;
  i.routine = Routine::search;
  i.loop = line.dtype;
  i.attributes[0] = right;
  if (v.size() > 0) record_call(i, {{&line, &v}}, {{&result}});
  return result;
}

Array interpolate(const Array& x, const Array& xp, const Array& fp, const Array& ends) {
  const Array at = dense(x), points = dense(xp), values = dense(fp), two = dense(ends);
  for (const Array* a : {&at, &points, &values, &two})
    if (a->dtype != DType::F64)
      raise(ErrorKind::Type, "interp", "an operand of another type", std::string(name(a->dtype)),
            "float64");
  if (points.ndim() != 1 || !points.layout->same_shape(*values.layout) || points.size() == 0 ||
      two.size() != 2)
    raise(ErrorKind::Value, "interp", "points that do not fit",
          shape_string(*points.layout) + " and " + shape_string(*values.layout),
          "two lines of one length");
  Array result = empty(at.shape(), DType::F64, at.base->device);
  Instr i;
  i.routine = Routine::interp;
  i.loop = DType::F64;
  if (at.size() > 0) record_call(i, {{&at, &points, &values, &two}}, {{&result}});
  return result;
}

Array bincount(const Array& x, int64_t bins, const Array* weights) {
  const Array values = dense(x);
  const DType t = weights ? DType::F64 : DType::I64;
  Array result = empty({&bins, 1}, t, values.base->device);
  Instr i;
  i.routine = weights ? Routine::weigh : Routine::bincount;
  i.loop = t;
  if (bins == 0) return result;
  if (!weights) {
    record_call(i, {{&values}}, {{&result}});
  } else {
    const Array by = dense(*weights);
    record_call(i, {{&values, &by}}, {{&result}});
  }
  return result;
}

Array histogram(const Array& x, const Array& limits, bool uniform) {
  const Array values = dense(x);
  Array edges = dense(limits);
  const bool fits =
      uniform ? is_inexact(edges.dtype) && !is_complex(edges.dtype) : edges.dtype == values.dtype;
  if (!fits || edges.ndim() != 1 || edges.size() == 0)
    raise(ErrorKind::Value, "histogram", "edges that the routine does not take",
          shape_string(*edges.layout) + " of " + std::string(name(edges.dtype)),
          "a line of edges in the type of the values, or even ones of floats");
  // Kernels of a GPU compare float64.
  if (!values.base->device->runs_on_host() && edges.dtype != DType::F64)
    edges = copy(edges, DType::F64, true);
  const int64_t bins = edges.size() - 1;
  Array result = empty({&bins, 1}, DType::I64, values.base->device);
  Instr i;
  i.routine = Routine::histogram;
  i.loop = values.dtype;
  i.attributes[0] = uniform;
  if (bins > 0) record_call(i, {{&values, &edges}}, {{&result}});
  return result;
}

}  // namespace numbus
