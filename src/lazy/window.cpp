// Recording.
#include "lazy/window.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "lazy/positions.h"

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

int Window::add_slot(const ViewRef& v) {
  Base* b = v.base;
  auto slot = static_cast<int32_t>(slots_.size());
  if (!b->window) {
    b->window = this;
    b->slot = slot;
  } else {
    shared_slots_.emplace(b, slot);
    ++b->other_windows;
  }
  b->ref();
  slots_.push_back({b, v.offset, v.layout, v.dtype});
  return slot;
}

Operand Window::operand(const ViewRef& v, bool write) {
  Base* b = v.base;
  int slot = slot_of(*b);
  if (slot < 0) slot = add_slot(v);
  Slot& s = slots_[slot];
  if (s.first_offset != v.offset || s.first_layout != v.layout || s.first_dtype != v.dtype)
    s.mixed = true;
  if (write) {
    s.written = true;
    ++b->version;
  }
  layouts_.emplace_back(v.layout);
  key_.push_back(static_cast<uint64_t>(slot) << 8 | static_cast<uint64_t>(v.dtype));
  key_.push_back(reinterpret_cast<uint64_t>(v.layout));
  key_.push_back(static_cast<uint64_t>(v.offset - s.first_offset));
  return {slot, -1, v.dtype, v.layout, v.offset};
}

void append_header(const Instr& i, std::vector<uint64_t>& key) {
  key.push_back(static_cast<uint64_t>(i.code) | static_cast<uint64_t>(i.op) << 8 |
                static_cast<uint64_t>(i.code == Instr::Call ? static_cast<uint8_t>(i.routine)
                                                            : static_cast<uint8_t>(i.reduction))
                    << 24 |
                static_cast<uint64_t>(i.nin) << 32 | static_cast<uint64_t>(i.predicated) << 36 |
                static_cast<uint64_t>(i.loop) << 40);
  if (i.code == Instr::Reduce) {
    key.push_back(i.axes);
    uint64_t bits;
    std::memcpy(&bits, &i.param, 8);
    key.push_back(bits);
  }
  if (i.function) key.push_back(reinterpret_cast<uint64_t>(i.function));
  if (i.gathers() || i.scatters()) key.push_back(i.axes);
  if (i.gathers() || i.scatters()) key.push_back(i.bounds << 8 | i.place);
}

uint64_t liveness(const Slot& s) {
  const Base& b = *s.base;
  return (b.handles > 0) | (b.shared > 0) << 1 | (b.data != nullptr) << 2 | b.owned << 3;
}

