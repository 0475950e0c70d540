// Open arrays when work on them is recorded, and how they get from one side to the other.
#include "array/placement.h"

#include <algorithm>
#include <utility>

#include "array/placement_sides.h"
#include "device/counts.h"
#include "device/device.h"
#include "device/opened.h"
#include "lazy/runtime.h"
#include "lazy/spill.h"

namespace numbus::placement {

constinit bool on = false;
Device* far_device = nullptr;
int64_t few_bytes = 0;

namespace {

constinit thread_local Device* worked_on = nullptr;

// Another side has to be so much quicker: costs are models.
constexpr double kClearly = 1.5;
// Time that was gained where an array lies, µs, weighs no more than this against later losses.
constexpr double kMostGained = 1000;

int64_t span(const ViewRef& v) {
  return v.layout->size() > 0 ? v.layout->high() - v.layout->low() : 0;
}
bool copied_whole(const ViewRef& v) { return 2 * span(v) >= v.base->nbytes && v.base->shared == 0; }

// What a view sees, on another device, at its strides. The copy of a whole base is kept until the
// base changes.
ViewRef bring(const ViewRef& v, Device& to, Array& held) {
  Base& b = *v.base;
  Runtime::get().materialize(&b, "copied to another device");
  if (b.failure) throw Error(*b.failure);
  int64_t begin = 0;
  held = Array();
  if (b.device == &to) return v;  // where it was computed
  if (copied_whole(v)) {
    held.base = twin_of(b, to);
  } else {
    begin = v.layout->size() > 0 ? v.offset + v.layout->low() : 0;
    held.base = Handle(Base::create(to, span(v)));
    InPlace both;
    both.add(*held.base.get());
    both.add(b);
    copy_across(to, held.base->data, *b.device, b.data + begin, span(v));
  }
  held.layout = LayoutRef(v.layout);
  held.offset = v.offset - begin;
  held.dtype = v.dtype;
  return held.view();
}

// One element that the host can read now, of the type that the operation computes in, becomes an
// operand by value.
bool becomes_number(const Instr& i, Window::Input& in) {
  const ViewRef v = *in.view;
  if (i.code != Instr::Map || i.gathers() || i.scatters() || i.op == Op::apply ||
      i.op == Op::select || v.dtype != i.loop || span(v) != itemsize(v.dtype) ||
      !v.base->device->host_readable() || v.base->pending() || v.base->failure)
    return false;
  v.base->ensure_data();
  in.scalar = load_scalar(v.dtype, v.base->data + v.offset + v.layout->low());
  in.dtype = v.dtype;
  in.view = nullptr;
  return true;
}

// Whether code that looks at the device first records it: libraries and cumulative operations run
// on both as they are recorded.
bool asks_first(const Instr& i) {
  if (i.code == Instr::Call)
    return i.routine != Routine::matmul && i.routine != Routine::accumulate;
  return i.scatters();
}

void give_place(Base& b, Device& to) {
  if (b.device == &to) return;
  if (is_virtual(b)) {
    b.device = &to;
    b.twin.reset();
    return;
  }
  if (b.pending()) Runtime::get().materialize(&b, "moved to another device");
  if (may_move(b) && !b.pending()) move(b, to, false);
}

void switch_to(bool wanted) {
  on = wanted;
  Runtime& rt = Runtime::get();
  rt.settle_window = on ? settle_window : nullptr;
  rt.bring_back = on ? bring_back : nullptr;
}

}  // namespace

void begin(Device* far, int64_t few) {
  far_device = far;
  few_bytes = few;
  scale_fixed_costs(static_cast<double>(few) / kFewBytes);
  code_is_free(few < kFewBytes);
  first_uses_are_free(few < kFewBytes);
  switch_to(far != nullptr);
}

void begin_with_gpu() {
  begin(opened_cuda_device(current_gpu()), kFewBytes);
  if (far_device) use(Library::None);
  switch_to(true);
}

bool goes_far(Library library, double gain) {
  if (!is_paid(library)) note_gain(library, gain);
  if (!is_paid(library)) return false;
  if (!far_device) far_device = cuda_device(current_gpu());
  if (!far_device) {
    begin(nullptr, kFewBytes);
    return false;
  }
  use(library);
  return true;
}

Work::Work(Device* d) : before_(worked_on) {
  if (on && d) worked_on = d;
}
Work::~Work() { worked_on = before_; }
Device* Work::set(Device* d) { return std::exchange(worked_on, on ? d : nullptr); }

void copy_across(Device& to, void* target, Device& from, const void* source, int64_t bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<size_t>(bytes);
  CopyTimer timer;
  // A base that was pending may have been carried out on the side that its copy is for.
  if (&from == &to) {
    to.copy_within(target, source, size);
    return;
  }
  if (from.host_readable())
    to.copy_from_host(target, source, size);
  else if (to.host_readable())
    from.copy_to_host(target, source, size);
  else
    raise(ErrorKind::Runtime, "placement", "a copy between two devices",
          from.label() + " to " + to.label(), "one of them the CPU");
  Runtime::get().note_copy(bytes, !from.host_readable());
}

bool has_twin(const Base& b, const Device* to) {
  return b.twin && b.shared == 0 && b.twin_value == b.value && b.twin->base->device == to;
}

Handle copy_of(Base& b, Device& to) {
  Handle copy(Base::create(to, b.nbytes));
  InPlace both;
  both.add(*copy.get());
  both.add(b);
  copy_across(to, copy->data, *b.device, b.data, b.nbytes);
  return copy;
}

Handle twin_of(Base& b, Device& to) {
  if (has_twin(b, &to)) return b.twin->base;
  b.twin.reset();
  Handle copy = copy_of(b, to);
  if (b.shared == 0) {
    b.twin = std::make_unique<Twin>(Twin{copy});
    b.twin_value = b.value;
  }
  return copy;
}

void move(Base& b, Device& to, bool keeps) {
  if (b.device == &to) return;
  Device& from = *b.device;
  if (b.suspicions) late::resolve(b, true);
  if (b.failure) spill::drop(b);
  if (b.has_elements() && !b.failure) {
    InPlace here;
    here.add(b);
    Handle there = twin_of(b, to);
    there->ensure_data();
    b.twin.reset();
    const bool alone = there->handles == 1;
    if (alone && there->refs == 1) {
      std::swap(b.data, there->data);
      there->device = &from;  // which frees it, or keeps it
    } else {
      // A window reads that copy.
      void* fresh = to.allocate(static_cast<size_t>(b.nbytes));
      copy_across(to, fresh, from, b.data, b.nbytes);
      there = Handle(Base::create(from, b.nbytes));
      there->data = std::exchange(b.data, static_cast<char*>(fresh));
    }
    if (keeps) {
      b.twin = std::make_unique<Twin>(Twin{there});
      b.twin_value = b.value;
    }
    Runtime::get().note_move(b.nbytes, &to != &cpu_device());
  } else if (b.data) {
    from.free(b.data, static_cast<size_t>(b.nbytes));  // it is lost anyway
    b.data = nullptr;
  }
  b.device = &to;
  b.lost = 0;
}

void Balance::needs(const Base& b) {
  (near(b) ? price.far : price.near) += price_of_copy(b.nbytes, near(b));
  // What others see stays: it would be copied each time.
  if (b.shared == 0) most_lost = std::max(most_lost, b.lost);
}

bool Balance::runs_near() const {
  const double on_near = cost.near + price.near, on_far = cost.far + price.far;
  // What has lost more time by its place than a move takes, moves.
  if (price.near > 0 && price.far == 0)
    return most_lost >= price.near ? cost.near <= cost.far : kClearly * on_near < on_far;
  if (price.far > 0 && price.near == 0 && most_lost >= price.far) return cost.near <= cost.far;
  return on_near <= kClearly * on_far;
}

double Balance::loss(bool near) const {
  const double here = near ? cost.near : cost.far, there = near ? cost.far : cost.near;
  return here > there && here < kClearly * there ? 0 : here - there;
}

void note_loss(Base& b, double loss) { b.lost = std::max(b.lost + loss, -kMostGained); }

std::array<Device*, 2> both() { return {&cpu_device(), far_device}; }

Device& of_new() { return worked_on ? *worked_on : default_device(); }

Device& home(const Array& a, double near_cost, double far_cost) {
  Base& b = *a.base.get();
  if (!on || worked_on || !is_open(b)) return *b.device;
  const int64_t bytes = a.size() * itemsize(a.dtype);
  if (b.pending()) {
    if (4 * bytes < few_bytes) return *b.device;
    settle_base(b, "a routine looks at its device");
  }
  if (!is_open(b) || b.pending()) return *b.device;
  const auto n = static_cast<double>(a.size()) / 1000;
  Balance all{cost_of_routine(n * near_cost, n * far_cost), {}, 0};
  if (b.has_elements()) all.needs(b);
  bool to_near = all.runs_near();
  if (!to_near && near(b)) to_near = !goes_far(Library::None, all.gain());
  if (to_near == near(b)) {
    note_loss(b, all.loss(to_near));
    return *b.device;
  }
  give_place(b, side(to_near));
  return *b.device;
}

Device& chosen_for(std::span<const Array* const> operands, const Cost& cost, Library library) {
  Balance all{cost, {}, 0};
  Device* named = nullptr;
  for (const Array* a : operands) {
    Base& b = *a->base.get();
    if (b.pending()) settle_base(b, "a routine looks at its device");
    if (!is_open(b)) named = b.device;
    if (!b.has_elements() || named) continue;
    if (has_twin(b, other_side(b))) continue;
    all.needs(b);
  }
  if (named) return *named;
  const bool to_near = all.runs_near() || !goes_far(library, all.gain());
  for (const Array* a : operands)
    if (near(*a->base.get()) == to_near) note_loss(*a->base.get(), all.loss(to_near));
  return side(to_near);
}

Array brought(const Array& a, Device& to) {
  if (a.base->device == &to || !is_open(*a.base.get())) return a;
  Array held;
  bring(a.view(), to, held);
  return held;
}

bool is_named(Instr& i, const Array& out, const Window::Input* in, int count) {
  Base& result = *out.base.get();
  bool any = result.pinned;
  for (int n = 0; n < count + i.more; ++n) {
    if (!in[n].view) continue;
    const Base& b = *in[n].view->base;
    if (b.device != result.device || (n < count && !b.pinned)) return false;
    any = any || b.pinned;
  }
  if (!any) return false;
  i.only = result.device;
  result.pinned = true;
  return true;
}

Device& meet(Instr& i, const Array& out, Window::Input* in, int count, Copies& copies) {
  Base& result = *out.base.get();
  Device* named = is_open(result) ? nullptr : result.device;
  bool far = false;
  for (int n = 0; n < count && is_open(result); ++n)
    if (in[n].view && !is_open(*in[n].view->base)) named = in[n].view->base->device;
  for (int n = 0; n < count; ++n) far = far || (in[n].view && !near(*in[n].view->base));
  if (!named && i.code == Instr::Map && far)
    for (int n = 0; n < i.nin; ++n)
      if (in[n].view) becomes_number(i, in[n]);
  // What only one device can be asked to do, or has the memory for.
  Device* only = named ? named : worked_on;
  if (!only && asks_first(i)) only = result.device;
  if (!only && result.has_elements() && !may_move(result)) only = result.device;
  i.only = only;
  if (only) {
    give_place(result, *only);
    for (int n = count; n < count + i.more; ++n) give_place(*in[n].view->base, *only);
    for (int n = 0; n < count; ++n) {
      if (!in[n].view) continue;
      Base& b = *in[n].view->base;
      // What the user named another device for stays there: record() says so. What is pending in
      // the window of open arrays comes with it; a window of a named device waits for it, since
      // nobody knows yet where it will lie.
      const bool undecided =
          named && is_open(b) && b.window && &b.window->recorder->device() == &cpu_device();
      if (!undecided && (b.device == only || !is_open(b) || (!named && b.pending()))) continue;
      if (named && n < i.nin && becomes_number(i, in[n])) continue;
      copies.views[n] = bring(*in[n].view, *only, copies.held[n]);
      in[n].view = &copies.views[n];
    }
  } else {
    if (is_virtual(result)) result.device = &cpu_device();
    for (int n = count; n < count + i.more; ++n)
      if (is_virtual(*in[n].view->base)) in[n].view->base->device = &cpu_device();
  }
  if (!named) return cpu_device();
  result.pinned = true;
  return *named;
}

void bring_back(Base& b, Device& to) {
  if (b.device != &to && may_move(b) && !b.pending()) move(b, to, true);
}

void is_read(const Array& a) {
  Base& b = *a.base.get();
  if (near(b) || !is_open(b)) return;
  b.lost += price_of_read();
  // A window that reads it knows where it lies.
  if (b.lost >= price_of_copy(b.nbytes, false) && may_move(b) && !b.pending())
    move(b, cpu_device(), false);
}

void is_exported(const Array& a) {
  Base& b = *a.base.get();
  if (b.pending()) settle_base(b, "exported as a buffer");
  if (!near(b) && may_move(b) && !b.pending()) move(b, cpu_device(), false);
  b.twin.reset();
}

void pin(const Array& a) {
  if (on) a.base->pinned = true;
}

}  // namespace numbus::placement
