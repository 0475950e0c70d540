// Recording.
#include "lazy/window.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "lazy/late.h"
#include "lazy/live.h"
#include "lazy/positions.h"
#include "lazy/spill.h"

namespace numbus {

uint64_t Base::new_value() {
  static uint64_t last = 0;
  return mix(0x5851F42D4C957F2Dull, ++last);
}

Base::Base() = default;
Base::~Base() = default;

Base* Base::create(Device& device, int64_t nbytes) {
  auto b = std::make_unique<Base>();
  b->device = &device;
  b->nbytes = nbytes;
  if (nbytes >= Live::least) b->live = std::make_unique<Live>(*b);
  return b.release();
}

void Base::ensure_data() {
  if (live) live->touch();
  if (data) return;
  if (away) return spill::bring_back(*this);
  data = static_cast<char*>(device->allocate(static_cast<size_t>(nbytes)));
}

void Base::destroy() {
  if (release)
    release(owner);
  else if (data && owned)
    device->free(data, static_cast<size_t>(nbytes));
  if (away) spill::drop(*this);
  delete this;
}

int Window::add_slot(const ViewRef& v) {
  Base* b = v.base;
  auto slot = static_cast<int32_t>(slots_.size());
  slots_.push_back({b, v.offset, v.layout, v.dtype});
  if (!b->window) {
    b->window = this;
    b->slot = slot;
  } else {
    try {
      shared_slots_.emplace(b, slot);
    } catch (...) {
      slots_.pop_back();
      throw;
    }
    ++b->other_windows;
  }
  b->ref();
  return slot;
}

Operand Window::operand(const ViewRef& v, bool write) {
  Base* b = v.base;
  int slot = slot_of(*b);
  if (slot < 0) slot = add_slot(v);
  Slot& s = slots_[slot];
  if (s.first_offset != v.offset || s.first_layout != v.layout || s.first_dtype != v.dtype)
    s.mixed = true;
  int32_t version = s.writer;
  if (write) s.writer = static_cast<int32_t>(instrs_.size());
  layouts_.emplace_back(v.layout);
  key_.push_back(static_cast<uint64_t>(slot) << 8 | static_cast<uint64_t>(v.dtype));
  key_.push_back(reinterpret_cast<uint64_t>(v.layout));
  key_.push_back(static_cast<uint64_t>(v.offset - s.first_offset));
  return {slot, -1, v.dtype, version, v.layout, v.offset};
}

void append_header(const Instr& i, std::vector<uint64_t>& key) {
  key.push_back(static_cast<uint64_t>(i.code) | static_cast<uint64_t>(i.op) << 8 |
                static_cast<uint64_t>(i.code == Instr::Call ? static_cast<uint8_t>(i.routine)
                                                            : static_cast<uint8_t>(i.reduction))
                    << 24 |
                static_cast<uint64_t>(i.nin) << 32 | static_cast<uint64_t>(i.predicated) << 36 |
                static_cast<uint64_t>(i.loop) << 40 | static_cast<uint64_t>(i.told) << 48);
  if (i.code == Instr::Reduce) {
    key.push_back(i.axes);
    uint64_t bits;
    std::memcpy(&bits, &i.param, 8);
    key.push_back(bits);
  }
  if (i.code == Instr::Call)
    for (int n = 0; n < row(i.routine).attributes; ++n)
      key.push_back(static_cast<uint64_t>(i.attributes[n]));
  if (i.function) key.push_back(i.function->id);
  if (i.gathers() || i.scatters()) key.push_back(i.axes);
  if (i.gathers() || i.scatters())
    key.push_back(static_cast<uint64_t>(i.by) << 16 | static_cast<uint64_t>(i.bounds) << 8 |
                  i.first_axis);
}

uint64_t liveness(const Slot& s) {
  const Base& b = *s.base;
  return (b.handles > 0) | b.outside() << 1 | b.has_elements() << 2 | b.owned << 3;
}

bool has_scalars(const Instr& i) {
  for (int n = 0; n < i.nin + i.predicated; ++n)
    if (i.in[n].slot < 0) return true;
  return false;
}

bool same_request(const Instr& x, const Instr& y) {
  return x.line == y.line && x.value == y.value && !has_scalars(x);
}

void append_requests(const Window& w, std::vector<uint64_t>& key) {
  const auto& instrs = w.instrs_;
  auto again = [&](size_t i, size_t first) {
    key.push_back(static_cast<uint64_t>(i) << 32 | first);
  };
  constexpr size_t kFew = 12;
  if (instrs.size() <= kFew) {
    for (size_t i = 1; i < instrs.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (same_request(instrs[i], instrs[j])) {
          again(i, j);
          break;
        }
    return;
  }
  Numbering requests;
  std::vector<size_t> first;
  for (size_t i = 0; i < instrs.size(); ++i) {
    if (has_scalars(instrs[i])) continue;
    auto request = static_cast<size_t>(requests.add(mix(instrs[i].line, instrs[i].value)));
    if (request == first.size())
      first.push_back(i);
    else
      again(i, first[request]);
  }
}

void Window::complete_key() {
  if (slots_in_key_) {
    for (size_t s = 0; s < slots_.size(); ++s) key_[slots_in_key_ + 3 * s] = liveness(slots_[s]);
    return;
  }
  slots_in_key_ = key_.size();
  for (const Slot& s : slots_) {
    key_.push_back(liveness(s));
    key_.push_back(static_cast<uint64_t>(s.first_offset));
    key_.push_back(static_cast<uint64_t>(s.base->nbytes));
  }
  append_requests(*this, key_);
  // Which plans are made for the device: whose results are looked at, whose products have endings.
  uint64_t device = 0;
  if (!slots_.empty()) {
    const Device& d = *slots_[0].base->device;
    device = uint64_t{d.runs_on_host()} | uint64_t{d.host_readable()} << 1;
  }
  key_.push_back(static_cast<uint64_t>(repeats_.first) << 40 |
                 static_cast<uint64_t>(repeats_.period) << 20 |
                 static_cast<uint64_t>(repeats_.count) | device << 60);
}

void Window::set_bases(std::span<Base* const> bases) {
  for (size_t s = 0; s < slots_.size(); ++s) {
    slots_[s].base = bases[s];
    bases[s]->ref();
    if (slots_[s].written()) bases[s]->changed();
  }
}

void Window::release_bases() {
  for (Slot& s : slots_) std::exchange(s.base, nullptr)->unref();
}

bool overwrites(const Instr& i, const Base& out, const Layout& layout, int64_t offset) {
  return !i.predicated && !i.scatters() && offset == 0 &&
         layout.size() * layout.itemsize() == out.nbytes && layout.injective();
}

uint64_t value_of(const ViewRef& v) {
  if (v.base->outside()) return Base::new_value();
  return mix(mix(v.base->value, v.layout->hash()),
             static_cast<uint64_t>(v.offset) << 8 | static_cast<uint64_t>(v.dtype));
}

// From what an instruction does and the value numbers of what it reads.
void Window::number(Instr& i, const ViewRef& out, const Input* in, int count, size_t header) {
  uint64_t v = hash_words(key_.data() + header, key_.size() - header);
  for (int n = 0; n < count; ++n) {
    if (in[n].view) {
      v = mix(v, value_of(*in[n].view));
      continue;
    }
    uint64_t bits[2] = {0, 0};
    store_scalar(in[n].scalar, in[n].dtype, bits);
    v = mix(mix(mix(v, static_cast<uint64_t>(in[n].dtype)), bits[0]), bits[1]);
  }
  i.value = mix(mix(v, out.layout->hash()), static_cast<uint64_t>(out.dtype));
  out.base->value = overwrites(i, *out.base, *out.layout, out.offset)
                        ? i.value
                        : mix(mix(out.base->value, i.value), static_cast<uint64_t>(out.offset));
}

void Window::undo(size_t keys, size_t scalars, size_t slots) {
  key_.resize(keys);
  scalars_.resize(scalars);
  for (; slots_.size() > slots; slots_.pop_back()) {
    Base* b = slots_.back().base;
    if (b->window == this) {
      b->window = nullptr;
    } else {
      shared_slots_.erase(b);
      --b->other_windows;
    }
    b->unref();
  }
  for (size_t s = 0; s < slots_.size(); ++s)
    if (slots_[s].writer == static_cast<int32_t>(instrs_.size()))
      slots_[s].writer = writer_before(instrs_.size(), static_cast<int32_t>(s));
}

int32_t Window::writer_before(size_t end, int32_t slot) const {
  for (size_t n = end; n-- > 0;) {
    const Instr& i = instrs_[n];
    bool writes = i.out.slot == slot;
    for (int k = i.inputs(); k < i.inputs() + i.more; ++k) writes = writes || i.in[k].slot == slot;
    if (writes) return static_cast<int32_t>(n);
  }
  return -1;
}

[[gnu::always_inline]] inline void Window::append(Instr& i, const ViewRef& out, const Input* in,
                                                  int count) {
  size_t header = key_.size();
  append_header(i, key_);
  number(i, out, in, count, header);
  for (int n = 0; n < count; ++n) {
    if (in[n].view) {
      i.in[n] = operand(*in[n].view, false);
    } else {
      i.in[n] = {-1, static_cast<int32_t>(scalars_.size()), in[n].dtype, -1, nullptr, 0};
      scalars_.push_back(in[n].scalar);
      key_.push_back(~static_cast<uint64_t>(in[n].dtype));
    }
  }
  i.out = operand(out, true);
  for (int n = count; n < count + i.more; ++n) {
    i.in[n] = operand(*in[n].view, true);
    in[n].view->base->value = mix(i.value, static_cast<uint64_t>(n));
  }
  if (i.scatters() && i.bounds == Instr::Report) slots_[i.out.slot].unsure = true;
  if (i.function) functions_.push_back(i.function->shared_from_this());
  if (i.only) only_ = i.only;
  instrs_.push_back(i);
}

void Window::record(Instr& i, const ViewRef& out, const Input* in, int count) {
  const size_t header = key_.size(), scalars = scalars_.size(), slots = slots_.size();
  try {
    append(i, out, in, count);
  } catch (...) {
    undo(header, scalars, slots);
    throw;
  }
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
    if (s.mixed || s.base->outside()) return false;
  // Where a result waits to be read.
  std::vector<int> unread(slots_.size(), -1);
  for (int at = 0; at < 2 * period; ++at) {
    const Instr& i = instrs_[first + at];
    if (i.code != Instr::Map || i.op == Op::index || i.gathers() || i.scatters()) return false;
    if (!i.out.layout->same_shape(domain) || !i.out.layout->injective()) return false;
    for (int n = 0; n < i.nin + i.predicated; ++n)
      if (i.in[n].slot >= 0) unread[i.in[n].slot] = -1;
    // A result that is overwritten unread was asked for all the same: its store needs a kernel.
    if (unread[i.out.slot] >= 0 && !i.predicated) return false;
    unread[i.out.slot] = at;
    // A request that repeats an earlier one is a stopwatch's loop: each is a kernel of its own.
    if (at >= period && instrs_[first + at - period].value == i.value) return false;
  }
  for (int at : unread)
    if (at >= 0 && at < period) return false;
  return true;
}

bool Window::keeps_iterations(int first, int period) const {
  std::vector<int> last(slots_.size(), 0);
  for (int at = 0; at < 2 * period; ++at) {
    const Instr& i = instrs_[first + at];
    for (int n = 0; n < i.inputs() + i.more; ++n)
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
  slots_in_key_ = 0;
  only_ = nullptr;
  instrs_.clear();
  scalars_.clear();
  key_.clear();
  layouts_.clear();
  functions_.clear();
  // Giving foreign memory back may run Python, and so whatever else uses this window.
  std::vector<Slot> slots = std::move(slots_);
  slots_.clear();
  for (Slot& s : slots) s.base->unref();
  slots.clear();
  if (slots_.empty()) slots_ = std::move(slots);
}

}  // namespace numbus
