// Copies, and elements read and written by one array of indices, where all are few and at rest.
#include <cstring>
#include <type_traits>

#include "array/at_once_blocks.h"
#include "array/at_once_calls.h"
#include "base/with_length.h"
#include "interp/blocks.h"
#include "interp/loops.h"

namespace numbus {
namespace {

constexpr int64_t kMostBytes = sizeof(small::Block);

// One axis of an array, and what one index of it stands for: the other axes, or a part of them that
// lies together.
struct Along {
  int64_t extent, stride, elements = 1, bytes;
  int64_t shape[kMaxDims], strides[kMaxDims];
  int rest = 0;
  LayoutRef layout;  // of the other axes; null where they are dense in C order
};
bool describe(const Array& a, int axis, Along& to) {
  const Layout& l = *a.layout;
  to.extent = l.shape(axis);
  to.stride = l.stride(axis);
  int64_t expected = l.itemsize(), longer = 0;
  bool dense = true, ordered = true;
  for (int d = l.ndim() - 1; d >= 0; --d) {
    if (d == axis) continue;
    ordered = ordered && l.shape(d) != 1 && l.stride(d) >= longer;
    longer = l.stride(d);
    dense = dense && l.stride(d) == expected;
    expected *= l.shape(d);
    to.elements *= l.shape(d);
    ++to.rest;
  }
  // Results have the order of the operand's memory: one that is not C's is for those who record.
  if (to.rest > 1 && !ordered) return false;
  for (int d = 0, at = 0; d < l.ndim(); ++d) {
    if (d == axis) continue;
    to.shape[at] = l.shape(d);
    to.strides[at++] = l.stride(d);
  }
  const auto rest = static_cast<size_t>(to.rest);
  if (!dense) to.layout = Layout::get({to.shape, rest}, {to.strides, rest}, l.itemsize());
  to.bytes = to.elements * l.itemsize();
  return true;
}

// Indices in C order, so few that what they stand for fits into a block; null: they are not such,
// or not known yet.
const int64_t* known(const Array& index, const Along& along) {
  const Base& b = *index.base.get();
  const int64_t n = index.size();
  if (index.dtype != DType::I64 || !index.layout->c_contiguous() || along.bytes == 0 || n == 0 ||
      n > kMostBytes / along.bytes || !b.data || !readable_now(index))
    return nullptr;
  return reinterpret_cast<const int64_t*>(b.data + index.offset);
}

void check(const int64_t* indices, int64_t n, int axis, int64_t extent) {
  if (interp::loops().within(indices, n, extent)) return;
  for (int64_t k = 0; k < n; ++k)
    if (indices[k] >= extent || indices[k] < -extent) throw wrong_index(indices[k], axis, extent);
}

// The offset of what an index that is right stands for.
int64_t offset_of(int64_t index, const Along& along) {
  return (index < 0 ? index + along.extent : index) * along.stride;
}

// The result's layout: the indices come first in memory, then the other axes.
LayoutRef result_layout(const Array& a, int axis, const Array& index, const Along& along) {
  const int many = index.ndim(), n = many + along.rest, size = itemsize(a.dtype);
  int64_t shape[kMaxDims], strides[kMaxDims];
  std::copy_n(along.shape, axis, shape);
  std::copy_n(index.layout->shape(), many, shape + axis);
  std::copy_n(along.shape + axis, along.rest - axis, shape + axis + many);
  int64_t step = size;
  auto place = [&](int d) {
    strides[d] = step;
    step *= shape[d];
  };
  for (int d = n - 1; d >= axis + many; --d) place(d);
  for (int d = axis - 1; d >= 0; --d) place(d);
  for (int d = axis + many - 1; d >= axis; --d) place(d);
  const auto dims = static_cast<size_t>(n);
  return Layout::get({shape, dims}, {strides, dims}, size);
}

}  // namespace

std::optional<Array> copy_at_once(const Array& a) {
  if (a.size() > Runtime::get().at_once || !may_work_at_once() || !readable_now(a)) return {};
  Array made = fresh(a.layout->contiguous_like(itemsize(a.dtype)), a.dtype, a.base->device);
  a.base->ensure_data();
  made.base->ensure_data();
  std::memcpy(made.base->data, a.base->data + a.offset, static_cast<size_t>(made.base->nbytes));
  if (a.dtype == DType::Bool) interp::normalise(made.base->data, made.base->data, a.size());
  made.base->changed();
  ++Runtime::get().stats.at_once;
  return made;
}

std::optional<Array> take_at_once(const Array& a, int axis, const Array& index) {
  Along along;
  if (axis >= a.ndim() || a.ndim() - 1 + index.ndim() > kMaxDims || !may_work_at_once() ||
      !readable_now(a) || a.base->device != index.base->device || !describe(a, axis, along))
    return {};
  const int64_t* at = known(index, along);
  if (!at) return {};
  check(at, index.size(), axis, along.extent);
  const LayoutRef layout = result_layout(a, axis, index, along);
  Array made = fresh(layout.get(), a.dtype, a.base->device);
  a.base->ensure_data();
  made.base->ensure_data();
  const char* from = a.base->data + a.offset;
  char* to = made.base->data;
  const int64_t count = index.size();
  if (along.layout) {
    for (int64_t k = 0; k < count; ++k)
      small::gather(itemsize(a.dtype), *along.layout, from + offset_of(at[k], along),
                    to + k * along.bytes);
  } else {
    with_length(along.bytes, [&](auto size) {
      for (int64_t k = 0; k < count; ++k)
        std::memcpy(to + k * size, from + offset_of(at[k], along), size);
    });
  }
  if (a.dtype == DType::Bool) interp::normalise(to, to, count * along.elements);
  made.base->changed();
  ++Runtime::get().stats.at_once;
  return made;
}

bool assign_at_once(const Array& to, const Array& from) {
  Base& target = *to.base.get();
  const Layout &l = *to.layout, &m = *from.layout;
  if (to.dtype != from.dtype || !l.c_contiguous() || !m.c_contiguous() || !l.same_shape(m) ||
      l.size() > Runtime::get().at_once || !may_work_at_once() || !readable_now(from) ||
      !small::at_rest(target, from.base->device) || target.mask)
    return false;
  if (l.size() == 0) return true;
  from.base->ensure_data();
  target.ensure_data();
  char* there = target.data + to.offset;
  const char* here = from.base->data + from.offset;
  if (to.dtype == DType::Bool && there != here) {
    small::Block block;
    interp::normalise(here, block.bytes, l.size());
    std::memcpy(there, block.bytes, static_cast<size_t>(l.size()));
  } else {
    std::memmove(there, here, static_cast<size_t>(l.size() * l.itemsize()));
  }
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

bool put_at_once(const Array& to, int axis, const Array& index, const Arg& value) {
  Base& target = *to.base.get();
  Along along;
  if (axis >= to.ndim() || !may_work_at_once() || !small::at_rest(target, index.base->device) ||
      !target.device->host_readable() || target.mask || value.mask() || !describe(to, axis, along))
    return false;
  const int64_t* at = known(index, along);
  if (!at) return false;
  target.ensure_data();
  const Base& indices = *index.base.get();
  if (target.data < indices.data + indices.nbytes && indices.data < target.data + target.nbytes)
    return false;
  // A wrong index leaves everything as it is.
  check(at, index.size(), axis, along.extent);
  const int64_t count = index.size();
  const int size = itemsize(to.dtype);
  const Array* values = value.array();
  small::Block block;
  if (values) {
    if (values->dtype != to.dtype || !readable_now(*values) ||
        values->base->device != target.device || values->ndim() > index.ndim() + along.rest)
      return false;
    // In the order in which they are written: the indices', and the other axes'.
    const LayoutRef domain = result_layout(to, axis, index, along);
    const LayoutRef spread(broadcast_layout(*values, domain.get(), "setitem"));
    int64_t shape[kMaxDims], strides[kMaxDims];
    int n = 0;
    auto take = [&](int d) {
      shape[n] = spread->shape(d);
      strides[n++] = spread->stride(d);
    };
    const int many = index.ndim(), all = many + along.rest;
    for (int d = axis; d < axis + many; ++d) take(d);
    for (int d = 0; d < all; ++d)
      if (d < axis || d >= axis + many) take(d);
    const auto dims = static_cast<size_t>(n);
    const LayoutRef in_order(Layout::get({shape, dims}, {strides, dims}, size));
    values->base->ensure_data();
    small::gather(size, *in_order, values->base->data + values->offset, block.bytes);
    if (to.dtype == DType::Bool)
      interp::normalise(block.bytes, block.bytes, count * along.elements);
  } else {
    if ((!value.weak && value.dtype != to.dtype) || size > 8) return false;
    uint64_t bits = 0;
    store_scalar(value.scalar, to.dtype, &bits);
    interp::fill(&bits, size, block.bytes, count * along.elements);
  }
  char* data = target.data + to.offset;
  if (along.layout) {
    for (int64_t k = 0; k < count; ++k)
      small::scatter(size, *along.layout, data + offset_of(at[k], along),
                     block.bytes + k * along.bytes);
  } else {
    with_length(along.bytes, [&](auto length) {
      for (int64_t k = 0; k < count; ++k)
        std::memcpy(data + offset_of(at[k], along), block.bytes + k * length, length);
    });
  }
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

}  // namespace numbus
