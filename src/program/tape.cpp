// The life of a tape's entries.
#include "program/tape.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

// The bases that an entry keeps: what it reads and what is saved for it. Its own results are none
// of them, so that what is changed in place does not keep itself.
template <class F>
void each_read(const Entry& e, F&& f) {
  Few<uint64_t, 16> seen;
  for (const Operand& o : e.results) seen.push_back(o.region.base);
  auto once = [&](uint64_t base) {
    if (seen.contains(base)) return;
    seen.push_back(base);
    f(base);
  };
  for (const Operand& o : e.operands)
    if (o.active) once(o.region.base);
  for (const auto* all : {&e.operands, &e.results})
    for (const Operand& o : *all)
      if (o.saved) once(o.saved->base->id);
}

// While it lives, entries stay but those that are dropped one by one.
struct Hold {
  bool& held;
  bool before = std::exchange(held, true);
  ~Hold() { held = before; }
};

}  // namespace

Tape& Tape::get() {
  static Tape* const tape = new Tape;  // it outlives all tensors
  return *tape;
}

void Tape::added(const Entry& e, int64_t number) {
  each_read(e, [&](uint64_t base) { refer(base); });
  for (const Operand& o : e.results)
    if (o.active) bases_.of(o.region.base).writers.push_back(number);
}

void Tape::keep(Use u, const Array& kept) {
  const Entry& e = numbered(u.entry);
  std::vector<uint64_t> before;
  each_read(e, [&](uint64_t base) { before.push_back(base); });
  Program::keep(u, kept);
  each_read(e, [&](uint64_t base) { refer(base); });
  for (const uint64_t base : before) unrefer(base);
}

void Tape::unrefer(uint64_t base) {
  KnownBase* const known = bases_.find(base);
  if (!known || known->references == 0 || --known->references > 0) return;
  unreached_.push_back(base);
}

void Tape::release(uint64_t base) {
  unrefer(base);
  drop_unreached();
}

void Tape::unwatch(const Array& a) {
  KnownBase* const known = bases_.find(a.base->id);
  if (known && known->writers.empty()) known->active = known->watched = false;
  bases_.tidy(a.base->id);
}

bool Tape::reached(const Entry& e) const {
  return std::ranges::any_of(e.results,
                             [&](const Operand& o) { return o.active && referred(o.region.base); });
}

void Tape::drop(int64_t number) {
  Entry& e = numbered(number);
  if (e.gone()) return;
  each_read(e, [&](uint64_t base) { unrefer(base); });
  for (const auto* all : {&e.operands, &e.results})
    for (const Operand& o : *all)
      if (o.saved)
        if (KnownBase* const known = bases_.find(o.saved->base->id);
            known && !known->saved.empty()) {
          known->saved.erase_if([&](const Use& u) { return u.entry == number; });
          saved_ -= known->saved.empty();
          bases_.tidy(known->id);
        }
  for (const Operand& o : e.results)
    if (KnownBase* const known = bases_.find(o.region.base); known && !known->writers.empty()) {
      known->writers.erase_if([&](int64_t writer) { return writer == number; });
      if (known->references == 0) unreached_.push_back(known->id);
    }
  ++gone_;
  // Python may be called when these end.
  const auto operands = std::exchange(e.operands, {}), results = std::exchange(e.results, {});
  const auto held = std::exchange(e.held, {});
  const auto pullback = std::exchange(e.pullback, {});
  const auto told = std::exchange(e.told, {});
  e.function.reset();
}

void Tape::end_pulling() {
  end_recording();
  --pulled_;
  drop_unreached();
}

// What Python does meanwhile adds to the list.
void Tape::drop_unreached() {
  if (held_ || pulled_) return;
  {
    const Hold hold{held_};
    while (!unreached_.empty()) {
      const uint64_t base = unreached_.back();
      unreached_.pop_back();
      const KnownBase* known = bases_.find(base);
      if (!known || known->references > 0) continue;
      if (!known->writers.empty()) {
        const std::vector<int64_t> writers(known->writers.begin(), known->writers.end());
        for (const int64_t number : writers)
          if (!reached(numbered(number))) drop(number);
      }
      KnownBase* const rest = bases_.find(base);
      if (!rest || rest->references > 0 || !rest->writers.empty()) continue;
      rest->active = rest->watched = rest->spent = false;
      bases_.tidy(base);
    }
  }
  trim();
}

