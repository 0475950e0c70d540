// Elements that an index along one axis names, for each element of the index: read, written and
// added to, where all are at rest on the host and not many.
#include "array/along_at_once.h"

#include <cstring>

#include "array/at_once_blocks.h"
#include "array/at_once_calls.h"
#include "interp/loops.h"

namespace numbus {
namespace {

constexpr int64_t kMost = 1 << 15;  // elements of the index; more are threads' work

template <class T>
T load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The index's box, the axes of one element last, and the steps in it of the indices, of the array
// that they point into but for its axis, and of a third array.
struct Walk {
  int n = 0;
  int64_t shape[kMaxDims], index[kMaxDims], fixed[kMaxDims], other[kMaxDims];
  int64_t extent, step;  // of the axis

  // f(index, offset in the array, offset in the third): for each element in C order.
  template <class F>
  void each(const char* indices, F&& f) const {
    if (n == 0) {
      f(load<int64_t>(indices), 0, 0);
      return;
    }
    int64_t at[kMaxDims] = {}, i = 0, fixed_at = 0, other_at = 0;
    const int last = n - 1;
    // Kept apart from what `f` writes.
    const int64_t count = shape[last], to_index = index[last], to_fixed = fixed[last],
                  to_other = other[last];
    while (true) {
      const char* p = indices + i;
      for (int64_t k = 0; k < count; ++k)
        f(load<int64_t>(p + k * to_index), fixed_at + k * to_fixed, other_at + k * to_other);
      int d = last - 1;
      for (; d >= 0; --d) {
        i += index[d];
        fixed_at += fixed[d];
        other_at += other[d];
        if (++at[d] < shape[d]) break;
        i -= index[d] * shape[d];
        fixed_at -= fixed[d] * shape[d];
        other_at -= other[d] * shape[d];
        at[d] = 0;
      }
      if (d < 0) return;
    }
  }
};

bool describe(const Array& a, int axis, const Array& index, Walk& w) {
  const Layout &l = *a.layout, &k = *index.layout;
  if (index.dtype != DType::I64 || k.size() == 0 || k.size() > kMost || k.ndim() != l.ndim() ||
      index.base.get() == a.base.get())
    return false;
  w.n = k.ndim();
  w.extent = l.ndim() ? l.shape(axis) : 1;
  w.step = l.ndim() ? l.stride(axis) : 0;
  for (int d = 0; d < w.n; ++d) {
    if (d != axis && k.shape(d) > l.shape(d)) return false;
    w.shape[d] = k.shape(d);
    w.index[d] = k.stride(d);
    w.fixed[d] = d == axis ? 0 : l.stride(d);
    w.other[d] = 0;
  }
  return true;
}

const char* indices_of(const Array& index) {
  index.base->ensure_data();
  return index.base->data + index.offset;
}

// Raises for the first index that is no element's, before anything is written.
void check(const Walk& w, const Array& index, const char* indices, int axis) {
  const auto extent = static_cast<uint64_t>(w.extent);
  if (index.layout->c_contiguous()) {
    const auto* all = reinterpret_cast<const int64_t*>(indices);
    const int64_t n = index.size();
    int64_t signs = 0;
    for (int64_t k = 0; k < n; ++k) signs |= all[k];
    if (signs >= 0 && interp::loops().within(all, n, w.extent)) return;
  }
  bool wrong = false;
  w.each(indices,
         [&](int64_t k, int64_t, int64_t) { wrong |= static_cast<uint64_t>(k) >= extent; });
  if (!wrong) return;
  w.each(indices, [&](int64_t k, int64_t, int64_t) {
    if (static_cast<uint64_t>(k) >= extent)
      raise(ErrorKind::Index, "index", "out of range for dimension " + std::to_string(axis),
            std::to_string(k), "0 to " + std::to_string(w.extent - 1));
  });
}

template <class F>
bool of_size(int size, F&& f) {
  switch (size) {
    // NOLINTNEXTLINE(bugprone-branch-clone): they differ in their type
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    default: return false;
  }
}

template <class F>
bool of_numbers(DType t, F&& f) {
  switch (t) {
    // NOLINTNEXTLINE(bugprone-branch-clone): they differ in their type
    case DType::F32: return f(float());
    case DType::F64: return f(double());
    // Sums of integers wrap around.
    case DType::I8:
    case DType::U8: return f(uint8_t());
    case DType::I16:
    case DType::U16: return f(uint16_t());
    case DType::I32:
    case DType::U32: return f(uint32_t());
    case DType::I64:
    case DType::U64: return f(uint64_t());
    default: return false;
  }
}

}  // namespace

std::optional<Array> pick_along_at_once(const Array& a, int axis, const Array& index) {
  Walk w;
  if (a.dtype == DType::Bool || !may_work_at_once() || !describe(a, axis, index, w) ||
      a.base->device != index.base->device || !readable_now(a) || !readable_now(index))
    return {};
  const int size = itemsize(a.dtype);
  if (size > 8) return {};
  const char* indices = indices_of(index);
  check(w, index, indices, axis);
  const LayoutRef layout(index.layout->contiguous_like(size));
  Array made = fresh(layout.get(), a.dtype, a.base->device);
  for (int d = 0; d < w.n; ++d) w.other[d] = layout->stride(d);
  a.base->ensure_data();
  made.base->ensure_data();
  const char* from = a.base->data + a.offset;
  char* to = made.base->data;
  of_size(size, [&](auto type) {
    using T = decltype(type);
    w.each(indices, [to, from, step = w.step](int64_t k, int64_t fixed, int64_t other) {
      std::memcpy(to + other, from + fixed + k * step, sizeof(T));
    });
    return true;
  });
  made.base->changed();
  ++Runtime::get().stats.at_once;
  return made;
}

bool store_along_at_once(const Array& to, int axis, const Array& index, const Arg& value,
                         bool adds) {
  Base& target = *to.base.get();
  Walk w;
  if (to.dtype == DType::Bool || !to.writeable || target.mask || value.mask() ||
      !may_work_at_once() || !describe(to, axis, index, w) || !target.device->host_readable() ||
      !small::at_rest(target, index.base->device) || !readable_now(index))
    return false;
  for (int d = 0; d < to.ndim(); ++d)  // elements that are one in memory
    if (to.layout->stride(d) == 0 && to.layout->shape(d) > 1) return false;
  const int size = itemsize(to.dtype);
  const Array* values = value.array();
  uint64_t bits = 0;
  const char* from = reinterpret_cast<const char*>(&bits);
  if (values) {
    const Layout& l = *values->layout;
    if (values->dtype != to.dtype || values->base->device != target.device ||
        values->base.get() == &target || l.ndim() != w.n || !readable_now(*values))
      return false;
    for (int d = 0; d < w.n; ++d) {
      if (l.shape(d) < w.shape[d]) return false;
      w.other[d] = l.stride(d);
    }
    values->base->ensure_data();
    from = values->base->data + values->offset;
  } else {
    if ((!value.weak && value.dtype != to.dtype) || size > 8) return false;
    store_scalar(value.scalar, to.dtype, &bits);
  }
  target.ensure_data();
  const char* indices = indices_of(index);
  const Base& b = *index.base.get();
  if (target.data < b.data + b.nbytes && b.data < target.data + target.nbytes) return false;
  char* data = target.data + to.offset;
  const auto each = [&](auto type) {
    using T = decltype(type);
    check(w, index, indices, axis);
    w.each(indices, [=, step = w.step](int64_t k, int64_t fixed, int64_t other) {
      char* p = data + fixed + k * step;
      T v = load<T>(from + other);
      if (adds) v = static_cast<T>(load<T>(p) + v);
      std::memcpy(p, &v, sizeof v);
    });
    return true;
  };
  if (!(adds ? of_numbers(to.dtype, each) : of_size(size, each))) return false;
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

}  // namespace numbus
