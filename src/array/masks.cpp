// Boolean masks as predicates: a[mask] is a compress view until something needs its elements side
// by side.
#include <cstring>

#include "array/array.h"
#include "base/error.h"

namespace numbus {

Mask::~Mask() {
  if (watched && array.base.get() && array.base->mask == this) array.base->mask = nullptr;
}

std::shared_ptr<Mask> mask_of(const Array& m) {
  Base* b = m.base.get();
  // Shared storage can change unseen: such a mask is copied at once. Otherwise one snapshot serves
  // until a write.
  static std::weak_ptr<Mask> latest;
  if (auto held = latest.lock()) {
    if (held.get() == b->mask && held->version == b->version &&
        held->array.layout.get() == m.layout.get() && held->array.offset == m.offset &&
        b->shared == 0)
      return held;
  }
  auto s = std::make_shared<Mask>();
  s->version = b->version;
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

void settle(Array& a) {
  if (!a.mask) return;
  auto mask = a.mask;
  if (a.base->device->kind() != DeviceKind::Cpu) {
    Array full = a;
    full.mask = nullptr;
    a = settle_on_device(full, *mask);
    return;
  }
  Array full = a;
  full.mask = nullptr;
  data_of(full, "elements of a masked array");  // one flush for both
  auto values_host = host_view(full, "elements of a masked array"),
       where_host = host_view(mask->array, "elements of a masked array");
  const char *values = values_host.get(), *where = where_host.get();
  const Layout &lv = *full.layout, &lm = *mask->array.layout;
  int n = lv.ndim(), size = itemsize(a.dtype);
  // One pass counts, one copies, both in C order.
  std::vector<int64_t> index(n, 0);
  auto walk = [&](auto&& f) {
    std::fill(index.begin(), index.end(), 0);
    for (int64_t k = 0; k < lv.size(); ++k) {
      int64_t ov = 0, om = 0;
      for (int d = 0; d < n; ++d) {
        ov += index[d] * lv.stride(d);
        om += index[d] * lm.stride(d);
      }
      if (where[om]) f(values + ov);
      for (int d = n - 1; d >= 0; --d) {
        if (++index[d] < lv.shape(d)) break;
        index[d] = 0;
      }
    }
  };
  int64_t count = mask->count;
  if (count < 0) {
    count = 0;
    walk([&](const char*) { ++count; });
    mask->count = count;
  }
  Array dense = empty({&count, 1}, a.dtype, &cpu_device());
  dense.base->ensure_data();
  char* to = dense.base->data;
  walk([&](const char* from) {
    std::memcpy(to, from, size);
    to += size;
  });
  a = to_device(dense, *full.base->device);
}

}  // namespace numbus
