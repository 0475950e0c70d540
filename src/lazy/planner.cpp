// Fusion: one pass over the window, each instruction joining the groups it may share a kernel with.
#include "lazy/planner.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "lazy/reduce.h"
#include "ops/is_function.h"

namespace numbus {
namespace {

constexpr size_t kMaxGroupInstrs = 96;

// An access as seen from the group's domain: the byte offset of the domain's origin.
Number origin(const Access& a, const Member& m, const std::vector<Number>& shift) {
  Number o = a.offset;
  for (int d = 0; d < a.layout->ndim(); ++d) {
    const Number at = shift.empty() ? m.at[d] : m.at[d] + shift[d];
    if (at.identity() != 0) o -= at * a.layout->stride(d);
  }
  return o;
}

// Whether both are seen to be the same access of the group's domain without a question.
bool plainly_same(const Access& a, const Member& of_a, const Access& b, const Member& of_b) {
  if (a.layout != b.layout || a.dtype != b.dtype || a.spread || b.spread ||
      a.offset.identity() != b.offset.identity())
    return false;
  return std::ranges::equal(of_a.at, of_b.at, {}, &Number::identity, &Number::identity);
}

bool same_strides(const PlanLayout& x, const PlanLayout& y, const std::vector<Number>& domain) {
  if (&x == &y) return true;
  if (x.ndim() != y.ndim()) return false;
  for (int d = 0; d < x.ndim(); ++d)
    if (domain[d] > 1 && x.stride(d) != y.stride(d)) return false;
  return true;
}

// Whether the strides give every point of the domain an address of its own. (Those of a small array
// embedded in a larger domain need not: then only the same points of the array are the same points
// of the domain.)
bool injective_over(const PlanLayout& l, const std::vector<Number>& domain) {
  std::vector<std::pair<Number, Number>> dims;
  for (int d = 0; d < l.ndim(); ++d)
    if (domain[d] > 1) dims.emplace_back(abs(l.stride(d)), domain[d]);
  std::sort(dims.begin(), dims.end(),
            [](const auto& x, const auto& y) { return x.first < y.first; });
  Number reach = 0;
  for (auto [stride, extent] : dims) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

// Whether a reduction's result depends on the order of its elements.
bool rounds_by_order(const Instr& i) {
  return i.code == Instr::Reduce && is_inexact(i.loop) &&
         (i.reduction == Reduction::Sum || i.reduction == Reduction::Prod ||
          i.reduction == Reduction::Var);
}

// The element size that the order of a group's sums may depend on (a GPU's threads take 16 bytes at
// a time), or 0.
int rounding_size(const Planner& p, const Group& g) {
  int size = 0;
  for (const Member& m : g.members)
    if (rounds_by_order(p.instrs[m.instr].instr))
      size = std::max(size, itemsize(real_of(p.instrs[m.instr].instr.loop)));
  return size;
}

// Whether accesses that are identical over a group's own domain are so over a larger one, too:
// along an extent of one any two strides agree, along the larger domain's they need not.
bool stays_identical(const Group& g, const std::vector<Number>& larger) {
  const std::vector<PointAccess>& all = g.accesses;
  for (size_t n = 0; n < all.size(); ++n)
    for (size_t m = 0; m < n; ++m) {
      const PointAccess &x = all[n], &y = all[m];
      if (x.access->storage != y.access->storage || !(x.write || y.write) || x.result || y.result)
        continue;
      if (same_strides(*x.access->layout, *y.access->layout, g.shape) &&
          !same_strides(*x.access->layout, *y.access->layout, larger))
        return false;
    }
  return true;
}

}  // namespace

Planner::Planner(const Window& w, Questions& q, Repeats r) : window(w), questions(q), repeats(r) {
  for (size_t s = 0; s < w.slots_.size(); ++s) {
    int slot = static_cast<int>(s);
    storages.push_back({slot, q.bytes(slot), w.slots_[s].base->has_elements(), true});
    current.push_back(static_cast<int>(s));
  }
}

void Planner::find_dependences() {
  // Most pairs have no storage in common: those that read or write one, by its number.
  std::vector<InstrSet> touching(storages.size());
  for (size_t i = 0; i < instrs.size(); ++i) {
    InstrSet before;
    for_accesses(instrs[i], [&](const Access& a, bool, bool) { before |= touching[a.storage]; });
    for (size_t j = before._Find_first(); j < i; j = before._Find_next(j)) {
      bool conflict = false;
      for_accesses(instrs[i], [&](const Access& a, bool wa, bool) {
        for_accesses(instrs[j], [&](const Access& b, bool wb, bool) {
          if (!conflict && (wa || wb)) conflict = identical(a, b) || crosses(a, b);
        });
      });
      if (conflict) instrs[i].needs.set(j);
    }
    for_accesses(instrs[i], [&](const Access& a, bool, bool) { touching[a.storage].set(i); });
  }
}

void Planner::find_accesses(Group& g) const {
  g.accesses.clear();
  g.touches.reset();
  g.writes.reset();
  for (size_t m = 0; m < g.members.size(); ++m) {
    for_accesses(instrs[g.members[m].instr], [&](const Access& a, bool write, bool result) {
      g.accesses.push_back({&a, static_cast<int>(m), write, result});
      g.touches.set(a.storage & (kFilter - 1));
      if (write) g.writes.set(a.storage & (kFilter - 1));
    });
  }
}

bool Planner::embed(const Group& big, const Group& small, std::vector<Number>& at) const {
  size_t n = big.shape.size();
  if (small.shape.size() != n) return false;
  for (size_t d = 0; d < n; ++d)
    if (small.shape[d] > big.shape[d] || small.shape[d] == 0) return false;
  // An access both make to one storage, one of them writing, must coincide: that fixes the offset.
  for (const PointAccess& x : big.accesses) {
    if (!(x.write ? small.touches : small.writes).test(x.access->storage & (kFilter - 1))) continue;
    for (const PointAccess& y : small.accesses) {
      if (x.access->storage != y.access->storage || !(x.write || y.write) || x.result || y.result)
        continue;
      if (x.access->spread || y.access->spread) continue;
      const Member &of_x = big.members[x.member], &of_y = small.members[y.member];
      const PlanLayout& l = *y.access->layout;
      if (!same_strides(*x.access->layout, l, small.shape)) continue;
      const PlanLayout& steps = *x.access->layout;
      if (&steps == &l &&
          x.access->offset == y.access->offset) {  // the same view: where it is known already
        at.assign(n, 0);
        bool ok = true;
        for (size_t d = 0; d < n; ++d) {
          at[d] = of_x.at[d] - of_y.at[d];
          ok = ok && at[d] >= 0 && at[d] + small.shape[d] <= big.shape[d];
        }
        if (ok) return true;
        continue;
      }
      Number delta = origin(*y.access, of_y, {}) - origin(*x.access, of_x, {});
      std::vector<int> dims(n);
      for (size_t d = 0; d < n; ++d) dims[d] = static_cast<int>(d);
      std::sort(dims.begin(), dims.end(),
                [&](int p, int q) { return steps.stride(p) > steps.stride(q); });
      at.assign(n, 0);
      bool ok = true;
      // Only where each stride steps over all that the smaller ones reach is the decomposition
      // unique.
      Number reach = 0;
      for (size_t k = n; k-- > 0;) {
        if (big.shape[dims[k]] == 1) continue;
        ok = ok && steps.stride(dims[k]) > reach;
        reach += steps.stride(dims[k]) * (big.shape[dims[k]] - 1);
      }
      for (int d : dims) {
        if (big.shape[d] == 1) continue;
        Number s = steps.stride(d);
        if (s <= 0) {
          ok = ok && s == 0 && small.shape[d] == big.shape[d];
          continue;
        }
        at[d] = delta / s;
        ok = ok && at[d] >= 0 && at[d] + small.shape[d] <= big.shape[d];
        delta -= at[d] * s;
      }
      if (ok && delta == 0) return true;
    }
  }
  return false;
}

bool Planner::read_between(int storage, int first, int last) const {
  for (int i = first + 1; i <= last; ++i)
    for (int n = 0; n < instrs[i].inputs(); ++n)
      if (instrs[i].in[n].storage == storage) return true;
  return false;
}

// Rule 2: accesses to one storage, one of them a write, must be the identical access, or reach
// disjoint bytes.
bool Planner::compatible(const Group& a, const std::vector<Number>& shift_a, const Group& b,
                         const std::vector<Number>& shift_b) const {
  const std::vector<Number>& domain = shift_a.empty() ? a.shape : b.shape;
  for (const PointAccess& x : a.accesses) {
    if (!(x.write ? b.touches : b.writes).test(x.access->storage & (kFilter - 1))) continue;
    for (const PointAccess& y : b.accesses) {
      if (x.access->storage != y.access->storage || !(x.write || y.write)) continue;
      if (x.result || y.result) return false;
      const Member &of_x = a.members[x.member], &of_y = b.members[y.member];
      const bool plain =
          shift_a.empty() && shift_b.empty() && plainly_same(*x.access, of_x, *y.access, of_y);
      bool same =
          plain || (x.access->dtype == y.access->dtype && !x.access->spread && !y.access->spread &&
                    same_strides(*x.access->layout, *y.access->layout, domain) &&
                    origin(*x.access, of_x, shift_a) == origin(*y.access, of_y, shift_b));
      for (size_t d = 0; !plain && same && d < domain.size(); ++d) {
        Number ax = of_x.at[d] + (shift_a.empty() ? Number(0) : shift_a[d]),
               ay = of_y.at[d] + (shift_b.empty() ? Number(0) : shift_b[d]);
        if (ax == ay && x.access->layout->shape(static_cast<int>(d)) ==
                            y.access->layout->shape(static_cast<int>(d)))
          continue;
        same = injective_over(*x.access->layout, domain);
        break;
      }
      if (same) {
        // A result that is overwritten unread was asked for all the same: its store needs a kernel
        // of its own.
        bool overwrites = x.write && y.write && x.access->layout->same_shape(*y.access->layout);
        int first = std::min(of_x.instr, of_y.instr), last = std::max(of_x.instr, of_y.instr);
        if (overwrites && !instrs[last].instr.predicated &&
            !read_between(x.access->storage, first, last))
          return false;
        continue;
      }
      if (questions.overlap(x.access->offset, *x.access->layout, y.access->offset,
                            *y.access->layout))
        return false;
    }
  }
  return true;
}

// The same computation asked for again by the same line of the program is a loop at work, perhaps
// under a stopwatch: it is done again, in a kernel where nothing can merge the two.
bool Planner::repeats_request(const Group& a, const Group& b) const {
  for (const Member& x : a.members)
    for (const Member& y : b.members)
      if (instrs[x.instr].source != instrs[y.instr].source &&
          same_request(instrs[x.instr].instr, instrs[y.instr].instr))
        return true;
  return false;
}

// Is there a -> third -> ... -> b, or the reverse? Groups do not depend on each other in a circle,
// so that a third one in between is one which an end follows at once and which depends on the
// other.
bool Planner::path_through_third(int a, int b) const {
  for (auto [from, to] : {std::pair{b, a}, std::pair{a, b}}) {
    const InstrSet& end = groups[to].set;
    if ((groups[from].above & end).none()) continue;
    InstrSet open = groups[from].needs & ~groups[from].set & ~end;
    for (size_t i = open._Find_first(); i < open.size(); i = open._Find_next(i)) {
      const Group& third = groups[group_of_[i]];
      if ((third.above & end).any()) return true;
      open &= ~third.set;
    }
  }
  return false;
}

void Planner::find_above(Group& g) const {
  g.above = g.needs & ~g.set;
  InstrSet open = g.above;
  for (size_t i = open._Find_first(); i < open.size(); i = open._Find_next(i)) {
    const Group& other = groups[group_of_[i]];
    g.above |= other.set | other.above;
    open &= ~other.set;
  }
  g.above &= ~g.set;
}

void Planner::tell_above(int merged) {
  const Group& g = groups[merged];
  const InstrSet all = g.set | g.above;
  for (Group& other : groups)
    if ((other.above & g.set).any()) other.above |= all;
}

namespace {

Number reduced_points(const Group& g) {
  Number n = 1;
  for (size_t d = 0; d < g.shape.size(); ++d)
    if (g.axes >> d & 1) n *= g.shape[d];
  return n;
}

// What a point of a group's functions takes, in bytes that take as long to move.
int64_t weight_of_functions(const Planner& p, const Group& g) {
  constexpr int64_t kFunction = 24;
  int64_t weight = 0;
  for (const Member& m : g.members) {
    const Instr& i = p.instrs[m.instr].instr;
    if (i.code == Instr::Map && is_inexact(i.loop) && is_function(i.op)) weight += kFunction;
  }
  return weight;
}

// A box in a larger domain is computed at all points of that domain. Where its functions take
// longer there than it takes to store what it reads and to read that again, it keeps its own
// domain.
bool wastes_functions(const Planner& p, const Group& small, const Group& big) {
  constexpr int64_t kMoved = 16, kLaunch = 1 << 16;
  const int64_t weight = weight_of_functions(p, small);
  if (weight == 0) return false;
  Number inner = 1, outer = 1;
  for (size_t d = 0; d < big.shape.size(); ++d) {
    inner *= small.shape[d];
    outer *= big.shape[d];
  }
  const Number wasted = weight * (outer - inner);
  return wasted > kLaunch && wasted > kMoved * outer;
}

}  // namespace

bool Planner::try_merge(int ia, int ib) {
  Group &a = groups[ia], &b = groups[ib];
  if (a.solo || b.solo || a.shape.size() != b.shape.size()) return false;
  if (!repeats.count && a.members.size() + b.members.size() > kMaxGroupInstrs) return false;
  if (a.scalar() != b.scalar()) return false;
  if (a.reduces && b.reduces && (a.axes != b.axes || a.walk != b.walk)) return false;
  if (path_through_third(ia, ib)) return false;
  if (a.reduces && b.reduces) {
    int x = rounding_size(*this, a), y = rounding_size(*this, b);
    if (x && y && x != y) return false;
    // Short rows are walked in another way where indices count, and with that in another order.
    if (a.counts != b.counts && reduced_points(a) <= kShortRow) return false;
  }
  std::vector<Number> shift_a, shift_b;
  if (a.shape != b.shape) {
    std::vector<Number> at;
    if (embed(a, b, at)) {
      shift_b = at;
    } else if (embed(b, a, at)) {
      shift_a = at;
    } else {
      return false;
    }
    const Group& inner = shift_b.empty() ? a : b;
    if (wastes_functions(*this, inner, shift_b.empty() ? b : a)) return false;
    // A reduction over a box inside a larger domain is predicated, which only a full one can be.
    uint64_t all = all_axes(static_cast<int>(inner.shape.size()));
    if ((a.reduces && a.axes != all) || (b.reduces && b.axes != all)) return false;
    if (a.counts || b.counts) return false;
    // Places count in the larger domain, and with them the order of a sum would depend on fusion.
    for (const Member& m : inner.members)
      if (rounds_by_order(instrs[m.instr].instr)) return false;
  }
  if (!shift_b.empty() && !stays_identical(b, a.shape)) return false;
  if (!shift_a.empty() && !stays_identical(a, b.shape)) return false;
  if (!compatible(a, shift_a, b, shift_b)) return false;
  if (repeats_request(a, b)) return false;
  Group merged;
  auto take = [&](const Group& g, const std::vector<Number>& shift) {
    for (Member m : g.members) {
      for (size_t d = 0; d < shift.size(); ++d) m.at[d] += shift[d];
      merged.members.push_back(std::move(m));
    }
  };
  take(a, shift_a);
  take(b, shift_b);
  std::sort(merged.members.begin(), merged.members.end(),
            [](const Member& x, const Member& y) { return x.instr < y.instr; });
  merged.shape = shift_a.empty() ? a.shape : b.shape;
  merged.set = a.set | b.set;
  merged.needs = a.needs | b.needs;
  for (const Member& m : b.members) group_of_[m.instr] = ia;
  merged.above = (a.above | b.above) & ~merged.set;
  find_accesses(merged);
  merged.reduces = a.reduces || b.reduces;
  merged.axes = a.reduces ? a.axes : b.axes;
  merged.counts = a.counts || b.counts;
  merged.walk = a.reduces ? a.walk : b.walk;
  groups[ia] = std::move(merged);
  if (ib + 1 == static_cast<int>(groups.size()))
    groups.pop_back();
  else
    groups[ib] = Group{};
  tell_above(ia);
  return true;
}

void Planner::fuse() {
  for (size_t i = 0; i < instrs.size(); ++i) {
    const PlanInstr& p = instrs[i];
    Group g;
    g.members.push_back({static_cast<int>(i), std::vector<Number>(p.shape.size(), 0)});
    g.shape = p.shape;
    find_accesses(g);
    g.set.set(i);
    g.needs = p.needs;
    find_above(g);
    group_of_.push_back(static_cast<int>(groups.size()));
    g.solo = p.solo;
    g.reduces = p.instr.code == Instr::Reduce;
    g.axes = p.instr.axes;
    g.counts = g.reduces ? needs_position(p.instr.reduction) : p.instr.op == Op::index;
    if (g.reduces) {
      const PlanLayout& l = *p.in[0].layout;
      for (int d = 0; d < l.ndim(); ++d) g.walk.push_back(d);
      std::stable_sort(g.walk.begin(), g.walk.end(),
                       [&](int x, int y) { return abs(l.stride(x)) > abs(l.stride(y)); });
    }
    groups.push_back(std::move(g));
    int mine = static_cast<int>(groups.size()) - 1;
    std::bitset<kFilter> touched = groups[mine].touches;
    for (int other = mine - 1; other >= 0; --other) {
      if (other == mine || groups[other].members.empty()) continue;
      if ((groups[other].touches & touched).none() || !try_merge(other, mine)) continue;
      mine = other;
      touched |= groups[mine].touches;
      other = static_cast<int>(groups.size());  // a larger group may now join others
    }
  }
  std::erase_if(groups, [](const Group& g) { return g.members.empty(); });
}

void Planner::order() {
  std::vector<Group> done;
  std::vector<char> ordered(groups.size(), 0);
  InstrSet ready;
  while (done.size() < groups.size()) {
    int pick = -1;
    for (size_t g = 0; g < groups.size(); ++g) {
      if (ordered[g] || (groups[g].needs & ~ready & ~groups[g].set).any()) continue;
      // 0-d work goes right after what it needs, where it can be that kernel's tail.
      if (groups[g].scalar() && !groups[g].solo) {
        pick = static_cast<int>(g);
        break;
      }
      if (pick < 0) pick = static_cast<int>(g);
    }
    if (pick < 0) raise(ErrorKind::Runtime, "planner: groups depend on each other");
    ordered[pick] = 1;
    ready |= groups[pick].set;
    Group& g = groups[pick];
    if (g.scalar() && !g.solo && !done.empty()) {
      const Group& last = done.back();
      int host = last.tail_of >= 0 ? last.tail_of
                 : last.reduces    ? static_cast<int>(done.size()) - 1
                                   : -1;
      if (host >= 0) {
        bool uses = false;
        for (const Member& m : g.members)
          for (size_t h = host; h < done.size(); ++h)
            uses = uses || (instrs[m.instr].needs & done[h].set).any();
        if (uses) g.tail_of = host;
      }
    }
    done.push_back(std::move(g));
  }
  groups = std::move(done);
}

std::vector<int> Planner::spoiled_by(int instr) const {
  std::vector<char> spoiled(storages.size(), 0);
  int target = instrs[instr].out.storage;
  // A scatter that is not done leaves its target as it is; nothing else of the window writes to it.
  bool kept = instrs[instr].instr.scatters();
  spoiled[target] = 1;
  for (size_t i = instr + 1; i < instrs.size(); ++i)
    for_accesses(instrs[i], [&](const Access& a, bool write, bool) {
      if (!write && spoiled[a.storage])
        for_accesses(instrs[i], [&](const Access& made, bool writes, bool) {
          if (writes) spoiled[made.storage] = 1;
        });
    });
  spoiled[target] = !kept;
  std::vector<int> all;
  for (size_t s = 0; s < spoiled.size(); ++s)
    if (spoiled[s]) all.push_back(static_cast<int>(s));
  return all;
}

void Planner::assign_storage(Plan& plan) {
  size_t n = storages.size();
  std::vector<int> first(n, -1), last(n, -1);
  // A value can live in registers only if its first access writes all of it. (Under a predicate
  // too: what it leaves out of fresh storage is nobody's.)
  std::vector<char> read(n, 0), used(n, 0), defined(n, 0);
  for (size_t g = 0; g < groups.size(); ++g)
    for (const Member& m : groups[g].members)
      for_accesses(instrs[m.instr], [&](const Access& a, bool write, bool) {
        if (first[a.storage] < 0) first[a.storage] = static_cast<int>(g);
        last[a.storage] = static_cast<int>(g);
        used[a.storage] = 1;
        if (!write) read[a.storage] = 1;
      });
  for (const PlanInstr& p : instrs) {
    for_accesses(p, [&](const Access& a, bool write, bool result) {
      bool whole = write && !result && !a.spread &&
                   a.layout->size() * a.layout->itemsize() == storages[a.storage].nbytes;
      if (defined[a.storage]) return;
      defined[a.storage] = whole ? 2 : 1;
      storages[a.storage].overwritten = whole && p.instr.code == Instr::Map &&
                                        !p.instr.predicated && !p.instr.scatters() &&
                                        a.layout->injective();
    });
  }
  plan.final_storage = current;
  for (size_t s = 0; s < n; ++s) {
    PlanStorage& st = storages[s];
    const Base* base = st.slot >= 0 ? window.slots_[st.slot].base : nullptr;
    bool is_final = base && current[st.slot] == static_cast<int>(s);
    bool kept = is_final && (base->handles > 0 || base->outside());
    st.needed = used[s] && (kept || st.initial || defined[s] != 2 || first[s] != last[s] ||
                            !read[s] || groups[first[s]].solo);
    if (!st.needed && used[s]) plan.contracted_bytes += st.nbytes;
  }
}

}  // namespace numbus