void Tape::follow(Walk& walk, bool saved) const {
  while (!walk.next.empty()) {
    const uint64_t base = walk.next.back();
    walk.next.pop_back();
    const KnownBase* const known = bases_.find(base);
    if (!known) continue;
    for (const int64_t number : known->writers)
      if (walk.entries.insert(number).second) {
        const Entry& e = entries_[static_cast<size_t>(number - first_)];
        if (saved) each_read(e, [&](uint64_t read) { walk.reach(read); });
        for (const Operand& o : e.operands)
          if (o.active) walk.reach(o.region.base);
      }
  }
}

std::vector<uint64_t> Tape::reached_from(const Array& a) const {
  Walk walk;
  walk.reach(a.base->id);
  follow(walk, false);
  return {walk.bases.begin(), walk.bases.end()};
}

void Tape::drop_circles(bool always) {
  if (held_ || recorded_ || (!always && entries_.size() - gone_ < walk_at_)) return;
  std::unordered_map<uint64_t, int> held;
  bases_.each([&](const KnownBase& known) {
    if (known.references > 0) held.emplace(known.id, known.references);
  });
  for (const Entry& e : entries_)
    if (!e.gone())
      each_read(e, [&](uint64_t base) {
        if (const auto found = held.find(base); found != held.end() && --found->second == 0)
          held.erase(found);
      });
  Walk walk;
  for (const auto& [base, count] : held) walk.reach(base);
  follow(walk, true);
  {
    const Hold hold{held_};
    const int64_t end = now();
    for (int64_t number = first_; number < end; ++number)
      if (!walk.entries.contains(number)) drop(number);
  }
  drop_unreached();
  walk_at_ = std::max<size_t>(256, 2 * (entries_.size() - gone_));
}

void Tape::trim() {
  if (held_) return;
  while (!entries_.empty() && entries_.front().gone()) {
    entries_.pop_front();
    ++first_;
    --gone_;
  }
  while (!entries_.empty() && entries_.back().gone()) {
    entries_.pop_back();
    --gone_;
  }
  if (now() < last_view_) {  // the numbers of those that went are given once more
    const auto before = [&](KnownView& v) { v.created = std::min(v.created, now()); };
    for (ToldView& v : told_views_) before(v.view);
    bases_.each([&](KnownBase& known) {
      for (KnownView& v : known.views) before(v);
    });
    last_view_ = now();
  }
  constexpr size_t kMany = 4096;
  if (gone_ > kMany && gone_ > entries_.size() / 2) renumber();
}

void Tape::renumber() {
  std::vector<int64_t> stay;  // the numbers of entries, which keep their order
  std::deque<Entry> rest;
  for (size_t n = 0; n < entries_.size(); ++n)
    if (!entries_[n].gone()) {
      stay.push_back(first_ + static_cast<int64_t>(n));
      rest.push_back(std::move(entries_[n]));
    }
  entries_ = std::move(rest);
  gone_ = 0;
  // Of an entry that stays, or of the first one after it that does.
  const auto renumbered = [&](int64_t number) {
    return first_ + (std::ranges::lower_bound(stay, number) - stay.begin());
  };
  for (ToldView& v : told_views_) v.view.created = renumbered(v.view.created);
  bases_.each([&](KnownBase& known) {
    for (Use& u : known.saved) u.entry = renumbered(u.entry);
    for (int64_t& number : known.writers) number = renumbered(number);
    for (KnownView& v : known.views) v.created = renumbered(v.created);
  });
}

void Tape::settle(int64_t since) {
  for (int64_t n = now(); n-- > std::max(since, first_);) {
    const Entry& e = numbered(n);
    if (!e.gone() && !reached(e))
      for (const Operand& o : e.results) unreached_.push_back(o.region.base);
  }
  drop_unreached();
}

int64_t Tape::writer(const Array& a) const {
  const KnownBase* const known = bases_.find(a.base->id);
  return known && !known->writers.empty() ? known->writers.back() : -1;
}

bool Tape::reads(int64_t writer, const Array& a) const {
  for (size_t n = static_cast<size_t>(std::max(writer + 1 - first_, int64_t{0}));
       n < entries_.size(); ++n)
    for (const Operand& o : entries_[n].operands)
      if (o.active && o.region.base == a.base->id) return true;
  return false;
}

void Tape::tell(int64_t writer, const Array& a, Entry::Told told) {
  numbered(writer).told.emplace_back(Region(a.view()), std::move(told));
}

