// Only bytes and order matter to elementwise work on arrays that lie in one piece.
#include "array/domains.h"

namespace numbus {
namespace {

bool is_elementwise(const Instr& i) {
  return i.code == Instr::Map && i.op != Op::index && !i.predicated && !i.gathers() &&
         !i.scatters();
}

// The layout over the axes of which `ones` has no bit.
const Layout* over_others(const Layout& l, uint64_t ones) {
  int64_t shape[kMaxDims], strides[kMaxDims];
  size_t n = 0;
  for (int d = 0; d < l.ndim(); ++d) {
    if (ones >> d & 1) continue;
    shape[n] = l.shape(d);
    strides[n++] = l.stride(d);
  }
  return Layout::get({shape, n}, {strides, n}, l.itemsize());
}

}  // namespace

void leave_out_ones(const Instr& i, ViewRef& out, Window::Input* in, ViewRef* views, int count) {
  const uint64_t among_16 = out.layout->kind().words[1] & 0xffff;
  if (among_16 == 0 || !is_elementwise(i)) return;
  for (int n = 0; n < count; ++n)
    if (in[n].view && !in[n].view->layout->same_shape(*out.layout)) return;
  uint64_t ones = 0;
  for (int d = 0; d < out.layout->ndim(); ++d)
    if (out.layout->shape(d) == 1) ones |= uint64_t{1} << d;
  out.layout = over_others(*out.layout, ones);
  for (int n = 0; n < count; ++n) {
    if (!in[n].view) continue;
    views[n] = *in[n].view;
    views[n].layout = over_others(*views[n].layout, ones);
    in[n].view = &views[n];
  }
}

const Layout* producers_layout(const Window& w, const Instr& i, const ViewRef& out,
                               const Window::Input* in, int count) {
  if (!is_elementwise(i) || !out.layout->c_contiguous()) return nullptr;
  const Layout* found = nullptr;
  for (int n = 0; n < count; ++n) {
    if (!in[n].view) continue;
    const ViewRef& v = *in[n].view;
    if (!v.layout->c_contiguous() || v.layout->size() != out.layout->size()) return nullptr;
    const int slot = found ? -1 : w.slot_of(*v.base);
    if (slot < 0 || !w.slots_[slot].written()) continue;
    const Instr& made = w.instrs_[w.slots_[slot].writer];
    if (!is_elementwise(made) || made.out.slot != slot || made.out.offset != v.offset ||
        !made.out.layout->c_contiguous() || made.out.layout->size() != out.layout->size() ||
        made.out.layout->same_shape(*out.layout))
      continue;
    for (int k = 0; k < made.nin; ++k)
      if (made.in[k].slot >= 0 && !made.in[k].layout->c_contiguous()) found = made.out.layout;
  }
  return found;
}

}  // namespace numbus
