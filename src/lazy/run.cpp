// Filling in runs, and looking them up.
#include "lazy/run.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace numbus {
namespace {

constexpr size_t kMaxPlans = 4096;
constexpr size_t kRecent = 4096;  // a power of two
constexpr size_t kMaxSiblings =
    16;  // plans of one key, told apart by the answers to their questions
constexpr size_t kRunsOfPlan = 8;
// Windows of one plan that have a run each before the next ones, on a device that launches runs as
// one, share the last whose calls are of the same layouts: parts of one array, for instance.
constexpr size_t kRunsOfTheirOwn = 4;
constexpr size_t kFewSteps = 3;  // fewer gain nothing by being launched together

template <class From, class To>
void copy_vector(const std::vector<From>& from, std::vector<To>& to, auto&& convert) {
  to.reserve(from.size());
  for (const From& f : from) to.push_back(convert(f));
}

// The step without its numbers, which are filled in later.
KernelStep step_of(const PlanStep& p) {
  KernelStep s;
  static_cast<StepBase&>(s) = p;
  s.params.resize(p.params.size());
  s.shape.resize(p.shape.size());
  copy_vector(p.patches, s.patches, [](const PatchOf<Number>& x) {
    return Patch{x.word, x.storage, 0, x.scalar, x.dtype, x.written};
  });
  copy_vector(p.reduces, s.reduces, [](const ReduceOf<Number>& x) {
    return ReduceStep{x.kind,
                      x.in,
                      x.out,
                      x.ddof,
                      x.first_field,
                      x.fields,
                      x.storage,
                      0,
                      std::vector<int64_t>(x.strides.size())};
  });
  copy_vector(p.checks, s.checks, [](const CheckOf<Number>& x) {
    return Check{static_cast<Check::Kind>(x.kind), x.instr, x.source, x.axis, 0, x.spoils};
  });
  s.report.assign(2 * p.checks.size(), 0);
  s.results.resize(p.reduces.size());
  if (s.call) s.call->layouts.assign(p.layouts.size(), nullptr);
  return s;
}

}  // namespace

Run::Run(std::shared_ptr<const Plan> p) : plan(std::move(p)), values_(plan->formulas.constants()) {
  auto target = [&](int64_t* to, Number n, bool place = false) {
    if (n.id() < 0)
      *to = n.value();
    else
      targets_.push_back({to, n.id(), place});
  };
  steps.reserve(plan->steps.size());
  for (const PlanStep& from : plan->steps) {
    KernelStep& to = steps.emplace_back(step_of(from));
    std::vector<Number> numbers;
    for_numbers(from, [&](Number n) { numbers.push_back(n); });
    size_t at = 0;
    auto is_place = [&](const int64_t* n) {
      return std::ranges::any_of(to.patches, [&](const Patch& x) { return n == &x.offset; }) ||
             std::ranges::any_of(to.reduces, [&](const ReduceStep& x) { return n == &x.offset; });
    };
    for_numbers(to, [&](int64_t& n) { target(&n, numbers[at++], is_place(&n)); });
    for (size_t k = 0; k < from.layouts.size(); ++k)
      layout_targets_.push_back({&to.call->layouts[k], from.layouts[k]});
  }
  storages.reserve(plan->storages.size());
  for (const PlanStorage& st : plan->storages) {
    storages.push_back({st.slot, 0, st.initial, st.needed, st.overwritten});
    target(&storages.back().nbytes, st.nbytes);
  }
  target(&contracted_bytes, plan->contracted_bytes);
  data.resize(storages.size());
  lost.resize(storages.size());
  taken.reserve(storages.size());
  repeatable = steps.size() >= kFewSteps && std::ranges::all_of(steps, [](const KernelStep& s) {
                 return !s.guards && !s.serial && (!s.call || is_queued_only(s.call->routine));
               });
}

