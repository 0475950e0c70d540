// Moves of open arrays, by what they cost and what they have been used for.
#include "array/placement.h"

#include <algorithm>

#include "device/device.h"
#include "lazy/runtime.h"

namespace numbus::placement {

constinit bool on = false;

namespace {

Device* far_device = nullptr;
int64_t few_bytes = 0;

// An array near the host that large work keeps reading is moved after it has been read so often:
// the link to the GPU takes some four times as long as the memory of the host.
constexpr int kWorthMoving = 4;
// So much is copied in the time that it takes to read one element of a GPU's memory.
constexpr int64_t kBytesOfRead = 100'000;

bool near(const Base& b) { return b.device != far_device; }
// Whether the user left its device open.
bool is_open(const Base& b) {
  return !b.pinned && (b.device == far_device || b.device == &cpu_device());
}

// Whether its elements may go to another device: nobody outside knows its memory, and no other
// thread works on it.
bool may_move(const Base& b) {
  return is_open(b) && b.owned && b.shared == 0 && b.other_windows == 0 && b.flights == 0 &&
         !b.failure && !b.mask;
}

void copy_across(Device& to, void* target, Device& from, const void* source, int64_t bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<size_t>(bytes);
  if (from.host_readable())
    to.copy_from_host(target, source, size);
  else if (to.host_readable())
    from.copy_to_host(target, source, size);
  else
    raise(ErrorKind::Runtime, "placement", "a copy between two devices",
          from.label() + " to " + to.label(), "one of them the CPU");
  Runtime::get().note_copy(bytes, !from.host_readable());
}

// False: it stays where it is, as work on it goes on elsewhere.
bool move(Base& b, Device& to) {
  if (b.device == &to) return true;
  if (!may_move(b)) return false;
  if (b.window) Runtime::get().materialize(&b, "moved to another device");
  if (b.window || !may_move(b)) return false;
  if (b.data) {
    void* there = to.allocate(static_cast<size_t>(b.nbytes));
    try {
      copy_across(to, there, *b.device, b.data, b.nbytes);
    } catch (...) {
      to.free(there, static_cast<size_t>(b.nbytes));
      throw;
    }
    b.device->free(b.data, static_cast<size_t>(b.nbytes));
    b.data = static_cast<char*>(there);
  }
  b.device = &to;
  b.uses = 0;
  b.twin.reset();
  return true;
}

// What a view sees, on another device, at its strides. The copy of a whole base is kept until the
// base changes.
ViewRef brought(const ViewRef& v, Device& to, Array& held) {
  Base& b = *v.base;
  const bool any = v.layout->size() > 0;
  Runtime::get().materialize(&b, "copied to another device");
  if (b.failure) throw Error(*b.failure);
  const int64_t low = any ? v.offset + v.layout->low() : 0;
  int64_t begin = low, bytes = any ? v.layout->high() - v.layout->low() : 0;
  const bool whole = 2 * bytes >= b.nbytes && b.shared == 0;
  if (whole) begin = 0, bytes = b.nbytes;
  if (!whole || !b.twin || b.twin_value != b.value || b.twin->base->device != &to) {
    held = Array();
    held.base = Handle(Base::create(to, bytes));
    held.base->ensure_data();
    b.ensure_data();
    copy_across(to, held.base->data, *b.device, b.data + begin, bytes);
    if (whole) {
      b.twin = std::make_unique<Twin>(Twin{held.base});
      b.twin_value = b.value;
    }
  } else {
    held = Array();
    held.base = b.twin->base;
  }
  held.layout = LayoutRef(v.layout);
  held.offset = v.offset - begin;
  held.dtype = v.dtype;
  return held.view();
}

// One element that the host can read now, of the type that the operation computes in.
bool becomes_number(const Instr& i, Window::Input& in) {
  const ViewRef v = *in.view;
  if (i.code != Instr::Map || i.gathers() || i.scatters() || i.op == Op::apply ||
      i.op == Op::select || v.dtype != i.loop || v.layout->size() == 0 ||
      v.layout->high() - v.layout->low() != itemsize(v.dtype) || !v.base->device->host_readable() ||
      v.base->pending() || v.base->failure)
    return false;
  v.base->ensure_data();
  in.scalar = load_scalar(v.dtype, v.base->data + v.offset + v.layout->low());
  in.dtype = v.dtype;
  in.view = nullptr;
  return true;
}

// Without elements so far: another device costs nothing.
bool is_virtual(const Base& b) { return !b.data && !b.pending() && is_open(b); }

}  // namespace

void begin(Device* far, int64_t few) {
  on = far != nullptr;
  far_device = far;
  few_bytes = few;
}

Device& of_new(int64_t bytes) {
  Device& usual = default_device();
  return on && chosen_by_cost() && bytes >= few_bytes ? *far_device : usual;
}

Device& chosen_for(std::span<const Array* const> operands, int64_t bytes) {
  Base* largest = nullptr;
  int64_t held_near = 0;
  for (const Array* a : operands) {
    Base& b = *a->base.get();
    if (!is_open(b)) return *b.device;
    if (near(b)) held_near += b.nbytes;
    if (!largest || b.nbytes > largest->nbytes) largest = &b;
  }
  if (!largest) return of_new(bytes);
  if (!near(*largest)) return *largest->device;
  // A large result of little: its operands cost less to copy than it to compute.
  if (bytes >= few_bytes && held_near < few_bytes) return *far_device;
  if (largest->nbytes < few_bytes || ++largest->uses < kWorthMoving || largest->pending())
    return *largest->device;
  return move(*largest, *far_device) ? *far_device : *largest->device;
}

void meet(const Instr& i, const Array& out, Window::Input* in, int count, Copies& copies) {
  Device* to = out.base->device;
  for (int n = 0; n < count; ++n)
    if (in[n].view && !is_open(*in[n].view->base)) to = in[n].view->base->device;
  if (out.base->device != to) {
    if (is_virtual(*out.base.get()))
      out.base->device = to;
    else if (!move(*out.base.get(), *to))
      to = out.base->device;
  }
  for (int n = count; n < count + i.more; ++n) {
    Base& b = *in[n].view->base;
    if (is_virtual(b))
      b.device = to;
    else
      move(b, *to);
  }
  bool pinned = false;
  int32_t uses = 0;
  for (int n = 0; n < count; ++n) {
    if (!in[n].view) continue;
    Base& b = *in[n].view->base;
    pinned = pinned || !is_open(b);
    uses = std::max(uses, b.uses);
    // What the user named another device for stays there: record() says so.
    if (b.device == to || !is_open(b)) continue;
    if (n < i.nin && becomes_number(i, in[n])) continue;
    copies.views[n] = brought(*in[n].view, *to, copies.held[n]);
    in[n].view = &copies.views[n];
  }
  if (pinned) out.base->pinned = true;
  // A result goes on where its operands' uses are: `x = f(x)` is a new array each time.
  if (near(*out.base.get())) out.base->uses = std::max(out.base->uses, uses);
}

void is_read(const Array& a) {
  Base& b = *a.base.get();
  if (near(b) || !is_open(b)) return;
  // Pending work had better be fused with what follows.
  const int64_t enough = b.pending() ? 4 * b.nbytes : b.nbytes;
  if (++b.uses * kBytesOfRead >= enough) move(b, cpu_device());
}

void pin(const Array& a) {
  if (on) a.base->pinned = true;
}

}  // namespace numbus::placement
