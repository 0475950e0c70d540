// From window slots to versioned storages: a write that a kernel could not do in place gets fresh
// storage (rule 4).
#include <algorithm>
#include <cstdlib>

#include "base/hash.h"
#include "lazy/examine.h"
#include "lazy/planner.h"

namespace numbus {
namespace {

// Up to so many elements are copied in no time.
constexpr int64_t kFewElements = 4096;

// The layout of the whole base in which `box` is a rectangle, as far as the box's strides tell it.
const PlanLayout* whole_layout(Questions& q, const PlanLayout& box, Number nbytes) {
  int n = box.ndim();
  if (n == 0) return nullptr;
  std::vector<Number> shape(n);
  Number above = nbytes;
  for (int d = 0; d < n; ++d) {
    Number stride = box.stride(d);
    if (box.shape(d) <= 1 && n > 1) return nullptr;
    if (stride < box.itemsize() || above % stride != 0) return nullptr;
    shape[d] = above / stride;
    if (shape[d] < box.shape(d)) return nullptr;
    above = stride;
  }
  if (above != box.itemsize()) return nullptr;
  return q.contiguous(shape, box.itemsize());
}

// Whether `box` at `offset` is a rectangle of `whole`, not one that wraps around a row's end.
bool inside(const PlanLayout& whole, const PlanLayout& box, Number offset) {
  for (int d = 0; d < whole.ndim(); ++d) {
    Number at = offset / whole.stride(d);
    if (at + box.shape(d) > whole.shape(d)) return false;
    offset -= at * whole.stride(d);
  }
  return offset == 0;
}

}  // namespace

bool identical(const Access& a, const Access& b) {
  return a.storage == b.storage && a.layout == b.layout && a.offset == b.offset &&
         a.dtype == b.dtype && !a.spread && !b.spread;
}

bool crosses(const Access& a, const Access& b) {
  return a.storage == b.storage && !identical(a, b) &&
         Questions::current().overlap(a.offset, *a.layout, b.offset, *b.layout);
}

void Planner::add(const Instr& i, int source) {
  PlanInstr p;
  p.instr = i;
  p.source = source;
  const Layout* domain = i.code == Instr::Reduce ? i.in[0].layout
                         : i.scatters()          ? i.in[1].layout
                                                 : i.out.layout;
  p.shape = questions.layout(domain)->shape();
  auto access = [&](const Operand& o) {
    if (o.slot < 0) return Access{-1, o.imm, o.dtype, nullptr, 0, false};
    int s = current[o.slot];
    return Access{s,    -1, o.dtype, questions.layout(o.layout), questions.offset(o.slot, o.offset),
                  false};
  };
  for (int n = 0; n < p.inputs() + i.more; ++n) p.in[n] = access(i.in[n]);
  p.out = access(i.out);
  p.in[0].spread = i.gathers();
  p.out.spread = i.scatters();
  p.solo =
      i.code == Instr::Call || i.scatters() || (i.code == Instr::Map && !p.out.layout->injective());
  instrs.push_back(std::move(p));
}

// Whether the instruction overwrites all of what an instruction has read, of which NumPy may be
// asked afterwards (look_again.h). Loops stay as they are.
bool Planner::may_be_asked(size_t n) const {
  const Instr& i = window.instrs_[n];
  const PlanInstr& p = instrs.back();
  const Base& base = *window.slots_[i.out.slot].base;
  const int at = static_cast<int>(n) - repeats.first;
  if (i.code != Instr::Map || !base.device->runs_on_host() ||
      (at >= 0 && at < repeats.period * repeats.count) || base.outside() || !base.owned ||
      p.out.layout->size() * p.out.layout->itemsize() != questions.bytes(i.out.slot))
    return false;
  // Writes under a mask make a copy of the rest: of many elements that is too much for what takes
  // no time.
  bool read = false;
  for (const PlanInstr& other : instrs) {
    const Instr& j = other.instr;
    for (int k = 0; k < other.inputs(); ++k) read = read || identical(other.in[k], p.out);
    const bool quick = j.op == Op::add || j.op == Op::subtract || j.op == Op::multiply;
    if (!read || !j.told || j.code != Instr::Map) continue;
    if ((j.op == Op::cast || (i.predicated && quick)) && p.out.layout->size() > kFewElements)
      continue;
    const float_errors::Evidence by = float_errors::evidence_of(j, other.out.dtype);
    if (by == float_errors::Evidence::None) continue;
    // Flags say that there was an error, but not of which of several instructions.
    const bool few = window.instrs_.size() > 1 && p.out.layout->size() <= kFewElements;
    if (by != float_errors::Evidence::Flags || few) return true;
  }
  return false;
}

void Planner::rewrite() {
  for (size_t n = 0; n < window.instrs_.size(); ++n) {
    const Instr& source = window.instrs_[n];
    add(source, static_cast<int>(n));
    PlanInstr& p = instrs.back();
    int slot = source.out.slot;
    if (source.code == Instr::Reduce || source.scatters()) continue;
    bool self = false, earlier = false;
    for (int k = 0; k < p.inputs(); ++k) self = self || crosses(p.in[k], p.out);
    for (size_t j = 0; j + 1 < instrs.size() && !earlier; ++j) {
      for (int k = 0; k < instrs[j].inputs(); ++k) {
        const Access& a = instrs[j].in[k];
        if (a.storage != p.out.storage) continue;
        earlier = earlier ||
                  ((a.spread || a.layout->ndim() == p.out.layout->ndim()) && crosses(a, p.out));
      }
    }
    if (!self && !earlier && !may_be_asked(n)) continue;
    const Base& base = *window.slots_[slot].base;
    const PlanLayout& box = *p.out.layout;
    Number bytes = box.size() * box.itemsize(), all = questions.bytes(slot);
    bool covers = bytes == all && box.injective() && !source.predicated;
    const PlanLayout* whole = nullptr;
    // The rest of the base has to be copied: that pays when the box is most of it.
    if (!covers && box.injective() && 2 * bytes >= all) whole = whole_layout(questions, box, all);
    if (whole && !inside(*whole, box, p.out.offset)) whole = nullptr;
    if (!base.outside() && base.owned && (covers || whole)) {
      Access old = p.out;
      int fresh = static_cast<int>(storages.size());
      storages.push_back({slot, all, false, true});
      current[slot] = fresh;
      p.out.storage = fresh;
      if (covers) continue;
      PlanInstr copy;
      copy.instr.op = Op::cast;
      copy.instr.nin = 1;
      copy.instr.loop = old.dtype;
      copy.instr.line = source.line;
      copy.instr.value = mix(source.value, 1);
      copy.source = static_cast<int>(n);
      copy.shape = whole->shape();
      copy.made = PlanInstr::WholeCopy;
      copy.in[0] = {old.storage, -1, old.dtype, whole, 0, false};
      copy.out = {fresh, -1, old.dtype, whole, 0, false};
      instrs.insert(instrs.end() - 1, std::move(copy));
    } else if (self) {
      // Through a temporary: all reads first.
      if (source.predicated && p.in[source.nin].storage == p.out.storage) {
        // The predicate is read twice, the second time after the write: keep it as it was.
        Access& where = p.in[source.nin];
        const PlanLayout* flat = questions.contiguous(box.shape(), 1);
        PlanInstr save;
        save.instr.op = Op::cast;
        save.instr.nin = 1;
        save.instr.loop = DType::Bool;
        save.source = static_cast<int>(n);
        save.shape = p.shape;
        save.made = PlanInstr::Otherwise;
        save.in[0] = where;
        save.out = {static_cast<int>(storages.size()), -1, DType::Bool, flat, 0, false};
        storages.push_back({-1, box.size(), false, true});
        where = save.out;
        instrs.insert(instrs.end() - 1, std::move(save));
      }
      PlanInstr& p = instrs.back();  // the insertion may have moved it
      const PlanLayout* dense = questions.contiguous(box.shape(), box.itemsize());
      Access out = p.out;
      int temporary = static_cast<int>(storages.size());
      storages.push_back({-1, bytes, false, true});
      p.out = {temporary, -1, out.dtype, dense, 0, false};
      p.made = PlanInstr::Otherwise;
      p.solo = source.code == Instr::Call;
      PlanInstr copy;
      copy.instr = p.instr;
      copy.instr.code = Instr::Map;
      copy.instr.more = 0;
      copy.instr.op = Op::cast;
      copy.instr.nin = 1;
      copy.instr.loop = out.dtype;
      copy.source = static_cast<int>(n);
      copy.shape = p.shape;
      copy.in[0] = p.out;
      if (source.predicated) copy.in[1] = p.in[source.nin];
      copy.out = out;
      copy.solo = !out.layout->injective();
      instrs.push_back(std::move(copy));
    }
  }
  // Copies in between would break the rhythm of a loop.
  for (int i = repeats.first; i < repeats.first + repeats.period * repeats.count; ++i)
    if (instrs[i].source != i) repeats = {};
}

}  // namespace numbus
