// Which contributions belong to which view.
#include "program/views.h"

#include <algorithm>

#include "base/error.h"
#include "program/tape.h"

namespace numbus::program {

ViewsApart::ViewsApart(const Tape& tape, std::vector<ToldView> views) : tape_(tape) {
  for (ToldView& v : views) asked_.push_back({std::move(v), Base::new_value()});
  std::ranges::stable_sort(
      asked_, [](const Asked& x, const Asked& y) { return x.of.view.order > y.of.view.order; });
}

std::vector<uint64_t> ViewsApart::from(const Tape& tape, uint64_t base, uint64_t number) {
  std::vector<uint64_t> through{number};
  while (through.back() != 0 && through.back() != base) {
    const KnownView* const view = tape.view(base, through.back());
    through.push_back(view ? view->parent : 0);
  }
  return through;
}

Way::Way(const Tape& tape, std::span<const Array> targets) : tape_(tape) {
  for (const Array& a : targets) {
    const bool view = tape.view(a.base->id, a.through) != nullptr;
    targets_.push_back({a.base->id, view ? a.through : 0});
  }
  for (const Entry& e : tape.entries())
    if (std::ranges::any_of(e.operands, [&](const Operand& o) {
          return o.active && (made_.contains(o.region.base) || is_seen(o.region));
        }))
      for (const Operand& o : e.results) made_.insert(o.region.base);
}

// Whether what is read is a target, or may be.
bool Way::is_seen(const Region& r) const {
  for (const Target& t : targets_) {
    if (t.base != r.base) continue;
    if (t.view == 0) return true;
    const std::vector<uint64_t> through = ViewsApart::from(tape_, r.base, r.through);
    if (through.back() == 0 || std::ranges::find(through, t.view) != through.end()) return true;
  }
  return false;
}

bool Way::leads_over(const Entry& e) const {
  return std::ranges::any_of(e.results, [&](const Operand& o) {
    return made_.contains(o.region.base) || std::ranges::any_of(targets_, [&](const Target& t) {
             return t.view == 0 && t.base == o.region.base;
           });
  });
}

bool Way::leads_over(const ToldView& v) const {
  Region r = v.region;
  r.through = v.view.number;
  return made_.contains(r.base) || is_seen(r);
}

bool ViewsApart::hears_of(uint64_t base) const {
  return std::ranges::any_of(asked_, [&](const Asked& a) { return a.of.region.base == base; });
}

void ViewsApart::add(Adjoints& adjoints, const Region& r, const Array& contribution) {
  const std::vector<uint64_t> through = from(tape_, r.base, r.through);
  const bool known = through.back() == r.base;
  for (const Asked& a : asked_) {
    const Region& own = a.of.region;
    if (own.base != r.base) continue;
    if (std::ranges::find(through, a.of.view.number) != through.end()) {
      tape_.require_unwritten(r.base, a.of.view);
      adjoints.add(r.at(a.stands_for), contribution);
    } else if (!known && may_overlap(r.offset, *r.layout, own.offset, *own.layout)) {
      raise(ErrorKind::NotImplemented, "grad",
            "the derivative by a view is not yet told apart from that by what else shows its"
            " memory",
            "shape " + shape_string(*own.layout), "x.clone() of the view, before it is used");
    }
  }
}

void ViewsApart::passed(Adjoints& adjoints, int64_t entry) {
  for (; next_ < asked_.size() && asked_[next_].of.view.created >= entry; ++next_) {
    const Asked& a = asked_[next_];
    const std::optional<Array> g = adjoints.of(a.of.region.at(a.stands_for));
    if (!g) continue;
    const std::optional<Array> other = a.of.told(*g);
    if (!other) continue;
    const Arg both[2] = {Arg(&*other), Arg(&*g)};
    Region r = a.of.region;
    r.through = a.of.view.parent;
    adjoints.add(r, apply(Op::subtract, both));
  }
}

uint64_t Tape::number_view(const Array& a) {
  constexpr size_t kMany = 64;
  const uint64_t base = a.base->id;
  KnownBase* const known = bases_.find(base);
  if (!known || !known->active || a.through == 0) return base;
  // Little of what was read through views from before the first entry that is left is left; what
  // is, is refused where it matters.
  if (known->views.size() % kMany == kMany - 1) {
    std::vector<uint64_t> needed;
    for (const ToldView& v : told_views_)
      if (v.region.base == base)
        for (const uint64_t number : ViewsApart::from(*this, base, v.view.number))
          needed.push_back(number);
    known->views.erase_if([&](const KnownView& v) {
      return v.created < first_ && std::ranges::find(needed, v.number) == needed.end();
    });
  }
  const uint64_t number = Base::new_value();
  last_view_ = std::max(last_view_, now());
  known->views.push_back({number, a.through, now(), made_views_++});
  return number;
}

const KnownView* Tape::view(uint64_t base, uint64_t number) const {
  const KnownBase* const known = bases_.find(base);
  if (!known) return nullptr;
  const auto found = std::find_if(known->views.begin(), known->views.end(),
                                  [&](const KnownView& v) { return v.number == number; });
  return found == known->views.end() ? nullptr : found;
}

void Tape::require_unwritten(uint64_t base, const KnownView& v) const {
  const KnownBase* const known = bases_.find(base);
  if (!known || std::ranges::none_of(known->writers, [&](int64_t n) { return n >= v.created; }))
    return;
  raise(ErrorKind::NotImplemented, "grad",
        "the derivative by a view whose memory was changed in place later is not there yet",
        "a view from before the change", "a view that is made after it, or x.clone()");
}

void Tape::forget_told_views() {
  if (told_views_.empty()) return;
  std::unordered_set<uint64_t> read;
  for (const Entry& e : entries_)
    for (const Operand& o : e.operands)
      if (o.active && std::ranges::any_of(told_views_, [&](const ToldView& v) {
            return v.region.base == o.region.base;
          }))
        for (const uint64_t number : ViewsApart::from(*this, o.region.base, o.region.through))
          read.insert(number);
  // Python may be called when these end.
  std::vector<ToldView> stay, gone;
  for (ToldView& v : told_views_) {
    const bool known = view(v.region.base, v.view.number) != nullptr;
    const bool needed = known && (v.alive() || read.contains(v.view.number));
    (needed ? stay : gone).push_back(std::move(v));
  }
  told_views_ = std::move(stay);
}

void Tape::tell_view(const Array& a, Entry::Told told, std::function<bool()> alive) {
  const KnownView* const v = view(a.base->id, a.through);
  if (!v) raise(ErrorKind::Runtime, "tell_view", "no view", "an array", "a view of a tensor");
  require_unwritten(a.base->id, *v);
  told_views_.push_back({Region(a.view()), *v, std::move(told), std::move(alive)});
}

}  // namespace numbus::program
