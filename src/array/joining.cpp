// Arrays joined along an axis, or a new one, or moved round: a new array and one assignment for
// each part.
#include <algorithm>

#include "array/array.h"
#include "array/placement.h"
#include "base/error.h"

namespace numbus {
namespace {

// `a` with one more axis, one element long.
Array with_axis(const Array& a, int axis) {
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  std::vector<int64_t> strides(a.layout->strides(), a.layout->strides() + a.ndim());
  shape.insert(shape.begin() + axis, 1);
  strides.insert(strides.begin() + axis, 0);
  return view_of(a, Layout::get(shape, strides, itemsize(a.dtype)), a.offset);
}

}  // namespace

Array concatenate(std::span<const Array> arrays, int axis, bool new_axis, const char* op,
                  std::optional<DType> dtype, Casting casting, const Array* out) {
  std::vector<Array> parts(arrays.begin(), arrays.end());
  if (new_axis)  // which may lie beyond the axes of a part that has fewer
    for (Array& a : parts)
      if (a.ndim() == arrays[0].ndim()) a = with_axis(a, axis);
  const Array& first = parts[0];
  std::vector<int64_t> shape(first.shape().begin(), first.shape().end());
  shape[axis] = 0;
  DType common = first.dtype;
  for (const Array& a : parts) {
    bool fits = a.ndim() == first.ndim();
    for (int d = 0; fits && d < a.ndim(); ++d)
      fits = (d == axis && !new_axis) || a.layout->shape(d) == first.layout->shape(d);
    if (!fits)
      raise(ErrorKind::Value, op,
            new_axis ? "shapes differ" : "shapes differ outside axis " + std::to_string(axis),
            shape_string(*arrays[0].layout) + " and " +
                shape_string(*arrays[&a - parts.data()].layout),
            new_axis ? "one shape" : "equal extents");
    shape[axis] += a.layout->shape(axis);
    common = promote(common, a.dtype);
  }
  if (out && !std::equal(shape.begin(), shape.end(), out->shape().begin(), out->shape().end()))
    raise(ErrorKind::Value, op, "wrong shape of out", shape_string(*out->layout),
          shape_string(shape));
  DType t = out ? out->dtype : dtype.value_or(common);
  for (const Array& a : parts)
    if (!can_cast(a.dtype, t, casting))
      raise(ErrorKind::Casting, op, "cannot cast under this rule",
            std::string(name(a.dtype)) + " to " + std::string(name(t)),
            "a cast that casting= allows");
  Device* device = first.base->device;
  if (placement::on) {
    std::vector<const Array*> operands;
    for (const Array& a : parts) operands.push_back(&a);
    device = &placement::of_result(operands);
  }
  Array result = out ? *out : empty(shape, t, device);
  int64_t at = result.offset;
  for (const Array& a : parts) {
    const Layout& l = *result.layout;
    int64_t extent = a.layout->shape(axis);
    shape[axis] = extent;
    if (a.size() > 0) {
      Arg from(&a);
      assign(view_of(result,
                     Layout::get(shape, {l.strides(), static_cast<size_t>(l.ndim())}, l.itemsize()),
                     at),
             from);
    }
    at += extent * l.stride(axis);
  }
  return result;
}

Array roll(const Array& a, std::span<const int64_t> moves) {
  const Array result = empty(a.shape(), a.dtype, a.base->device);
  if (a.size() == 0) return result;
  std::vector<int> rolled;
  for (int d = 0; d < a.ndim(); ++d)
    if (moves[d] != 0) rolled.push_back(d);
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  // Along each axis that moves, the elements that stay in front of the end and those that go round.
  for (size_t part = 0; part < size_t{1} << rolled.size(); ++part) {
    int64_t from = a.offset, to = result.offset;
    for (size_t k = 0; k < rolled.size(); ++k) {
      const int d = rolled[k];
      const int64_t move = moves[d], stay = a.layout->shape(d) - move;
      const bool round = part >> k & 1;
      shape[d] = round ? move : stay;
      (round ? from : to) += (round ? stay * a.layout->stride(d) : move * result.layout->stride(d));
    }
    auto some = [&](const Array& of, int64_t offset) {
      const LayoutRef l(
          Layout::get(shape, {of.layout->strides(), shape.size()}, itemsize(of.dtype)));
      return view_of(of, l.get(), offset);
    };
    const Array source = some(a, from);
    assign(some(result, to), Arg(&source));
  }
  return result;
}

}  // namespace numbus
