// Capturing what a function records.
#include "array/capture.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "array/observer.h"
#include "base/few.h"

namespace numbus {
namespace {

bool same_bits(const Scalar& x, const Scalar& y) {
  return x.kind == y.kind && std::bit_cast<uint64_t>(x.f[0]) == std::bit_cast<uint64_t>(y.f[0]) &&
         std::bit_cast<uint64_t>(x.f[1]) == std::bit_cast<uint64_t>(y.f[1]);
}

}  // namespace

constinit thread_local Capture* capture_now = nullptr;

Capture::Capture(std::span<const Array> given, Of of)
    : whole_(of != Of::Function), open_(of == Of::Open), before_(std::exchange(capture_now, this)) {
  for (size_t k = 0; k < given.size(); ++k) {
    const Base& b = *given[k].base.get();
    device_ = b.device;
    given_.emplace_back(b.id, given[k].through);
    if (std::ranges::none_of(bases_, [&](const Known& known) { return known.id == b.id; }))
      bases_.push_back({Known::Given, k, b.nbytes, {}, b.id});
  }
}

Capture::~Capture() { end(); }

void Capture::end() {
  if (!ended_) capture_now = before_;
  ended_ = true;
}

void Capture::give_up(const char* why) {
  if (why_) return;
  why_ = why;
  if (!whole_) return;
  line_is_new = true;
  why_at_ = current_line();
}

bool Capture::is_constant(const std::vector<Known>& all, const Base& b) {
  const auto found = std::ranges::find(all, b.id, &Known::id);
  return found != all.end() && found->kind == Known::Constant;
}

// Neither an operand's nor made by what is captured.
bool Capture::is_apart(const Base& b) const {
  const auto found = std::ranges::find(bases_, b.id, &Known::id);
  return !b.pending() && (found == bases_.end() || found->kind == Known::Constant);
}

bool Capture::makes(const Array& a) const {
  const auto found = std::ranges::find(bases_, a.base->id, &Known::id);
  return found != bases_.end() && found->kind == Known::Fresh && a.owns;
}

Capture::View Capture::view_of(const ViewRef& v, bool written) {
  const Base& b = *v.base;
  auto found = std::ranges::find(bases_, b.id, &Known::id);
  if (found == bases_.end()) {
    // What nobody has written to is new. What has elements is neither new nor an operand: it is
    // the same each time, as the function depends on its arguments alone.
    const bool fresh = !b.has_elements() && !b.pending();
    if (whole_ ? fresh && !written : fresh != written)
      give_up("memory is read that was not written");
    if (!device_) device_ = b.device;
    if (b.device != device_) give_up("work is done on two devices");
    if (whole_ && b.device->host_readable()) give_up("the device works without recording");
    bases_.push_back({fresh ? Known::Fresh : Known::Constant, 0, b.nbytes,
                      fresh ? Handle() : Handle(v.base), b.id, fresh && b.pinned});
    found = bases_.end() - 1;
  } else if (written && !whole_ && found->kind == Known::Constant) {
    give_up("an array is written to that is no operand");
  }
  const std::pair seen{b.id, v.through};
  const auto one = std::ranges::find(given_, seen);
  const bool alone = one != given_.end() && std::ranges::count(given_, seen) == 1;
  return {static_cast<size_t>(found - bases_.begin()), LayoutRef(v.layout), v.offset, v.dtype,
          alone ? static_cast<int>(one - given_.begin()) : -1};
}

void Capture::note(const Instr& i, const Array& out, const Window::Input* in, int count,
                   bool seen) {
  const auto written = std::ranges::find(bases_, out.base->id, &Known::id);
  if (written == bases_.end())
    wrote_others_ |= out.base->has_elements() || out.base->pending();
  else
    (written->kind == Known::Given ? wrote_operands_ : wrote_others_) |=
        written->kind != Known::Fresh;
  if (why_) return;
  seen = seen && hidden_ == 0 && (!whole_ || open_);
  Step s{i, whole_ ? current_line() : 0, nullptr, {}, {}, count, seen, nullptr};
  if (i.function) s.function = i.function->shared_from_this();
  for (int n = 0; n < count + i.more; ++n) {
    Input& x = s.in.emplace_back();
    x.scalar = in[n].scalar;
    x.dtype = in[n].dtype;
    if (in[n].view) x.view = view_of(*in[n].view, n >= count);
  }
  s.out = view_of(out.view(), true);
  // An observer may have to be told of what is overwritten.
  if (watched_ && !seen && bases_[s.out.base].kind != Known::Fresh)
    give_up("what an observer sees is overwritten");
  steps_.push_back(std::move(s));
}

void Capture::note_work(const std::shared_ptr<const HiddenWork>& w, std::span<const Array> operands,
                        const Array& result) {
  if (why_ || (whole_ && !open_) || hidden_ > 0) return;
  const bool seen = !open_ || observer();
  Step s{{}, 0, nullptr, {}, {}, static_cast<int>(operands.size()), seen, w};
  for (const Array& a : operands) s.in.emplace_back().view = view_of(a.view(), false);
  s.out = view_of(result.view(), true);
  steps_.push_back(std::move(s));
}

void tell_work(const std::shared_ptr<const HiddenWork>& w, std::span<const Array> operands,
               const Array& result) {
  if (capture_now) capture_now->note_work(w, operands, result);
  const Uncaptured here;
  if (observer()) observer()->worked(*w, operands, result);
}

bool Capture::set_number(size_t step, size_t operand, int number) {
  if (step >= steps_.size() || operand >= steps_[step].in.size()) return false;
  Input& in = steps_[step].in[operand];
  if (in.view || in.scalar.kind != Kind::Float) return false;
  in.number = number;
  return true;
}

std::shared_ptr<const Recipe> Recipe::of(Capture& c, std::span<const Array> results) {
  if (c.why_) return nullptr;
  auto made = std::make_shared<Recipe>();
  for (const Array& a : results) {
    const auto found = std::ranges::find(c.bases_, a.base->id, &Capture::Known::id);
    const bool all = a.size() * itemsize(a.dtype) == a.base->nbytes;
    if (found == c.bases_.end() || found->kind != Capture::Known::Fresh || (!all && !c.whole_))
      return nullptr;
    made->results_.push_back(
        {static_cast<size_t>(found - c.bases_.begin()), a.layout, a.offset, a.dtype});
  }
  made->steps_ = std::move(c.steps_);
  made->bases_ = std::move(c.bases_);
  made->numbers_ = c.numbers_;
  made->device_ = c.device_;
  made->whole_ = c.whole_;
  made->open_ = c.open_;
  if (!c.whole_) made->find_ends();
  return made;
}

void Recipe::find_ends() {
  std::vector<bool> needed(bases_.size(), false);
  for (size_t k = 0; k < bases_.size(); ++k) needed[k] = bases_[k].kind != Capture::Known::Fresh;
  for (const Capture::View& v : results_) needed[v.base] = true;
  ends_.resize(steps_.size());
  for (size_t n = steps_.size(); n-- > 0;) {
    auto last = [&](const Capture::View& v) {
      if (!needed[v.base]) ends_[n].push_back(v.base);
      needed[v.base] = true;
    };
    last(steps_[n].out);
    for (const Capture::Input& in : steps_[n].in)
      if (in.view) last(*in.view);
  }
}

const char* Recipe::differs(const Recipe& other) const {
  auto same_view = [](const Capture::View& x, const Capture::View& y) {
    return x.base == y.base && x.layout.get() == y.layout.get() && x.offset == y.offset &&
           x.dtype == y.dtype;
  };
  if (steps_.size() != other.steps_.size() || numbers_ != other.numbers_)
    return "two calls record different operations";
  for (size_t k = 0; k < steps_.size(); ++k) {
    const Capture::Step &x = steps_[k], &y = other.steps_[k];
    std::vector<uint64_t> one, two;
    append_header(x.instr, one);
    append_header(y.instr, two);
    if (one != two || x.count != y.count || x.in.size() != y.in.size() || x.seen != y.seen ||
        !x.work != !y.work || !same_view(x.out, y.out))
      return "two calls record different operations";
    for (size_t n = 0; n < x.in.size(); ++n) {
      const Capture::Input &a = x.in[n], &b = y.in[n];
      if (a.view.has_value() != b.view.has_value() || a.number != b.number || a.dtype != b.dtype ||
          (a.view && !same_view(*a.view, *b.view)))
        return "two calls record different operations";
      if (!a.view && a.number < 0 && !same_bits(a.scalar, b.scalar))
        return "a number is another one at each call";
    }
  }
  for (size_t k = 0; k < bases_.size(); ++k) {
    const Capture::Known &x = bases_[k], &y = other.bases_[k];
    if (x.kind != y.kind || x.at != y.at || x.nbytes != y.nbytes)
      return "two calls record different operations";
    if (x.kind == Capture::Known::Constant && x.id != y.id)
      return "an array that is no argument is another one at each call";
  }
  return nullptr;
}

namespace {

// An instruction that is about to be recorded, copied in pieces of 16 bytes: g++ copies what is
// larger than 256 bytes by `rep movsq`, which takes three times as long.
class ToRecord {
 public:
  explicit ToRecord(const Instr& from) {
    static_assert(std::is_trivially_copyable_v<Instr> && std::is_trivially_destructible_v<Instr>);
    constexpr size_t kPiece = 16, kPieces = sizeof(Instr) / kPiece;
    const auto* const source = reinterpret_cast<const char*>(&from);
    for (size_t k = 0; k < kPieces; ++k)
      std::memcpy(room_ + k * kPiece, source + k * kPiece, kPiece);
    std::memcpy(room_ + kPieces * kPiece, source + kPieces * kPiece, sizeof(Instr) % kPiece);
  }
  Instr& get() { return *std::launder(reinterpret_cast<Instr*>(room_)); }

