// The side on which a window is carried out.
#include <algorithm>
#include <unordered_map>

#include "array/placement.h"
#include "array/placement_sides.h"
#include "base/hash.h"
#include "lazy/runtime.h"

namespace numbus::placement {
namespace {

// What the code of a window costs before it runs on a GPU for the first time, µs: so much has to be
// lost near by windows of the same lines before they go there.
constexpr double kCompiling = 40'000;
double price_of_code = kCompiling;
constexpr size_t kMostLines = 1 << 16;

// Microseconds that windows of the same lines have lost near so far.
double& lost_by_lines(const Window& w) {
  static auto* all = new std::unordered_map<uint64_t, double>;
  uint64_t lines = 0;
  for (const Instr& i : w.instrs_)
    lines = mix(mix(lines, i.line), static_cast<uint64_t>(i.op) << 16 |
                                        static_cast<uint64_t>(i.routine) << 8 |
                                        static_cast<uint64_t>(i.loop));
  if (all->size() > kMostLines) all->clear();
  return (*all)[lines];
}

std::unordered_map<uint64_t, int64_t>& windows_by_line() {
  static auto* all = new std::unordered_map<uint64_t, int64_t>;
  return *all;
}

// What a report says of a window that went far.
void note_far(const Window& w) {
  auto& all = windows_by_line();
  if (all.size() < kMostLines) ++all[w.instrs_.empty() ? 0 : w.instrs_[0].line];
}

bool compiles(const Window& w) {
  return std::any_of(w.instrs_.begin(), w.instrs_.end(),
                     [](const Instr& i) { return i.code != Instr::Call; });
}

// What its routines need on a GPU.
Library library_of(const Window& w) {
  const bool multiplies = std::any_of(w.instrs_.begin(), w.instrs_.end(), [](const Instr& i) {
    return i.code == Instr::Call && i.routine == Routine::matmul;
  });
  return multiplies ? Library::Blas : Library::None;
}

// A slot that has elements the work needs.
bool has_elements(const Slot& s) { return s.base->has_elements() && !s.base->failure; }

Balance balance_of(const Window& w) {
  Balance all{cost_of(w), {}, 0};
  for (const Slot& s : w.slots_) {
    Base& b = *s.base;
    if (&b == Runtime::get().wanted && !b.has_elements())  // it has to come back
      (near(b) ? all.price.far : all.price.near) += price_of_copy(b.nbytes, !near(b));
    if (!has_elements(s) || (!s.written() && has_twin(b, other_side(b)))) continue;
    all.needs(b);
  }
  return all;
}

// Whether it runs near; arrays and lines keep in mind what that gains or loses.
bool chosen_near(Window& w) {
  Balance all = balance_of(w);
  // Small work near the host is not looked at any further.
  if (all.price.near == 0 && all.cost.near < all.cost.far) return true;
  bool to_near = all.runs_near();
  if (!to_near) {
    bool paid = goes_far(library_of(w), all.gain());
    if (compiles(w)) {
      double& lost = lost_by_lines(w);
      paid = paid && lost >= price_of_code;
      if (lost < price_of_code) lost += all.loss(true);
    }
    // Where all of it lies far already, that is where it runs.
    if (!paid) to_near = all.price.near == 0;
    if (to_near) return true;
  }
  double loss = all.loss(to_near), inherited = loss;
  for (const Slot& s : w.slots_)
    if (has_elements(s) && near(*s.base) == to_near) {
      note_loss(*s.base, loss);
      inherited = std::max(inherited, s.base->lost);
    }
  // `x = f(x)` is a new array each time.
  for (const Slot& s : w.slots_)
    if (s.written() && !has_elements(s)) s.base->lost = inherited;
  return to_near;
}

// The window reads a copy in place of the base.
void put_in_place(Slot& s, const Handle& copy) {
  Base* before = s.base;
  copy->ref();
  ++copy->flights;
  s.base = copy.get();
  --before->flights;
  before->unref();
}

}  // namespace

void code_is_free(bool free) { price_of_code = free ? 0 : kCompiling; }

std::vector<FarWindows> far_windows() {
  std::vector<FarWindows> all;
  for (const auto& [line, windows] : windows_by_line()) all.push_back({line, windows});
  return all;
}

void settle_window(Window& w) {
  if (&w.recorder->device() != &cpu_device()) return;  // of a device that the user named
  bool is_near = true;
  if (w.only_)
    is_near = w.only_ != far_device;
  else if (std::none_of(w.slots_.begin(), w.slots_.end(), [](const Slot& s) {
             return !is_open(*s.base) && s.base->device != far_device;
           }))
    is_near = chosen_near(w);
  if (!is_near) note_far(w);
  Device& to = side(is_near);
  for (Slot& s : w.slots_) {
    Base& b = *s.base;
    if (b.device == &to) {
      if (s.written()) b.twin.reset();
      continue;
    }
    if (b.suspicions) late::resolve(b, true);
    if (!b.has_elements()) {
      b.device = &to;
      b.twin.reset();
    } else if (!s.written() && !b.failure) {
      // No two slots share memory, which the window may give back after one of them.
      Handle copy = twin_of(b, to);
      const bool taken = std::any_of(w.slots_.begin(), w.slots_.end(),
                                     [&](const Slot& o) { return o.base == copy.get(); });
      put_in_place(s, taken ? copy_of(b, to) : copy);
    } else {
      b.twin.reset();  // of the elements before the window
      move(b, to, false);
    }
  }
}

}  // namespace numbus::placement