bool Run::fill(const Window& w, const Positions& p) {
  // Until the answers are known to agree, the run goes on serving the window that it served.
  if (!plan->formulas.evaluate(p, values_.data())) return false;
  // What has been made of its launches stays where only addresses differ.
  bool same = !key_.empty();
  key_.clear();
  for (const Target& t : targets_) {
    same = same && (t.place || *t.to == values_[t.from]);
    *t.to = values_[t.from];
  }
  const std::vector<LayoutRef> before = std::exchange(layouts_, w.layouts_);
  auto set = [&](const LayoutTarget& t, const Layout* now) {
    same = same && *t.to == now;
    *t.to = now;
  };
  for (const LayoutTarget& t : layout_targets_) {
    if (t.from->number() >= 0) {
      set(t, p.layouts[t.from->number()]);
      continue;
    }
    auto now = [&](Number n) { return n.id() < 0 ? n.value() : values_[n.id()]; };
    std::vector<int64_t> shape, strides;
    for (Number n : t.from->shape()) shape.push_back(now(n));
    for (Number n : t.from->strides()) strides.push_back(now(n));
    set(t, layouts_.emplace_back(Layout::get(shape, strides, t.from->itemsize())).get());
  }
  if (!same) {
    repeats = 0;
    replay.reset();
    places.clear();
  }
  for (KernelStep& step : steps)
    if (step.call) step.flops = flops_of(*step.call);
  key_ = w.key_;
  return true;
}

bool Run::has_layouts(const Positions& p) const {
  return std::ranges::all_of(layout_targets_, [&](const LayoutTarget& t) {
    return t.from->number() < 0 || *t.to == p.layouts[t.from->number()];
  });
}