void append_lines(const Window& w, std::vector<uint64_t>& key) {
  const auto& instrs = w.instrs_;
  auto again = [&](size_t i, size_t first) {
    key.push_back(static_cast<uint64_t>(i) << 32 | first);
  };
  constexpr size_t kFew = 12;
  if (instrs.size() <= kFew) {
    for (size_t i = 1; i < instrs.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (instrs[j].line == instrs[i].line) {
          again(i, j);
          break;
        }
    return;
  }
  Numbering lines;
  std::vector<size_t> first;
  for (size_t i = 0; i < instrs.size(); ++i) {
    auto line = static_cast<size_t>(lines.add(instrs[i].line));
    if (line == first.size())
      first.push_back(i);
    else
      again(i, first[line]);
  }
}

void Window::complete_key() {
  for (const Slot& s : slots_) {
    key_.push_back(liveness(s));
    key_.push_back(static_cast<uint64_t>(s.first_offset));
    key_.push_back(static_cast<uint64_t>(s.base->nbytes));
  }
  append_lines(*this, key_);
  key_.push_back(static_cast<uint64_t>(repeats_.first) << 40 |
                 static_cast<uint64_t>(repeats_.period) << 20 |
                 static_cast<uint64_t>(repeats_.count));
}

void Window::record(Instr& i, const ViewRef& out, const Input* in, int count) {
  append_header(i, key_);
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
  if (i.scatters() && i.bounds == Instr::Report) slots_[i.out.slot].unsure = true;
  instrs_.push_back(i);
}

// The instruction that alone writes to a base; -1: none does, or several.
int Window::only_writer(int slot) const {
  int found = -1;
  for (size_t at = 0; at < instrs_.size(); ++at) {
    if (instrs_[at].out.slot != slot) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(at);
  }
  return found;
}

// Whether the operand is what the instruction writes, and nothing beside it.
bool Window::writes_all(int at, const Operand& o) const {
  const Operand& out = instrs_[at].out;
  return out.layout == o.layout && out.offset == o.offset && out.dtype == o.dtype;
}

// Whether two instructions compute the same, the inputs of one still unchanged for the other.
bool Window::alike(int at, int other, int depth) const {
  if (at == other) return true;
  const Instr &x = instrs_[at], &y = instrs_[other];
  if (depth == 0 || x.code != Instr::Map || y.code != Instr::Map || x.op != y.op ||
      x.function != y.function || x.param != y.param || x.loop != y.loop || x.nin != y.nin ||
      x.predicated || y.predicated || x.gathers() || x.scatters() || x.out.layout != y.out.layout ||
      x.out.dtype != y.out.dtype)
    return false;
  for (int n = 0; n < x.nin; ++n) {
    const Operand &a = x.in[n], &b = y.in[n];
    if (a.dtype != b.dtype || a.layout != b.layout || (a.slot < 0) != (b.slot < 0)) return false;
    if (a.slot < 0) {
      int64_t p[2] = {0, 0}, q[2] = {0, 0};
      store_scalar(scalars_[a.imm], a.dtype, p);
      store_scalar(scalars_[b.imm], b.dtype, q);
      if (std::memcmp(p, q, sizeof p) != 0) return false;
    } else if (a.slot == b.slot) {
      if (a.offset != b.offset) return false;
      for (int k = std::min(at, other); k < std::max(at, other); ++k)
        if (instrs_[k].out.slot == a.slot) return false;
    } else {
      int p = only_writer(a.slot), q = only_writer(b.slot);
      if (p < 0 || q < 0 || p >= at || q >= other || !writes_all(p, a) || !writes_all(q, b) ||
          !alike(p, q, depth - 1))
        return false;
    }
  }
  return true;
}

bool Window::same_value(const ViewRef& x, const ViewRef& y) const {
  constexpr int kDepth = 8;
  int slot_x = slot_of(*x.base), slot_y = slot_of(*y.base);
  if (slot_x < 0 || slot_y < 0 || x.layout != y.layout) return false;
  int at = only_writer(slot_x), other = only_writer(slot_y);
  auto whole = [&](const ViewRef& v, int k) {
    return writes_all(k, {slot_of(*v.base), -1, v.dtype, v.layout, v.offset});
  };
  return at >= 0 && other >= 0 && whole(x, at) && whole(y, other) && alike(at, other, kDepth);
}

bool Window::same_scalars(int first, int period, int count) const {
  for (int at = first + period; at < first + period * count; ++at) {
    const Instr &now = instrs_[at], &before = instrs_[at - period];
    for (int n = 0; n < now.nin + now.predicated; ++n) {
      if (now.in[n].slot >= 0 || before.in[n].slot >= 0) {
        if (now.in[n].slot < 0 || before.in[n].slot < 0) return false;
        continue;
      }
      if (now.in[n].dtype != before.in[n].dtype) return false;
      int64_t x[2] = {0, 0}, y[2] = {0, 0};
      store_scalar(scalars_[now.in[n].imm], now.in[n].dtype, x);
      store_scalar(scalars_[before.in[n].imm], now.in[n].dtype, y);
      if (std::memcmp(x, y, sizeof x) != 0) return false;
    }
  }
  return true;
}

bool Window::may_fold(int first, int period) const {
  const Layout& domain = *instrs_[first].out.layout;
  if (domain.size() <= 1 || !same_scalars(first, period, 2)) return false;
  for (const Slot& s : slots_)
    if (s.mixed || s.base->shared > 0) return false;
  // What the instructions of the first two turns compute, as far as it can be told apart, and where
  // a result waits to be read.
  std::vector<uint64_t> value(slots_.size()), in_first(period);
  std::vector<int> unread(slots_.size(), -1);
  for (size_t s = 0; s < value.size(); ++s) value[s] = s + 1;
  for (int at = 0; at < 2 * period; ++at) {
    const Instr& i = instrs_[first + at];
    if (i.code != Instr::Map || i.op == Op::index || i.gathers() || i.scatters()) return false;
    if (!i.out.layout->same_shape(domain) || !i.out.layout->injective()) return false;
    uint64_t v = mix(static_cast<uint64_t>(at % period), 1);
    for (int n = 0; n < i.nin + i.predicated; ++n) {
      if (i.in[n].slot < 0) continue;
      v = mix(v, value[i.in[n].slot]);
      unread[i.in[n].slot] = -1;
    }
    // A result that is overwritten unread was asked for all the same: its store needs a kernel.
    if (unread[i.out.slot] >= 0 && !i.predicated) return false;
    unread[i.out.slot] = at;
    // A request that repeats an earlier one is a stopwatch's loop: each is a kernel of its own.
    if (at >= period && in_first[at - period] == v) return false;
    if (at < period) in_first[at] = v;
    value[i.out.slot] = i.predicated ? mix(v, value[i.out.slot]) : v;
  }
  for (int at : unread)
    if (at >= 0 && at < period) return false;
  return true;
}

bool Window::keeps_turns(int first, int period) const {
  std::vector<int> last(slots_.size(), 0);
  for (int at = 0; at < 2 * period; ++at) {
    const Instr& i = instrs_[first + at];
    for (int n = 0; n < i.nin + i.predicated; ++n)
      if (i.in[n].slot >= 0) last[i.in[n].slot] = at;
    last[i.out.slot] = at;
  }
  for (int at = 0; at < period; ++at) {
    int s = instrs_[first + at].out.slot;
    if (last[s] < period && slots_[s].base->handles > 0) return true;
  }
  return false;
}

void Window::detach() {
  for (const Slot& s : slots_) {
    if (s.base->window == this)
      s.base->window = nullptr;
    else
      --s.base->other_windows;
  }
  shared_slots_.clear();
}

void Window::clear() {
  repeats_ = {};
  instrs_.clear();
  scalars_.clear();
  key_.clear();
  layouts_.clear();
  // Giving foreign memory back may run Python, and so whatever else uses this window.
  std::vector<Slot> slots = std::move(slots_);
  slots_.clear();
  for (Slot& s : slots) s.base->unref();
  slots.clear();
  if (slots_.empty()) slots_ = std::move(slots);
}

}  // namespace numbus
