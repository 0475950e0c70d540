// Recording.
#include "lazy/window.h"

#include <cstring>

#include "base/error.h"

namespace numbus {

Base* Base::create(Device& device, int64_t nbytes) {
  auto* b = new Base;
  b->device = &device;
  b->nbytes = nbytes;
  return b;
}

void Base::ensure_data() {
  if (!data) data = static_cast<char*>(device->allocate(static_cast<size_t>(nbytes)));
}

void Base::destroy() {
  if (release)
    release(owner);
  else if (data && owned)
    device->free(data, static_cast<size_t>(nbytes));
  delete this;
}

Operand Window::operand(const ViewRef& v, bool write) {
  Base* b = v.base;
  if (b->slot < 0) {
    b->slot = static_cast<int32_t>(slots_.size());
    b->ref();
    slots_.push_back({b, v.offset, v.layout, v.dtype});
  }
  Slot& s = slots_[b->slot];
  if (s.first_offset != v.offset || s.first_layout != v.layout || s.first_dtype != v.dtype)
    s.mixed = true;
  if (write) {
    s.written = true;
    ++b->version;
  }
  layouts_.emplace_back(v.layout);
  key_.push_back(static_cast<uint64_t>(b->slot) << 8 | static_cast<uint64_t>(v.dtype));
  key_.push_back(reinterpret_cast<uint64_t>(v.layout));
  key_.push_back(static_cast<uint64_t>(v.offset - s.first_offset));
  return {b->slot, -1, v.dtype, v.layout, v.offset};
}

void Window::record(Instr& i, const ViewRef& out, const Input* in, int count) {
  key_.push_back(static_cast<uint64_t>(i.code) | static_cast<uint64_t>(i.op) << 8 |
                 static_cast<uint64_t>(i.reduction) << 24 | static_cast<uint64_t>(i.nin) << 32 |
                 static_cast<uint64_t>(i.predicated) << 36 | static_cast<uint64_t>(i.loop) << 40);
  if (i.code == Instr::Reduce) {
    key_.push_back(i.axes);
    uint64_t bits;
    std::memcpy(&bits, &i.param, 8);
    key_.push_back(bits);
  }
  for (int n = 0; n < count; ++n) {
    if (in[n].view) {
      i.in[n] = operand(*in[n].view, false);
    } else {
      i.in[n] = {-1, static_cast<int32_t>(scalars_.size()), in[n].dtype, nullptr, 0};
      scalars_.push_back(in[n].scalar);
      key_.push_back(~static_cast<uint64_t>(in[n].dtype));
    }
  }
  i.out = operand(out, true);
  instrs_.push_back(i);
}

void Window::clear() {
  // Giving foreign memory back may run Python, which may record: into a window that is whole again.
  std::vector<Slot> slots = std::move(slots_);
  std::vector<LayoutRef> layouts = std::move(layouts_);
  slots_.clear();
  layouts_.clear();
  instrs_.clear();
  scalars_.clear();
  key_.clear();
  for (Slot& s : slots) s.base->slot = -1;
  for (Slot& s : slots) s.base->unref();
  // Keep the capacity, unless somebody recorded meanwhile.
  slots.clear();
  layouts.clear();
  if (slots_.empty() && layouts_.empty()) {
    slots_ = std::move(slots);
    layouts_ = std::move(layouts);
  }
}

}  // namespace numbus