// What dies gives its place to what comes, as in a pool; a step's own operands stay until it has
// ended. Where there is little of it, not at once: who takes the place waits for those who read it.
void Run::place(const Window& w) {
  constexpr int64_t kAlignment = 256;
  constexpr int64_t kLittle = 48 << 20;  // less than the caches of a large GPU
  constexpr int kLater = 24;             // steps
  struct Free {
    int64_t offset, bytes;
    int since;
  };
  std::vector<char> dies(storages.size());
  for (const KernelStep& step : steps)
    for (int s : step.free_after) dies[s] = 1;
  places.assign(storages.size(), -1);
  rooms.assign(storages.size(), 0);
  arena_bytes = 0;
  std::vector<Free> free;                       // by offset
  std::vector<int64_t> taken(storages.size());  // bytes
  int now = 0;
  auto find = [&](int64_t n, bool early) {
    return std::ranges::find_if(
        free, [&](const Free& f) { return f.bytes >= n && (early || now - f.since >= kLater); });
  };
  auto give = [&](int s) {
    if (!dies[s] || places[s] >= 0) return;
    const int64_t bytes =
        storages[s].slot >= 0 ? w.slots_[storages[s].slot].base->nbytes : storages[s].nbytes;
    const int64_t n = (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    taken[s] = rooms[s] = n;
    auto at = find(n, false);
    if (at == free.end() && arena_bytes + n > kLittle) at = find(n, true);
    if (at == free.end()) {
      places[s] = arena_bytes;
      arena_bytes += n;
      return;
    }
    places[s] = at->offset;
    at->offset += n;
    at->bytes -= n;
  };
  for (const KernelStep& step : steps) {
    for (const Patch& p : step.patches)
      if (p.storage >= 0) give(p.storage);
    for (const ReduceStep& r : step.reduces) give(r.storage);
    for (int s : step.free_after)
      if (places[s] >= 0 && taken[s] > 0)
        free.push_back({places[s], std::exchange(taken[s], 0), now});
    std::ranges::sort(free, {}, &Free::offset);
    std::vector<Free> merged;
    for (const Free& f : free) {
      if (f.bytes == 0) continue;
      if (!merged.empty() && merged.back().offset + merged.back().bytes == f.offset) {
        merged.back().bytes += f.bytes;
        merged.back().since = std::max(merged.back().since, f.since);
      } else {
        merged.push_back(f);
      }
    }
    free = std::move(merged);
    ++now;
  }
}

std::shared_ptr<Run> PlanCache::free_run(Entry& e, const Window& w) {
  if (e.runs.size() >= kRunsOfTheirOwn && !w.slots_.empty() &&
      !w.slots_.front().base->device->host_readable())
    for (auto r = e.runs.rbegin(); r != e.runs.rend(); ++r)
      if (!(*r)->busy && (*r)->repeatable && (*r)->has_layouts(positions_)) return *r;
  if (e.runs.size() < kRunsOfPlan) return e.runs.emplace_back(std::make_shared<Run>(e.plan));
  for (size_t n = 0; n < e.runs.size(); ++n) {
    std::shared_ptr<Run>& r = e.runs[e.next++ % e.runs.size()];
    if (!r->busy) return r;
  }
  return std::make_shared<Run>(e.plan);
}

// Runs that are found by their windows do not move their plan in the list: those that were used
// since the plan was looked at last give it a second chance.
void PlanCache::drop_oldest() {
  auto oldest = std::prev(entries_.end());
  auto used = [](Entry& e) {
    bool any = false;
    for (const std::shared_ptr<Run>& r : e.runs) any = std::exchange(r->used, false) || any;
    return any;
  };
  while (used(*oldest)) {
    entries_.splice(entries_.begin(), entries_, oldest);
    oldest = std::prev(entries_.end());
  }
  auto at = by_hash_.find(oldest->hash);
  std::erase(at->second, oldest);
  if (at->second.empty()) by_hash_.erase(at);
  entries_.erase(oldest);
}

void PlanCache::clear() {
  recent_.clear();
  by_hash_.clear();
  entries_.clear();
}

std::shared_ptr<Run>& PlanCache::recent(const Window& w) {
  if (recent_.empty()) recent_.resize(kRecent);
  return recent_[hash_words(w.key_.data(), w.key_.size()) & (kRecent - 1)];
}

std::shared_ptr<Run> PlanCache::find(const Window& w) {
  std::shared_ptr<Run>& recent = this->recent(w);
  if (recent && !recent->busy && recent->serves(w)) {
    recent->used = true;
    return recent;
  }
  positions_.read(w);
  auto found = by_hash_.find(positions_.hash);
  if (found == by_hash_.end()) return nullptr;
  std::vector<Entries::iterator>& siblings = found->second;
  for (size_t n = 0; n < siblings.size(); ++n) {
    Entry& e = *siblings[n];
    if (e.plan->key != positions_.key) continue;
    std::shared_ptr<Run> run = free_run(e, w);
    if (!run->fill(w, positions_)) continue;
    entries_.splice(entries_.begin(), entries_, siblings[n]);
    std::rotate(siblings.begin(), siblings.begin() + static_cast<std::ptrdiff_t>(n),
                siblings.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    return recent = run;
  }
  return nullptr;
}

std::shared_ptr<Run> PlanCache::make(const Window& w) {
  std::shared_ptr<const Plan> plan = make_plan(w, positions_);
  std::vector<Entries::iterator>& siblings = by_hash_[positions_.hash];
  if (siblings.size() >= kMaxSiblings) {
    auto last = siblings.back();
    siblings.pop_back();
    entries_.erase(last);
  }
  siblings.reserve(siblings.size() + 1);  // an entry that is nobody's sibling could not be found
  entries_.push_front({plan, positions_.hash, {}, 0});
  siblings.insert(siblings.begin(), entries_.begin());
  std::shared_ptr<Run> run = free_run(entries_.front(), w);
  if (!run->fill(w, positions_))
    raise(ErrorKind::Runtime, "planner: a plan does not fit its own window");
  if (entries_.size() > kMaxPlans) drop_oldest();
  return recent(w) = run;
}

}  // namespace numbus
