// Adjoints of bases.
#include "program/adjoints.h"

#include "base/error.h"

namespace numbus::program {

Arg zero() {
  Arg a;
  a.weak = true;
  a.scalar = Scalar::from_int(0);
  return a;
}

Array part_of(const Array& memory, const Region& r) {
  Array a = view_of(memory, r.layout.get(), r.offset);
  a.dtype = r.dtype;
  return a;
}

namespace {

Array fresh_memory(const Region& r, Device* device) {
  const DType t = real_of(r.dtype);
  const int64_t n = r.nbytes / itemsize(t);
  return empty({&n, 1}, t, device);
}

// In the type of the region.
Array in_type(const Array& x, DType t) {
  if (x.dtype == t) return x;
  const Array real = is_complex(x.dtype) && !is_complex(t) ? part(x, false) : x;
  return real.dtype == t ? real : copy(real, t);
}

// The last axes first: few sums of parts that lie apart in memory, as of a bias of channels, would
// keep few processors busy.
Array sum(const Array& x, uint64_t axes) {
  constexpr int64_t kMany = 65'536;
  uint64_t last = 0;
  for (int d = x.ndim() - 1; d >= 0 && axes >> d & 1; --d) last |= uint64_t{1} << d;
  auto over = [&](const Array& a, uint64_t which) {
    return reduce(Reduction::Sum, a, which, false, x.dtype, nullptr, 0);
  };
  if (last == 0 || last == axes || x.size() < kMany) return over(x, axes);
  return over(over(x, last), axes & ~last);
}

// Without the axes along which the region shows one element, over which contributions are summed.
std::pair<Region, Array> without_repeats(const Region& r, const Array& x) {
  const Layout& l = *r.layout;
  uint64_t axes = 0;
  std::vector<int64_t> shape, strides;
  for (int d = 0; d < l.ndim(); ++d) {
    if (l.stride(d) == 0 && l.shape(d) > 1) {
      axes |= uint64_t{1} << d;
    } else {
      shape.push_back(l.shape(d));
      strides.push_back(l.stride(d));
    }
  }
  if (axes == 0) return {r, x};
  Region less = r;
  less.layout = LayoutRef(Layout::get(shape, strides, l.itemsize()));
  return {less, sum(x, axes)};
}

// The number of each element of a region in its base's memory, counted in elements.
Array numbers_of(const Region& r, Device& device) {
  const Layout& l = *r.layout;
  const int64_t size = l.itemsize();
  std::vector<int64_t> strides;
  for (int d = 0; d < l.ndim(); ++d) strides.push_back(l.stride(d) / size * 8);
  const Array all = arange(0, 1, 0, 1, r.nbytes / size, DType::I64, &device);
  const LayoutRef spread(
      Layout::get({l.shape(), static_cast<size_t>(l.ndim())}, strides, sizeof(int64_t)));
  return copy(view_of(all, spread.get(), r.offset / size * 8), DType::I64, true);
}

Array added(const Array& x, const Array& y) {
  const Arg both[2] = {Arg(&x), Arg(&y)};
  return apply(Op::add, both);
}

// A contribution to all of a base that lies as the base does: as the base's memory.
std::optional<Array> as_memory(const Array& value, const Region& r) {
  const Layout &l = *value.layout, &of_base = *r.layout;
  if (!r.whole() || r.offset != 0 || value.offset != 0 || value.dtype != r.dtype ||
      value.base->nbytes != r.nbytes || l.ndim() != of_base.ndim())
    return {};
  for (int d = 0; d < l.ndim(); ++d)
    if (l.shape(d) > 1 && l.stride(d) != of_base.stride(d)) return {};
  const DType t = real_of(r.dtype);
  const int64_t n = r.nbytes / itemsize(t);
  Array line = view_of(value, Layout::contiguous({&n, 1}, itemsize(t)), 0);
  line.dtype = t;
  return line;
}

}  // namespace

Array& Adjoints::settle(const Region& r, Adjoint& a) {
  if (a.memory) return *a.memory;
  Device* device = a.value ? a.value->base->device : r.device;
  Array memory = fresh_memory(r, device);
  if (!a.value || !a.region.whole()) assign(memory, zero());
  if (a.value) assign(part_of(memory, a.region), Arg(&*a.value));
  a.value.reset();
  return a.memory.emplace(std::move(memory));
}

Adjoints::Adjoint& Adjoints::of_base(uint64_t base, bool* first) {
  const auto [found, made] = all_.try_emplace(base);
  if (made) found->second.number = made_++;
  if (first) *first = made;
  return found->second;
}

Array Adjoints::memory(const Region& r) { return part_of(settle(r, of_base(r.base)), r); }

std::optional<Array> Adjoints::of(const Region& r, bool last) {
  const auto found = all_.find(r.base);
  if (found == all_.end()) return {};
  Adjoint& a = found->second;
  if (a.value && a.region.same(r)) return a.value;
  if (a.value)
    if (const std::optional<Array> memory = as_memory(*a.value, a.region))
      return part_of(*memory, r);
  const Array part = part_of(settle(r, a), r);
  return last ? part : copy(part, part.dtype);
}

std::optional<Array> Adjoints::take(const Region& r) {
  std::optional<Array> found = of(r);
  if (!found) return {};
  const auto entry = all_.find(r.base);
  const Base& base = *found->base.get();
  // This and `found` are all that reaches it.
  const bool alone = entry->second.value && base.handles == 2 && base.owned && !base.outside() &&
                     base.device == r.device && base.nbytes == r.nbytes && found->offset == 0 &&
                     found->dtype == r.dtype && found->layout.get() == r.layout.get() &&
                     r.layout->c_contiguous();
  if (!alone) return {};
  all_.erase(entry);
  return found;
}

void Adjoints::add(const Region& region, const Array& contribution) {
  if (is_heard(region)) listener->add(*this, region, contribution);
  if (region.layout->size() == 0) {  // the base is depended on all the same: by zero
    Adjoint& a = of_base(region.base);
    if (!a.value) settle(region, a);
    return;
  }
  const auto [r, x] = without_repeats(region, in_type(contribution, region.dtype));
  if (!r.layout->injective()) {
    const Array memory = settle(r, of_base(r.base));
    const int64_t n = r.nbytes / itemsize(r.dtype);
    const LayoutRef line(Layout::contiguous({&n, 1}, itemsize(r.dtype)));
    Region whole = r;
    whole.layout = line;
    whole.offset = 0;
    const Array numbers = numbers_of(r, *memory.base->device);
    const Arg value(&x);
    update(Op::add, part_of(memory, whole), 1, {&numbers, 1}, 0, &value);
    return;
  }
  bool first = false;
  Adjoint& a = of_base(r.base, &first);
  if (first) {
    a.region = r;
    a.value = x;
  } else if (a.value && a.region.same(r)) {
    a.value = added(*a.value, x);
  } else {
    const Array part = part_of(settle(r, a), r);
    const Arg both[2] = {Arg(&part), Arg(&x)};
    Options o;
    o.out = &part;
    apply(Op::add, both, o);
  }
}

void Adjoints::set(const Region& r, const Array& value, const Array* where) {
  const auto found = all_.find(r.base);
  if (found == all_.end() || r.layout->size() == 0) return;
  Adjoint& a = found->second;
  const Array x = in_type(value, r.dtype);
  if (a.value && a.region.same(r) && !where) {
    a.value = x;
    return;
  }
  assign(part_of(settle(r, a), r), Arg(&x), where);
}

void Adjoints::clear(const Region& r, const Array* where) {
  const auto found = all_.find(r.base);
  if (found == all_.end() || r.layout->size() == 0) return;
  Adjoint& a = found->second;
  if (!where && (r.whole() || (a.value && a.region.same(r)))) {
    all_.erase(found);
    return;
  }
  assign(part_of(settle(r, a), r), zero(), where);
}

}  // namespace numbus::program
