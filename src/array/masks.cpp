// Boolean masks as predicates: a[mask] is a masked value until something needs its elements side by
// side.
#include "array/array.h"
#include "array/capture.h"
#include "array/placement.h"
#include "base/error.h"
#include "lazy/spill.h"
#include "routines/compact.h"

namespace numbus {

Mask::~Mask() {
  if (watched && array.base.get() && array.base->mask == this) array.base->mask = nullptr;
}

namespace {

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
  if (b->outside() || b->mask) {
    s->array = copy(m, DType::Bool, true);
    s->watched = false;
  } else {
    s->array = m;
    b->mask = s.get();
  }
  latest = s;
  return s;
}

}  // namespace

void keep_mask(Base& b) {
  Mask* m = b.mask;
  const Array now = m->array;
  Array kept = copy(now, DType::Bool, true);
  if (b.mask != m) return;  // another thread of Python has kept it meanwhile, or let it go
  b.mask = nullptr;
  m->watched = false;
  m->array = std::move(kept);
}

Masked compress(const Array& a, const Array& m) {
  // A value, not a view: later writes to `a` must not show, so its elements are copied (which
  // fusion makes free).
  auto mask = mask_of(m);
  Array out = empty(a.shape(), a.dtype, a.base->device);
  Arg from(&a);
  assign(out, from, &mask->array);
  return {std::move(out), std::move(mask)};
}

bool assign_where(const Array& to, const Array& mask, const Arg& from) {
  if (from.mask()) {
    const std::shared_ptr<Mask> same = mask_of(mask);
    if (from.mask() == same.get()) {
      const Array values = *from.full(), where = same->array;
      assign(to, Arg(&values), &where);
      return true;
    }
  }
  const Array* values = from.array();
  if (!values || values->ndim() == 0) {
    assign(to, from, &mask);
    return true;
  }
  if (values->size() != 1) return false;
  const Array one = reshape(*values, {});
  assign(to, Arg(&one), &mask);
  return true;
}

namespace {

Array in_order(const Array& x) { return x.layout->c_contiguous() ? x : copy(x, x.dtype, true); }

// One routine writes the elements, or, without any, the indices, and how many there are, which
// later masks alike need not read (count: below zero where it is not known).
Array on_device(const Array* full, const Array& lets, int64_t& number) {
  const int64_t n = lets.size(), one = 1;
  const DType t = full ? full->dtype : DType::I64;
  Device& device = *lets.base->device;
  if (n == 0) number = 0;
  if (number == 0) return empty({&number, 1}, t, &device);
  const Array where = in_order(lets);
  Array out = empty({&n, 1}, t, &device), count = empty({&one, 1}, DType::I64, &device);
  Instr i;
  i.routine = full ? Routine::compact : Routine::flatnonzero;
  i.loop = t;
  if (load_device_kernels) load_device_kernels(device, i.routine, t);
  if (full) {
    const Array values = in_order(*full);
    record_call(i, {{&values, &where}}, {{&out, &count}});
  } else {
    record_call(i, {{&where}}, {{&out, &count}});
  }
  if (number < 0) number = read_element(count, 0).i;
  Array dense = view_of(out, Layout::contiguous({&number, 1}, itemsize(t)), 0);
  dense.owns = true;
  return dense;
}

Array on_host(const Array* full, const Array& lets, int64_t& number) {
  constexpr const char* kWhat = "elements where a mask holds";
  const Array where = in_order(lets), values = full ? in_order(*full) : where;
  const InPlace both;
  const char* from = data_of(values, kWhat);  // one flush for both
  const auto* mask = reinterpret_cast<const bool*>(data_of(where, kWhat));
  const int64_t n = where.size();
  if (number < 0) number = routines::count_true(mask, n);
  const DType t = full ? full->dtype : DType::I64;
  Array dense = empty({&number, 1}, t, &cpu_device());
  dense.base->ensure_data();
  if (full)
    routines::compact(itemsize(t), from, mask, n, dense.base->data);
  else
    routines::flatnonzero(mask, n, reinterpret_cast<int64_t*>(dense.base->data));
  return dense;
}

Array selected(const Array* full, const Array& lets, int64_t& number) {
  Capture::spoil();
  if (observer() && full) [[unlikely]] {
    Observer* const told = observer();
    Array dense;
    {
      const Unobserved inner;
      dense = selected(full, lets, number);
    }
    told->selected(*full, lets, dense);
    return dense;
  }
  // A flush may move what it computes: all of them come before the device is looked at.
  if (placement::on)
    for (const Array* a : {full, &lets})
      if (a && a->base->pending()) settle_base(*a->base.get(), "elements where a mask holds");
  Device& device = placement::home(full ? *full : lets, 1);
  const placement::Work work(&device);
  const Array where = to_device(lets, device);
  if (!device.runs_on_host()) return on_device(full, where, number);
  const DeviceWork reading(device);
  return to_device(on_host(full, where, number), device);
}

}  // namespace

Array flatnonzero(const Array& lets) {
  int64_t number = -1;
  return selected(nullptr, lets, number);
}

void Masked::settle() {
  const std::shared_ptr<Mask> m = mask;
  const Array all = full;
  Array dense = selected(&all, m->array, m->count);
  // Another thread of Python may have settled it while this one waited, and written to it since.
  if (!mask) return;
  full = std::move(dense);
  mask = nullptr;
}

}  // namespace numbus
