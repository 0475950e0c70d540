// Rows of an array by an array of indices, and values written there, where all are few and at rest.
#include <cstring>

#include "array/at_once_calls.h"
#include "interp/blocks.h"

namespace numbus {
namespace {

constexpr int64_t kMostBytes = 1 << 15;

// What one index stands for: a row, dense in C order.
struct Rows {
  int64_t extent, stride, bytes, elements;
};
std::optional<Rows> rows_of(const Array& a) {
  const Layout& l = *a.layout;
  if (l.ndim() < 1) return {};
  Rows r{l.shape(0), l.stride(0), l.itemsize(), 1};
  for (int d = l.ndim() - 1; d > 0; --d) {
    if (l.stride(d) != r.bytes) return {};
    r.bytes *= l.shape(d);
    r.elements *= l.shape(d);
  }
  return r;
}

// Indices in C order, of which there are so few that the rows are few bytes; null: they are not
// such, or not known yet.
const int64_t* known(const Array& index, const Rows& rows) {
  const Base& b = *index.base.get();
  const int64_t n = index.size();
  if (index.dtype != DType::I64 || !index.layout->c_contiguous() || rows.bytes == 0 || n == 0 ||
      n > kMostBytes / rows.bytes || !b.data || !readable_now(index))
    return nullptr;
  return reinterpret_cast<const int64_t*>(b.data + index.offset);
}

int64_t row_at(int64_t index, int64_t extent) {
  if (index >= extent || index < -extent) throw wrong_index(index, 0, extent);
  return index < 0 ? index + extent : index;
}

}  // namespace

std::optional<Array> take_at_once(const Array& a, const Array& index) {
  const std::optional<Rows> rows = rows_of(a);
  if (!rows || !may_work_at_once() || !readable_now(a) || a.base->device != index.base->device)
    return {};
  const int64_t* at = known(index, *rows);
  if (!at) return {};
  int64_t shape[kMaxDims];
  const int many = index.ndim(), n = many + a.ndim() - 1;
  if (n > kMaxDims) return {};
  std::copy_n(index.layout->shape(), many, shape);
  std::copy_n(a.layout->shape() + 1, a.ndim() - 1, shape + many);
  Array made = empty({shape, static_cast<size_t>(n)}, a.dtype, a.base->device);
  a.base->ensure_data();
  made.base->ensure_data();
  const char* from = a.base->data + a.offset;
  char* to = made.base->data;
  const int64_t count = index.size();
  auto copy = [&](auto size) {
    for (int64_t k = 0; k < count; ++k)
      std::memcpy(to + k * size, from + row_at(at[k], rows->extent) * rows->stride, size);
  };
  if (rows->bytes == 8)
    copy(std::integral_constant<int64_t, 8>());
  else
    copy(rows->bytes);
  if (a.dtype == DType::Bool) interp::normalise(to, to, count * rows->elements);
  made.base->changed();
  ++Runtime::get().stats.at_once;
  return made;
}

}  // namespace numbus
