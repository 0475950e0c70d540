// Cumulative operations: NumPy's types, one recorded call on (outer, axis, inner).
#include <algorithm>

#include "array/array.h"
#include "base/error.h"
#include "passes/expand_complex.h"

namespace numbus {
namespace {

std::string title(Op op) { return std::string(op_name(op)) + ".accumulate"; }

// The loop of a type given by the caller, else of what the operand and `out` promote to.
Resolved loop_of(Op op, const Array& a, std::optional<DType> dtype, const Array* out) {
  DType t = dtype ? *dtype : out ? promote(a.dtype, out->dtype) : a.dtype;
  bool sums = op == Op::add || op == Op::multiply;
  if (sums && !dtype && !out && !is_inexact(t) && itemsize(t) < 8)
    t = kind(t) == Kind::UInt ? DType::U64 : DType::I64;
  DType both[2] = {t, t};
  Resolved loop = resolve(op, both);
  if (loop.in[0] != loop.out || (dtype && loop.out != t)) {
    raise(ErrorKind::Type, title(op), "no loop whose result can be its next operand",
          std::string(name(t)) + " -> " + std::string(name(loop.out)), "a loop of one type");
  }
  if (is_complex(loop.out) && !has_complex_expansion(loop.op)) {
    raise(ErrorKind::NotImplemented, title(op), "not yet available for complex numbers",
          std::string(name(loop.out)), "real types");
  }
  return loop;
}

// `x` and `y` as (outer, axis, inner), the other axes merged where both walk them as one; nothing
// where that leaves more than two.
std::optional<std::pair<Array, Array>> three_dimensional(const Array& x, const Array& y, int axis) {
  struct Axis {
    int64_t extent, x, y;
  };
  std::vector<Axis> rest;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != axis && x.layout->shape(d) != 1)
      rest.push_back({x.layout->shape(d), x.layout->stride(d), y.layout->stride(d)});
  std::stable_sort(rest.begin(), rest.end(),
                   [](const Axis& p, const Axis& q) { return std::abs(p.y) > std::abs(q.y); });
  std::vector<Axis> merged;
  for (const Axis& a : rest) {
    Axis* last = merged.empty() ? nullptr : &merged.back();
    if (last && last->x == a.x * a.extent && last->y == a.y * a.extent)
      *last = {last->extent * a.extent, a.x, a.y};
    else
      merged.push_back(a);
  }
  if (merged.size() > 2) return {};
  Axis along{x.layout->shape(axis), x.layout->stride(axis), y.layout->stride(axis)};
  Axis outer{1, 0, 0}, inner{1, 0, 0};
  if (merged.size() == 2)
    outer = merged[0], inner = merged[1];
  else if (merged.size() == 1)
    (std::abs(merged[0].y) < std::abs(along.y) ? inner : outer) = merged[0];
  int64_t shape[3] = {outer.extent, along.extent, inner.extent};
  auto view = [&](const Array& a, int64_t Axis::* stride) {
    int64_t strides[3] = {outer.*stride, along.*stride, inner.*stride};
    return view_of(a, Layout::get(shape, strides, itemsize(a.dtype)), a.offset);
  };
  return std::pair{view(x, &Axis::x), view(y, &Axis::y)};
}

}  // namespace

Array accumulate(Op op, const Array& x, int axis, std::optional<DType> dtype, const Array* out) {
  Array a = x;
  if (row(op).nin != 2)
    raise(ErrorKind::Value, title(op), "not a binary ufunc", std::to_string(row(op).nin),
          "2 inputs");
  if (a.ndim() == 0)
    raise(ErrorKind::Type, title(op), "cannot accumulate on a scalar", "0-d", "1-d or more");
  if (axis < 0 || axis >= a.ndim())
    raise(ErrorKind::Axis, title(op), "axis out of bounds", std::to_string(axis),
          "below " + std::to_string(a.ndim()));
  Resolved loop = loop_of(op, a, dtype, out);
  DType t = loop.out;
  if (out) {
    require_writeable(*out, title(op).c_str());
    if (!out->layout->same_shape(*a.layout))
      raise(ErrorKind::Value, title(op), "out has the wrong shape", shape_string(*out->layout),
            shape_string(*a.layout));
  }
  // Whoever reads what it has written at another index reads too late.
  bool identical = out && a.base.get() == out->base.get() && a.offset == out->offset &&
                   a.layout.get() == out->layout.get() && a.dtype == out->dtype;
  bool apart = out && (a.base.get() != out->base.get() || identical ||
                       !may_overlap(a.offset, *a.layout, out->offset, *out->layout));
  bool direct = out && out->dtype == t && apart && out->layout->injective();
  Array result = direct ? *out : empty_like(a, t);
  if (a.size() == 0) return out ? *out : result;
  auto views = three_dimensional(a, result, axis);
  Array target = result;
  if (!views) {
    a = copy(a, a.dtype, true);
    target = empty(a.shape(), t, a.base->device);
    views = three_dimensional(a, target, axis);
  }
  Instr i;
  i.routine = Routine::accumulate;
  i.op = loop.op;
  i.loop = t;
  record_call(i, {{&views->first}}, {{&views->second}});
  const Array& wanted = out ? *out : result;
  if (target.base.get() != wanted.base.get()) {
    Arg back(&target);
    assign(wanted, back);
  }
  return wanted;
}

}  // namespace numbus
