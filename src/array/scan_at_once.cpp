// Small cumulative operations and folds of segments with nothing pending: carried out at once, from
// each element to the next.
#include <cstring>

#include "array/at_once_blocks.h"
#include "interp/blocks.h"
#include "ops/reductions.h"

namespace numbus {
namespace {

// The operation's loop, and one operand in its type, as (outer, axis, inner).
class Folded {
 public:
  // False: it has to be recorded.
  bool find(const Instr& i, const Array& x, const Array& result) {
    Base &source = *x.base.get(), &target = *result.base.get();
    if (!small::may_run(std::max(x.size(), result.size()), *target.device) || target.mask ||
        is_complex(i.loop) || static_cast<int>(i.op) >= kNumRows || result.dtype != i.loop ||
        &source == &target)
      return false;
    step = interp::loops().row(i.op, i.loop);
    const interp::Loop load = x.dtype == i.loop ? nullptr : small::conversion(x.dtype, i.loop);
    if (!step || (x.dtype != i.loop && !load)) return false;
    Device* device = target.device;  // a flush may move the target elsewhere
    const bool resting = small::rests(
        *device, [&] { return small::at_rest(target, device) && small::readable(source, device); });
    if (!resting) return false;

    source.ensure_data();
    target.ensure_data();
    const int64_t n = x.size();
    from = source.data + x.offset;
    if (!x.layout->c_contiguous()) {
      small::gather(itemsize(x.dtype), *x.layout, from, given_.bytes);
      from = given_.bytes;
    }
    if (x.dtype == DType::Bool) {
      interp::normalise(from, given_.bytes, n);
      from = given_.bytes;
    }
    if (load) {
      small::convert(load, i.loop, wide_.bytes, from, n);
      from = wide_.bytes;
    }
    direct_ = result.layout->c_contiguous();
    to = begin_ = direct_ ? target.data + result.offset : made_.bytes;
    return true;
  }
  void finish(const Array& result) {
    Base& target = *result.base.get();
    if (!direct_)
      small::scatter(itemsize(result.dtype), *result.layout, target.data + result.offset, begin_);
    target.changed();
    ++Runtime::get().stats.at_once;
  }

  interp::Loop step = nullptr;
  const char* from = nullptr;
  char* to = nullptr;  // dense

 private:
  bool direct_ = false;
  char* begin_ = nullptr;
  small::Block given_, wide_, made_;
};

}  // namespace

bool scan_at_once(const Instr& i, const Array& x, const Array& result) {
  Folded f;
  if (!f.find(i, x, result)) return false;
  const Layout& l = *result.layout;
  const int64_t lines = l.shape(0), extent = l.shape(1), inner = l.shape(2);
  const int64_t bytes = inner * itemsize(i.loop);
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t k = 0; k < extent; ++k, f.to += bytes, f.from += bytes) {
      if (k == 0)
        std::memcpy(f.to, f.from, static_cast<size_t>(bytes));
      else
        f.step(f.to, f.to - bytes, f.from, nullptr, inner);
    }
  f.finish(result);
  return true;
}

bool segments_at_once(const Instr& i, const Array& x, std::span<const int64_t> bounds,
                      const Array& result) {
  const auto count = static_cast<size_t>(result.layout->shape(1));
  const auto begins = bounds.first(count), ends = bounds.subspan(count);
  // Longer ones are reduced in lanes.
  if (reduction_by(i.op))
    for (size_t s = 0; s < count; ++s)
      if (ends[s] - begins[s] > ir::kShortRow) return false;
  Folded f;
  if (!f.find(i, x, result)) return false;
  const Layout& l = *x.layout;
  const int64_t lines = l.shape(0), inner = l.shape(2);
  const int64_t bytes = inner * itemsize(i.loop);
  for (int64_t line = 0; line < lines; ++line, f.from += l.shape(1) * bytes)
    for (size_t s = 0; s < count; ++s, f.to += bytes) {
      const char* from = f.from + begins[s] * bytes;
      std::memcpy(f.to, from, static_cast<size_t>(bytes));
      for (int64_t k = begins[s] + 1; k < ends[s]; ++k)
        f.step(f.to, f.to, from += bytes, nullptr, inner);
    }
  f.finish(result);
  return true;
}

}  // namespace numbus
