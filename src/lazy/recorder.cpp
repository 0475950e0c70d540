// Windows of threads: who may record what, and what a flush waits for.
#include "lazy/recorder.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "lazy/explain.h"
#include "lazy/planner.h"
#include "lazy/runtime.h"

namespace numbus {
namespace {

// All recorders and flights, of all threads. Never destroyed: arrays may outlive static
// destructors.
struct Registry {
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<Flight*> flights;
  std::atomic<uint32_t> landed{0};  // one more per flight that ended: threads wait on it

  void wait_for_landing() {
    bool mine = true;
    for (const Flight* f : flights) mine = mine && f->thread == std::this_thread::get_id();
    if (mine) raise(ErrorKind::Runtime, "flush: a value is needed while it is being computed");
    uint32_t seen = landed.load();
    WithoutPython others(true);
    landed.wait(seen);
  }
};
Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

const char* const kForked =
    "[fork] a value that another thread was computing when the process forked is lost in the "
    "child; "
    "got a forked process; expected a fork while nothing runs, or the spawn start method";

// Threads that computed in the parent do not exist in the child.
void forget_flights() {
  Registry& r = registry();
  for (Flight* f : r.flights)
    for (const Slot& s : f->window->slots_) {
      --s.base->flights;
      if (s.written()) s.base->failure = std::make_shared<Error>(ErrorKind::Runtime, kForked);
    }
  r.flights.clear();
}

}  // namespace

bool Flight::blocks(const Base& b, bool writer) const {
  for (const Slot& s : window->slots_)
    if (s.base == &b) return writer || s.written();
  return false;
}

Recorder::Recorder(Device& device) : device_(&device), window_(std::make_unique<Window>()) {
  window_->recorder = this;
}

// The recorders of a thread, found by device.
class RecorderOwner {
 public:
  Recorder& of(Device& device, bool aside) {
    Recorder*& last = last_[aside];
    if (last && last->device_ == &device) return *last;
    for (Recorder* r : mine_)
      if (r->device_ == &device && r->aside_ == aside) return *(last = r);
    Recorder* found = nullptr;
    Registry& all = registry();
    if (all.recorders.empty()) pthread_atfork(nullptr, nullptr, forget_flights);
    // That of a thread that has ended, if there is one.
    for (auto& r : all.recorders)
      if (r->device_ == &device && r->ownerless_) found = r.get();
    if (found) {
      found->ownerless_ = false;  // before the flush, which lets other threads look for one
      found->flush_quietly("its thread has ended");
      found->error_.reset();
    } else {
      found = all.recorders.emplace_back(std::make_unique<Recorder>(device)).get();
    }
    found->aside_ = aside;
    found->owner_ = std::this_thread::get_id();
    mine_.push_back(found);
    return *(last = found);
  }
  ~RecorderOwner() {
    for (Recorder* r : mine_) r->ownerless_ = true;
  }