 private:
  alignas(Instr) char room_[sizeof(Instr)];
};

}  // namespace

namespace {

// Array::through of all operands in the memory of one of them; zero where they differ.
uint64_t through_all(std::span<const Array> given, size_t one) {
  for (const Array& a : given)
    if (a.base.get() == given[one].base.get() && a.through != given[one].through) return 0;
  return given[one].through;
}

}  // namespace

std::vector<Array> Recipe::record(std::span<const Array> given, std::span<const double> numbers,
                                  std::vector<uint64_t>* ids,
                                  const std::function<void(bool)>& see) const {
  std::vector<Handle> bases(bases_.size());
  Few<uint64_t, 16> through;  // of bases; unknown where several operands lie in one memory
  for (size_t k = 0; k < bases_.size(); ++k) {
    const Capture::Known& known = bases_[k];
    through.push_back(known.kind == Capture::Known::Given ? through_all(given, known.at) : 0);
    if (known.kind == Capture::Known::Given) bases[k] = given[known.at].base;
    if (known.kind == Capture::Known::Constant) bases[k] = known.base;
  }
  auto base_of = [&](const Capture::View& v) -> const Handle& {
    Handle& base = bases[v.base];
    if (base.get()) return base;
    base = Handle(Base::create(*device_, bases_[v.base].nbytes));
    base->pinned = bases_[v.base].pinned;
    if (base->live) note_made(v.on(base));
    return base;
  };
  auto array_of = [&](const Capture::View& v) { return v.on(base_of(v)); };
  auto seen_as = [&](const Capture::View& v) {
    return v.operand < 0 ? through[v.base] : given[static_cast<size_t>(v.operand)].through;
  };
  Window::Input in[kMaxOperands];
  ViewRef views[kMaxOperands];
  for (size_t step = 0; step < steps_.size(); ++step) {
    const Capture::Step& s = steps_[step];
    // What nobody holds any more when the window is carried out needs no memory.
    auto let_go = [&] {
      if (!ends_.empty())
        for (const size_t k : ends_[step]) bases[k] = Handle();
    };
    if (open_) see(s.seen);
    if (s.work) {
      std::vector<Array> operands;
      for (const Capture::Input& in_one : s.in) {
        operands.push_back(array_of(*in_one.view));
        operands.back().through = seen_as(*in_one.view);
      }
      tell_work(s.work, operands, array_of(s.out));
      let_go();
      continue;
    }
    ToRecord copied(s.instr);
    Instr& i = copied.get();
    for (size_t n = 0; n < s.in.size(); ++n) {
      const Capture::Input& known = s.in[n];
      in[n].dtype = known.dtype;
      in[n].view = nullptr;
      if (known.view) {
        const Capture::View& v = *known.view;
        views[n] = {base_of(v).get(), v.layout.get(), v.offset, v.dtype, seen_as(v)};
        in[n].view = &views[n];
      } else {
        in[n].scalar = known.number < 0
                           ? known.scalar
                           : Scalar::from_float(numbers[static_cast<size_t>(known.number)]);
      }
    }
    const Array out = array_of(s.out);
    if (whole_) set_line(s.line);
    if (s.seen || open_) {
      numbus::record(i, out, in, s.count);
    } else {
      const Unobserved alone;
      numbus::record(i, out, in, s.count);
    }
    let_go();
  }
  std::vector<Array> results;
  results.reserve(results_.size());
  for (const Capture::View& v : results_) results.push_back(array_of(v));
  if (ids)
    for (const Handle& b : bases) ids->push_back(b.get() ? b->id : 0);
  return results;
}

}  // namespace numbus
