// Small cumulative operations with nothing pending: carried out at once, from each element to the
// next.
#include <cstring>

#include "array/at_once_blocks.h"
#include "interp/blocks.h"

namespace numbus {

bool scan_at_once(const Instr& i, const Array& x, const Array& result) {
  const Layout& l = *result.layout;  // (outer, axis, inner)
  const int64_t n = l.size(), lines = l.shape(0), extent = l.shape(1), inner = l.shape(2);
  Base &source = *x.base.get(), &target = *result.base.get();
  if (!small::may_run(n, *target.device) || target.mask || is_complex(i.loop) ||
      static_cast<int>(i.op) >= kNumRows || result.dtype != i.loop || &source == &target)
    return false;
  const interp::Loop step = interp::loops().row(i.op, i.loop);
  const interp::Loop load = x.dtype == i.loop ? nullptr : small::conversion(x.dtype, i.loop);
  if (!step || (x.dtype != i.loop && !load)) return false;
  Device* device = target.device;  // a flush may move the target elsewhere
  const bool resting = small::rests(
      *device, [&] { return small::at_rest(target, device) && small::readable(source, device); });
  if (!resting) return false;

  source.ensure_data();
  target.ensure_data();
  const char* from = source.data + x.offset;
  small::Block given, wide, made;
  if (!x.layout->c_contiguous()) {
    small::gather(itemsize(x.dtype), *x.layout, from, given.bytes);
    from = given.bytes;
  }
  if (x.dtype == DType::Bool) {
    interp::normalise(from, given.bytes, n);
    from = given.bytes;
  }
  if (load) {
    small::convert(load, i.loop, wide.bytes, from, n);
    from = wide.bytes;
  }
  const bool direct = l.c_contiguous();
  char *to = target.data + result.offset, *at = direct ? to : made.bytes;
  char* const begin = at;
  const int64_t bytes = inner * itemsize(i.loop);
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t k = 0; k < extent; ++k, at += bytes, from += bytes) {
      if (k == 0)
        std::memcpy(at, from, static_cast<size_t>(bytes));
      else
        step(at, at - bytes, from, nullptr, inner);
    }
  if (!direct) small::scatter(itemsize(i.loop), l, to, begin);
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

}  // namespace numbus
