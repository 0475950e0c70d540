// Only bytes and order matter to elementwise work on arrays that lie in one piece.
#include "array/domains.h"

namespace numbus {
namespace {

bool is_elementwise(const Instr& i) {
  return i.code == Instr::Map && i.op != Op::index && !i.predicated && !i.gathers() &&
         !i.scatters();
}

}  // namespace

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
