// Boolean masks as predicates: a[mask] is a compress view until something needs its elements side
// by side.
#include <algorithm>
#include <cstring>

#include "array/array.h"
#include "base/error.h"
#include "device/cpu/thread_pool.h"

namespace numbus {

Mask::~Mask() {
  if (watched && array.base.get() && array.base->mask == this) array.base->mask = nullptr;
}

std::shared_ptr<Mask> mask_of(const Array& m) {
  Base* b = m.base.get();
  // Shared storage can change unseen: such a mask is copied at once. Otherwise one snapshot serves
  // until a write.
  static thread_local std::weak_ptr<Mask> latest;
  // Also where it is written down twice, as in `q[q > 0] = f(q[q > 0])`.
  uint64_t value = value_of(m.view());
  if (auto held = latest.lock())
    if (held->value == value && held->array.base->device == b->device) return held;
  auto s = std::make_shared<Mask>();
  s->value = value;
  if (b->shared > 0 || b->mask) {
    s->array = copy(m, DType::Bool, true);
    s->watched = false;
  } else {
    s->array = m;
    b->mask = s.get();
  }
  latest = s;
  return s;
}

void before_write(const Array& a) {
  Mask* m = a.base->mask;
  a.base->mask = nullptr;
  m->watched = false;
  m->array = copy(m->array, DType::Bool, true);
}

Array compress(const Array& a, const Array& m) {
  // A value, not a view: later writes to `a` must not show, so its elements are copied (which
  // fusion makes free).
  auto mask = mask_of(m);
  Array source = a;
  Array out = empty(a.shape(), a.dtype, a.base->device);
  Arg from(&source);
  assign(out, from, &mask->array);
  out.mask = mask;
  return out;
}

// Each true element's place is the number of those before it: a sum along the mask, then a scatter.
static Array settle_on_device(const Array& full, Mask& mask) {
  if (!mask.places.base.get() && full.size() > 0) {
    Array flat = reshape(mask.array, {full.size()});
    Array sums = accumulate(Op::add, flat, 0, DType::I64, nullptr);
    mask.count = read_element(sums, (full.size() - 1) * itemsize(DType::I64)).i;
    Arg one;
    one.weak = true;
    one.scalar = Scalar::from_int(1);
    Arg minus[2] = {Arg(&sums), one};
    std::vector<int64_t> shape(full.shape().begin(), full.shape().end());
    mask.places = reshape(apply(Op::subtract, minus), shape);
  }
  int64_t count = std::max<int64_t>(mask.count, 0);
  Array out = empty({&count, 1}, full.dtype, full.base->device);
  if (count > 0) {
    Arg from(&full);
    Scatter how;
    how.where = &mask.array;
    how.distinct = true;
    scatter(out, 1, {&mask.places, 1}, 0, from, how);
  }
  return out;
}

namespace {

constexpr int64_t kUnit = 1 << 16;  // elements that one thread takes at a time

// The elements that a run of a mask lets through, side by side from `to` to `end`. All or none of
// eight are common; for the others, where there is room, each is written and may be overwritten.
template <size_t size>
void pick(const char* from, const char* where, int64_t n, char* to, const char* end) {
  int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    uint64_t eight;
    std::memcpy(&eight, where + k, 8);
    if (eight == 0) continue;
    if (eight == 0x0101010101010101u) {
      std::memcpy(to, from + k * size, 8 * size);
      to += 8 * size;
      continue;
    }
    bool room = to + 8 * size <= end;
    for (int64_t b = k; room && b < k + 8; ++b) {
      std::memcpy(to, from + b * size, size);
      to += where[b] ? size : 0;
    }
    for (int64_t b = k; !room && b < k + 8; ++b) {
      if (!where[b]) continue;
      std::memcpy(to, from + b * size, size);
      to += size;
    }
  }
  for (; k < n; ++k) {
    if (!where[k]) continue;
    std::memcpy(to, from + k * size, size);
    to += size;
  }
}

}  // namespace

void settle(Array& a) {
  if (!a.mask) return;
  auto mask = a.mask;
  Array full = a;
  full.mask = nullptr;
  if (!a.base->device->host_readable()) {
    a = settle_on_device(full, *mask);
    return;
  }
  auto in_order = [](const Array& x) {
    return x.layout->c_contiguous() ? x : copy(x, x.dtype, true);
  };
  Array values = in_order(full), places = in_order(mask->array);
  const char* from = data_of(values, "elements of a masked array");  // one flush for both
  const char* where = data_of(places, "elements of a masked array");
  int64_t n = values.size(), units = (n + kUnit - 1) / kUnit;
  std::vector<int64_t> before(units + 1, 0);  // true elements in front of each unit
  parallel_for_each(units, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t u = begin; u < end; ++u) {
      int64_t count = 0;
      for (int64_t k = u * kUnit; k < std::min(n, (u + 1) * kUnit); ++k) count += where[k] != 0;
      before[u + 1] = count;
    }
  });
  for (int64_t u = 0; u < units; ++u) before[u + 1] += before[u];
  mask->count = before[units];
  Array dense = empty({&mask->count, 1}, a.dtype, &cpu_device());
  dense.base->ensure_data();
  int64_t size = itemsize(a.dtype);
  auto* picks = size == 1   ? pick<1>
                : size == 2 ? pick<2>
                : size == 4 ? pick<4>
                : size == 8 ? pick<8>
                            : pick<16>;
  parallel_for_each(units, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t u = begin; u < end; ++u)
      picks(from + u * kUnit * size, where + u * kUnit, std::min(kUnit, n - u * kUnit),
            dense.base->data + before[u] * size, dense.base->data + before[u + 1] * size);
  });
  a = std::move(dense);
}

}  // namespace numbus