// For each milestone the first entry that reads any of its bases, the last ones first.
std::vector<std::pair<size_t, const Tape::Milestone*>> Tape::first_reads(
    std::span<const Milestone> milestones) const {
  std::unordered_map<uint64_t, size_t> owner;
  for (size_t m = 0; m < milestones.size(); ++m)
    for (const uint64_t base : milestones[m].bases) owner[base] = m;
  std::vector<std::pair<size_t, const Milestone*>> found;
  std::vector<bool> known(milestones.size(), false);
  for (size_t n = 0; n < entries_.size() && found.size() < milestones.size(); ++n)
    for (const Operand& o : entries_[n].operands) {
      const auto m = o.active ? owner.find(o.region.base) : owner.end();
      if (m == owner.end() || known[m->second]) continue;
      known[m->second] = true;
      found.emplace_back(n, &milestones[m->second]);
    }
  std::ranges::reverse(found);
  for (size_t m = 0; m < milestones.size(); ++m)
    if (!known[m]) found.emplace_back(0, &milestones[m]);
  return found;
}

std::shared_ptr<Adjoints> Tape::backward(std::span<const Array> outputs,
                                         std::span<const Array> seeds, bool keep,
                                         std::span<const Milestone> milestones,
                                         std::vector<int64_t>* which, std::vector<ToldView> apart,
                                         std::span<const Array> targets) {
  forget_told_views();
  std::optional<Way> way;
  if (!targets.empty() &&
      (!told_views_.empty() ||
       std::ranges::any_of(entries_, [](const Entry& e) { return !e.told.empty(); })))
    way.emplace(*this, targets);
  std::ranges::copy_if(told_views_, std::back_inserter(apart),
                       [&](const ToldView& v) { return !way || way->leads_over(v); });
  auto adjoints = std::make_shared<Adjoints>();
  std::vector<int64_t> passed;
  // Entries stay until derivatives are found, whoever lets go of tensors meanwhile.
  {
    const Hold hold{held_};
    ViewsApart views(*this, std::move(apart));
    struct Heard {
      Adjoints& adjoints;
      ~Heard() { adjoints.listener = nullptr; }
    } const heard{*adjoints};
    if (!views.empty()) adjoints->listener = &views;
    for (size_t n = 0; n < outputs.size(); ++n)
      if (depends(outputs[n])) adjoints->add(Region(outputs[n].view()), seeds[n]);
    const auto ahead = first_reads(milestones);
    auto next = ahead.begin();
    std::function<void(size_t)> tell;
    if (!ahead.empty() || !views.empty())
      tell = [&](size_t n) {
        for (; next != ahead.end() && next->first >= n; ++next) next->second->told(adjoints);
        views.passed(*adjoints, n == 0 ? 0 : first_ + static_cast<int64_t>(n));
      };
    if (!views.empty()) views.passed(*adjoints, now());
    pull_all(
        entries_, *adjoints, [&](size_t n) { passed.push_back(first_ + static_cast<int64_t>(n)); },
        tell,
        way ? [&](const Entry& e) { return way->leads_over(e); }
            : std::function<bool(const Entry&)>());
    if (tell) tell(0);
    for (const uint64_t base : adjoints->bases())
      if (is_spent(base))
        raise(ErrorKind::Runtime, "backward",
              "what was recorded has been let go by an earlier call",
              "a second derivative by the same operations", "backward(retain_graph=True) before");
    if (!keep) spend(passed);
  }
  drop_unreached();
  if (which) which->insert(which->end(), passed.begin(), passed.end());
  return adjoints;
}

// Entries whose derivative needs no values stay as long as tensors reach them, where all that they
// read is theirs or a leaf's: `x = leaf.float()` may be read by one pass after another.
void Tape::spend(std::span<const int64_t> numbers) {
  std::vector<int64_t> order(numbers.begin(), numbers.end());
  if (!std::ranges::is_sorted(order)) std::ranges::reverse(order);
  if (!std::ranges::is_sorted(order)) std::ranges::sort(order);
  const auto saves = [](const Operand& o) { return o.saved.has_value(); };
  std::vector<int64_t> spent;
  for (const int64_t n : order) {
    const Entry& e = numbered(n);
    if (!e.pullback && std::ranges::none_of(e.operands, saves) &&
        std::ranges::none_of(e.results, saves) &&
        std::ranges::none_of(e.operands,
                             [&](const Operand& o) { return o.active && is_spent(o.region.base); }))
      continue;
    for (const Operand& o : e.results)
      if (o.active) bases_.of(o.region.base).spent = true;
    spent.push_back(n);
  }
  std::ranges::reverse(spent);
  for (const int64_t n : spent) drop(n);
}

void Tape::pass(std::span<const int64_t> numbers) {
  {
    const Hold hold{held_};
    spend(numbers);
  }
  drop_unreached();
}

}  // namespace numbus::program
