// Capturing what a function records.
#include "array/capture.h"

#include <algorithm>
#include <utility>

#include "array/observer.h"

namespace numbus {

constinit thread_local Capture* capture_now = nullptr;

Capture::Capture(std::span<const Array> given) : before_(std::exchange(capture_now, this)) {
  for (size_t k = 0; k < given.size(); ++k) {
    const Base& b = *given[k].base.get();
    if (std::ranges::none_of(bases_, [&](const Known& known) { return known.id == b.id; }))
      bases_.push_back({Known::Given, k, b.nbytes, {}, b.id});
  }
}

Capture::~Capture() { capture_now = before_; }

Capture::View Capture::view_of(const ViewRef& v, bool written) {
  const Base& b = *v.base;
  auto found = std::ranges::find(bases_, b.id, &Known::id);
  if (found == bases_.end()) {
    // What nobody has written to is new. What has elements is neither new nor an operand: it is
    // the same each time, as the function depends on its arguments alone.
    const bool fresh = !b.has_elements() && !b.pending();
    if (fresh != written) spoiled_ = true;
    bases_.push_back({fresh ? Known::Fresh : Known::Constant, 0, b.nbytes,
                      fresh ? Handle() : Handle(v.base), b.id});
    found = bases_.end() - 1;
  } else if (written && found->kind == Known::Constant) {
    spoiled_ = true;
  }
  return {static_cast<size_t>(found - bases_.begin()), LayoutRef(v.layout), v.offset, v.dtype};
}

void Capture::note(const Instr& i, const Array& out, const Window::Input* in, int count,
                   bool seen) {
  if (spoiled_) return;
  seen = seen && hidden_ == 0;
  Step s{i, nullptr, {}, {}, count, seen};
  if (i.function) s.function = i.function->shared_from_this();
  for (int n = 0; n < count + i.more; ++n) {
    Input& x = s.in.emplace_back();
    x.scalar = in[n].scalar;
    x.dtype = in[n].dtype;
    if (in[n].view) x.view = view_of(*in[n].view, n >= count);
  }
  s.out = view_of(out.view(), true);
  // An observer may have to be told of what is overwritten.
  if (watched_ && !seen && bases_[s.out.base].kind != Known::Fresh) spoiled_ = true;
  steps_.push_back(std::move(s));
}

bool Capture::set_number(size_t step, size_t operand, int number) {
  if (step >= steps_.size() || operand >= steps_[step].in.size()) return false;
  Input& in = steps_[step].in[operand];
  if (in.view || in.scalar.kind != Kind::Float) return false;
  in.number = number;
  return true;
}

std::shared_ptr<const Recipe> Recipe::of(Capture& c, std::span<const Array> results) {
  if (c.spoiled_) return nullptr;
  auto made = std::make_shared<Recipe>();
  for (const Array& a : results) {
    const auto found = std::ranges::find(c.bases_, a.base->id, &Capture::Known::id);
    if (found == c.bases_.end() || found->kind != Capture::Known::Fresh || !a.owns) return nullptr;
    made->results_.push_back(
        {static_cast<size_t>(found - c.bases_.begin()), a.layout, a.offset, a.dtype});
  }
  made->steps_ = std::move(c.steps_);
  made->bases_ = std::move(c.bases_);
  return made;
}

std::vector<Array> Recipe::record(std::span<const Array> given,
                                  std::span<const double> numbers) const {
  Device& device = *given[0].base->device;
  std::vector<Handle> bases(bases_.size());
  for (size_t k = 0; k < bases_.size(); ++k) {
    const Capture::Known& known = bases_[k];
    if (known.kind == Capture::Known::Given) bases[k] = given[known.at].base;
    if (known.kind == Capture::Known::Constant) bases[k] = known.base;
  }
  auto array_of = [&](const Capture::View& v) {
    Array a;
    const bool fresh = !bases[v.base].get();
    if (fresh) bases[v.base] = Handle(Base::create(device, bases_[v.base].nbytes));
    a.base = bases[v.base];
    a.layout = v.layout;
    a.offset = v.offset;
    a.dtype = v.dtype;
    if (fresh) note_made(a);
    return a;
  };
  Window::Input in[kMaxOperands];
  ViewRef views[kMaxOperands];
  for (const Capture::Step& s : steps_) {
    Instr i = s.instr;
    for (size_t n = 0; n < s.in.size(); ++n) {
      const Capture::Input& known = s.in[n];
      in[n].scalar = known.number < 0
                         ? known.scalar
                         : Scalar::from_float(numbers[static_cast<size_t>(known.number)]);
      in[n].dtype = s.in[n].dtype;
      in[n].view = nullptr;
      if (!s.in[n].view) continue;
      views[n] = array_of(*s.in[n].view).view();
      in[n].view = &views[n];
    }
    const Array out = array_of(s.out);
    if (s.seen) {
      numbus::record(i, out, in, s.count);
    } else {
      const Unobserved alone;
      numbus::record(i, out, in, s.count);
    }
  }
  std::vector<Array> results;
  for (const Capture::View& v : results_) results.push_back(array_of(v));
  return results;
}

}  // namespace numbus
