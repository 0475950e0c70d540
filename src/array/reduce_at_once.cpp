// Small reductions with nothing pending: carried out at once, in the order of the recorded ones.
#include "array/at_once_blocks.h"
#include "array/at_once_calls.h"
#include "lazy/reduce.h"
#include "lazy/single.h"

namespace numbus {

bool reduce_at_once(const Instr& i, const Array& a, const ViewRef* where, const Array& out) {
  const int64_t n = a.layout->size();
  Base &source = *a.base.get(), &target = *out.base.get();
  if (!small::may_run(n, *target.device) || target.mask) return false;
  Device* device = target.device;  // a flush may move the target elsewhere
  const bool resting = small::rests(*device, [&] {
    return small::at_rest(target, device) && small::readable(source, device) &&
           (!where || (where->base != &target && small::readable(*where->base, device)));
  });
  if (!resting) return false;
  if (!small::reduce_now(i, a.view(), where, out.view())) return false;
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

bool dot_at_once(const Array& x, const Array& y, void* result) {
  const int64_t size = itemsize(x.dtype), n = x.layout->shape(0), from_x = x.layout->stride(0),
                from_y = y.layout->stride(0);
  if (n > ir::kUnitPoints || is_complex(x.dtype) || from_x % size != 0 || from_y % size != 0 ||
      !may_work_at_once() || x.base->device != y.base->device)
    return false;
  // Where parts of an array that was written to are summed, the program needs the number to go on:
  // what is pending would be carried out after the next few operations on numbers anyway.
  for (const Array* a : {&x, &y}) {
    if (readable_now(*a)) continue;
    if (a->owns || !a->base->device->host_readable() || a->base->failure) return false;
    Recorder::of(*a->base->device).flush("a part of an array is summed");
    if (!readable_now(*a)) return false;
  }
  x.base->ensure_data();
  y.base->ensure_data();
  const Factors factors{x.base->data + x.offset, y.base->data + y.offset, from_x / size,
                        from_y / size, n};
  reduce_set().sum_of_products(x.dtype, factors, static_cast<char*>(result));
  ++Runtime::get().stats.at_once;
  return true;
}

}  // namespace numbus
