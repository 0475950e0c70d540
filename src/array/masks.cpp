// Boolean masks as predicates: a[mask] is a compress view until something needs its elements side
// by side.
#include "array/array.h"
#include "base/error.h"
#include "routines/compact.h"

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
  Array out = empty(a.shape(), a.dtype, a.base->device);
  Arg from(&a);
  assign(out, from, &mask->array);
  out.mask = mask;
  return out;
}

namespace {

Array in_order(const Array& x) { return x.layout->c_contiguous() ? x : copy(x, x.dtype, true); }

// One routine writes the elements, and how many there are, which later masks alike need not read.
Array settle_on_device(const Array& full, Mask& mask) {
  const int64_t n = full.size(), one = 1;
  if (n == 0) mask.count = 0;
  if (mask.count == 0) return empty({&mask.count, 1}, full.dtype, full.base->device);
  const Array values = in_order(full), where = in_order(mask.array);
  Array out = empty({&n, 1}, full.dtype, full.base->device),
        count = empty({&one, 1}, DType::I64, full.base->device);
  load_device_kernels(*full.base->device, Routine::compact, full.dtype);
  Instr i;
  i.routine = Routine::compact;
  i.loop = full.dtype;
  record_call(i, {{&values, &where}}, {{&out, &count}});
  if (mask.count < 0) mask.count = read_element(count, 0).i;
  return view_of(out, Layout::contiguous({&mask.count, 1}, itemsize(full.dtype)), 0);
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
  const Array values = in_order(full), where = in_order(mask->array);
  const char* from = data_of(values, "elements of a masked array");  // one flush for both
  const auto* lets = reinterpret_cast<const bool*>(data_of(where, "elements of a masked array"));
  if (mask->count < 0) mask->count = routines::count_true(lets, values.size());
  Array dense = empty({&mask->count, 1}, a.dtype, &cpu_device());
  dense.base->ensure_data();
  routines::compact(itemsize(a.dtype), from, lets, values.size(), dense.base->data);
  a = std::move(dense);
}

}  // namespace numbus