 private:
  Recorder* last_[2] = {};
  std::vector<Recorder*> mine_;
};

namespace {

RecorderOwner& of_this_thread() {
  static thread_local RecorderOwner owner;
  return owner;
}

}  // namespace

Recorder& Recorder::of(Device& device) { return of_this_thread().of(device, false); }
Recorder& Recorder::aside(Device& device) { return of_this_thread().of(device, true); }

bool Recorder::flush_one_in_the_way(const ViewRef& out, const Window::Input* in, int count) {
  auto clear = [&](const Base& b, bool write) {
    if (b.window == window_.get() && b.other_windows == 0) return true;
    if (!b.window && b.other_windows == 0) return true;
    for (auto& r : registry().recorders) {
      Window& other = *r->window_;
      if (r.get() == this || other.slot_of(b) < 0 || !(write || other.writes(b))) continue;
      r->flush_quietly("another thread uses what is pending");
      return false;
    }
    return true;
  };
  if (!clear(*out.base, true)) return true;
  for (int n = 0; n < count; ++n)
    if (in[n].view && !clear(*in[n].view->base, false)) return true;
  return false;
}

namespace {

// Tells what one line of a program asks for from what others ask for, whatever the extents.
uint64_t line_of(const Instr& i) {
  return mix(i.line, static_cast<uint64_t>(i.code) << 32 | static_cast<uint64_t>(i.op) << 8 |
                         static_cast<uint64_t>(i.loop));
}

}  // namespace

void Recorder::record(uint64_t signature, Instr& i, const ViewRef& out, const Window::Input* in,
                      int count) {
  const uint64_t line = line_of(i);
  const bool next = line == each_.head && static_cast<int>(lines_.size()) >= each_.length;
  if (whole_) {
    // Only its length cuts it.
  } else if ((next && each_.length) || cut_due_ ||
             (folding_ && *(signatures_.end() - period_) != signature))
    flush("a loop repeats its body");
  // A flush may let other threads record meanwhile: look again after each.
  while (flush_one_in_the_way(out, in, count)) {
  }
  lines_.reserve(signatures_.size() + 1);
  signatures_.push_back(signature);
  lines_.push_back(line);
  try {
    window_->record(i, out, in, count);
  } catch (...) {
    signatures_.pop_back();  // one for each instruction
    lines_.pop_back();
    throw;
  }
  Runtime& rt = Runtime::get();
  ++rt.stats.instructions;
  int64_t points = out.layout->size();
  for (int n = 0; n < count; ++n)
    if (in[n].view) points = std::max(points, in[n].view->layout->size());
  small_ones_ = i.code != Instr::Call && points <= rt.at_once ? small_ones_ + 1 : 0;
  recorded();
}

void Recorder::flush_quietly(const char* reason) noexcept {
  try {
    carry_out(reason);
  } catch (...) {
    std::shared_ptr<const Error> e = present_error();
    // Ctrl-C raises in the main thread, whatever its flush was for.
    if (!error_ && e->kind() != ErrorKind::Interrupted) error_ = std::move(e);
  }
}

void Recorder::flush(const char* reason) {
  if (!mine()) return flush_quietly(reason);
  carry_out(reason);
  if (error_) throw Error(*std::exchange(error_, nullptr));
}

// References go whatever happens.
struct Recorder::Landing {
  Recorder* r;
  Flight flight;
  std::unique_ptr<Window>* again = nullptr;  // where a window that is kept goes back to
  ~Landing() {
    if (flight.run) flight.run->busy = false;
    flight.direct.reset();
    Registry& all = registry();
    std::erase(all.flights, &flight);
    for (const Slot& s : flight.window->slots_) --s.base->flights;
    ++all.landed;
    all.landed.notify_all();
    if (again) {
      flight.window->release_bases();
      *again = std::move(flight.window);
    } else if (r->keep_) {
      r->keep_->push_back(std::move(flight.window));
      --r->windows_;
    } else {
      flight.window->clear();
      r->spare_.push_back(std::move(flight.window));
    }
  }
};

// What is in flight and writes what a window reads, or uses what it writes, comes first.
void Recorder::wait_for(const Window& w) {
  Registry& all = registry();
  for (bool waits = true; waits;) {
    waits = false;
    for (const Slot& s : w.slots_)
      for (const Flight* f : all.flights)
        waits = waits || (s.base->flights > 0 && f->blocks(*s.base, s.written()));
    if (waits) all.wait_for_landing();
  }
}

void Recorder::carry_out_again(std::unique_ptr<Window>& w, std::span<Base* const> bases,
                               const char* reason) {
  Registry& all = registry();
  all.flights.reserve(all.flights.size() + 1);
  w->set_bases(bases);
  Landing landing{this, {std::move(w), nullptr, nullptr}, &w};
  for (const Slot& s : landing.flight.window->slots_) ++s.base->flights;
  all.flights.push_back(&landing.flight);
  Runtime::get().stats.instructions += landing.flight.window->instrs_.size();
  Runtime::get().carry_out(landing.flight, reason);
}

void Recorder::carry_out(const char* reason) {
  Registry& all = registry();
  wait_for(*window_);
  // What may fail comes before the window is taken: it stays as it is, to be flushed later.
  std::unique_ptr<Window> next;
  if (!window_->empty()) {
    if (keep_) keep_->reserve(keep_->size() + 1);
    all.flights.reserve(all.flights.size() + 1);
    if (spare_.empty()) {
      spare_.reserve(windows_ + 1);
      next = std::make_unique<Window>();
      next->recorder = this;
      ++windows_;
    } else {
      next = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  const Loop loop = loop_in_window();
  const bool full = static_cast<int>(lines_.size()) >= kMaxWindow - 2;
  const bool alike = each_.length && loop == each_ && iterations_alike();
  if (alike) each_ = {};
  cut_due_ = false;
  if (folding_) {
    int count = (static_cast<int>(signatures_.size()) - first_) / period_;
    if (count >= 3 && window_->same_scalars(first_, period_, count))
      window_->repeats_ = {first_, period_, count};
  }
  folding_ = false;
  period_ = matching_ = 0;
  signatures_.clear();
  alike_before_.clear();
  lines_.clear();
  small_ones_ = 0;
  if (!next) return;
  Landing landing{this, {std::move(window_), nullptr, nullptr}};
  window_ = std::move(next);
  Flight& flight = landing.flight;
  flight.window->detach();
  for (const Slot& s : flight.window->slots_) ++s.base->flights;
  all.flights.push_back(&flight);
  Runtime::get().carry_out(flight, reason);
  if (loop.length && !alike) learn(loop, full, flight.known);
}

Recorder::Loop Recorder::loop_in_window() const {
  const int n = static_cast<int>(lines_.size());
  if (n && n == each_.length && lines_[0] == each_.head) return each_;
  if (folding_) return {};
  if (cut_due_ && period_) return {period_, lines_[first_]};
  if (n < kMaxWindow - 2) return {};
  // The last half of a full window repeats its lines. An iteration ends where something that has a
  // name was written.
  for (int length = 1; length <= n / 4; ++length) {
    bool repeats = true;
    for (int at = n / 2; at < n && repeats; ++at) repeats = lines_[at] == lines_[at - length];
    if (!repeats) continue;
    for (int at = n - 2; at >= n - 1 - length; --at)
      if (window_->slots_[window_->instrs_[at].out.slot].base->handles > 0)
        return {length, lines_[at + 1]};
    return {length, lines_[n - length]};
  }
  return {};
}

// Whether the latest windows of one iteration asked for the same at the same extents: several
// iterations may fold into one kernel.
bool Recorder::iterations_alike() {
  constexpr int kAlike = 4;
  uint64_t all = 0;
  for (uint64_t s : signatures_) all = mix(all, s);
  alike_ = all == latest_ ? alike_ + 1 : 0;
  latest_ = all;
  return alike_ >= kAlike;
}

// What a window with that loop in it says, whose plan was known or new.
void Recorder::learn(Loop loop, bool full, bool known) {
  constexpr int kNew = 3;      // windows in a row whose plan was new; a full one is enough
  constexpr int kCredit = 16;  // new windows of one iteration, more than known ones
  if (loop == each_) {
    credit_ = known ? std::min(credit_ + 1, kCredit) : credit_ - 1;
    if (credit_ >= 0) return;
    refused_ = loop.head;
    each_ = {};
    return;
  }
  new_ones_ = known ? 0 : full ? kNew : new_ones_ + 1;
  if (new_ones_ < kNew || loop.head == refused_) return;
  new_ones_ = 0;
  each_ = loop;
  credit_ = kCredit;
}

void settle_base(Base& b, const char* reason) {
  if (b.window) b.window->recorder->flush(reason);
  while (b.pending()) {
    bool flushed = false;
    for (auto& r : registry().recorders) {
      if (r->window().slot_of(b) < 0) continue;
      r->flush(reason);
      flushed = true;
      break;
    }
    if (!flushed && b.flights > 0) registry().wait_for_landing();
  }
}

void flush_all(const char* reason) {
  Registry& all = registry();
  for (size_t n = 0; n < all.recorders.size(); ++n) all.recorders[n]->flush(reason);
  while (!all.flights.empty()) all.wait_for_landing();
}

void flush_told(const char* reason) {
  Registry& all = registry();
  for (size_t n = 0; n < all.recorders.size(); ++n) {
    const std::vector<Instr>& pending = all.recorders[n]->window().instrs_;
    if (std::any_of(pending.begin(), pending.end(), [](const Instr& i) { return i.told != 0; }))
      all.recorders[n]->flush(reason);
  }
}

void Recorder::recorded() {
  if (Runtime::get().mode == Mode::Eager) return flush("eager mode");
  int n = static_cast<int>(signatures_.size());
  if (n >= kMaxWindow - 2) return flush("many operations are pending");
  if (whole_) return;
  if (folding_) {
    cut_due_ = (n - first_) % period_ == 0 && n + period_ > kMaxWindow - 2;  // no room for another
    if (n == first_ + 2 * period_ + 1) cut_due_ = window_->keeps_iterations(first_, period_);
    return;
  }
  find_period();
  // Two iterations of a loop. Either they fold into a loop inside the kernel, the more the better,
  // or the window is cut after as many as make a decent kernel.
  if (period_ && matching_ >= period_ && matching_ % period_ == 0 && matching_ + period_ >= 16) {
    first_ = n - matching_ - period_;
    folding_ = window_->may_fold(first_, period_);
    cut_due_ = !folding_;
  }
}

// period_: the distance at which the last `matching_` signatures repeat.
void Recorder::find_period() {
  constexpr int kSure = 3;  // equal neighbours that tell one line in a loop's body from another
  const uint64_t* s = signatures_.data();
  int n = static_cast<int>(signatures_.size());
  if (period_ && s[n - 1] == s[n - 1 - period_]) {
    ++matching_;
    return;
  }
  period_ = matching_ = 0;
  if (alike_before_.empty()) alike_last_.fill(-1);
  while (static_cast<int>(alike_before_.size()) < n) {
    int& last = alike_last_[s[alike_before_.size()] % alike_last_.size()];
    alike_before_.push_back(last);
    last = static_cast<int>(alike_before_.size()) - 1;
  }
  for (int at = alike_before_[n - 1]; at >= kSure - 1; at = alike_before_[at]) {
    if (s[at] != s[n - 1] || s[at - 1] != s[n - 2] || s[at - 2] != s[n - 3]) continue;
    period_ = n - 1 - at;
    matching_ = kSure;
    return;
  }
}

}  // namespace numbus
