// Windows without a plan.
#include "lazy/direct.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/printing.h"
#include "lazy/examine.h"
#include "lazy/float_errors.h"
#include "lazy/met.h"
#include "lazy/runtime.h"
#include "lazy/single.h"

namespace numbus {
namespace {

// Estimates, ns: of an instruction carried out by itself, beside its elements; of one that is
// planned by itself; and of planning.
constexpr int64_t kInstruction = 400, kPart = 4000, kPlan = 20'000, kPlanned = 5000;
// Picoseconds for each byte of a result.
constexpr int64_t kByte = 100;
// How many times what a plan costs may be spent without one.
constexpr int64_t kPatience = 2;
// More instructions than one in so many that need plans of their own, and the window gets one.
constexpr int kParts = 4;
constexpr size_t kMostWindows = 1 << 14;

bool is_plain(const Instr& i) { return !i.gathers() && !i.scatters() && i.op != Op::apply; }

// The type that the loop of a row gives; nothing where the row has no such loop.
std::optional<DType> result_of(const Instr& i) {
  if (static_cast<int>(i.op) >= kNumRows) return i.loop;
  enum : uint8_t { Unknown = 0xff, None = 0xfe };
  static auto* known = [] {
    auto* all = new std::array<std::array<uint8_t, kNumDTypes>, kNumRows>;
    for (auto& row : *all) row.fill(Unknown);
    return all;
  }();
  uint8_t& result = (*known)[static_cast<size_t>(i.op)][static_cast<size_t>(i.loop)];
  if (result == Unknown) {
    result = None;
    const std::array<DType, 3> types{i.loop, i.loop, i.loop};
    try {
      const Resolved r = resolve(i.op, {types.data(), i.nin});
      if (r.op == i.op && std::all_of(r.in, r.in + i.nin, [&](DType t) { return t == i.loop; }))
        result = static_cast<uint8_t>(r.out);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): NumPy has no such loop
    }
  }
  if (result == None) return {};
  return static_cast<DType>(result);
}

}  // namespace

bool DirectWindows::take(const Window& w, uint64_t structure, bool& seen) {
  const Runtime& rt = Runtime::get();
  seen = false;
  if (rt.mode != Mode::Auto || rt.explanation || rt.without_plan == WithoutPlan::Never ||
      prints(Stage::Groups) || prints(Stage::Passes) || !w.slots_[0].base->device->host_readable())
    return false;
  for (const Slot& s : w.slots_)
    if (s.base->failure) return false;
  if (rt.without_plan == WithoutPlan::Always) return true;
  int64_t work = 0;
  int parts = 0;
  for (const Instr& i : w.instrs_) {
    int64_t points = i.out.layout->size();
    for (int n = 0; n < i.inputs(); ++n)
      if (i.in[n].slot >= 0) points = std::max(points, i.in[n].layout->size());
    // A plan would make the same call.
    if (i.code != Instr::Call) work += points * i.out.layout->itemsize() * kByte / 1000;
    work += is_plain(i) ? kInstruction : kPart;
    parts += !is_plain(i);
  }
  const auto all = static_cast<int>(w.instrs_.size());
  if (parts * kParts > all) return false;
  const Repeats& r = w.repeats_;
  const int planned = all - (r.count > 0 ? (r.count - 1) * r.period : 0);
  if (spent_.size() >= kMostWindows && !spent_.contains(structure)) spent_.clear();
  int64_t& spent = spent_[structure];
  seen = spent > 0;
  if (spent + work > kPatience * (kPlan + kPlanned * planned)) return false;
  spent += work;
  return true;
}

Direct::Direct(const Window& w) : last(w.slots_.size(), -1) {
  held.reserve(w.slots_.size());
  for (const Slot& s : w.slots_) held.emplace_back(s.base);
  int32_t at = 0;
  for (const Instr& i : w.instrs_) {
    last[i.out.slot] = at;
    for (int n = 0; n < i.inputs() + i.more; ++n)
      if (i.in[n].slot >= 0) last[i.in[n].slot] = at;
    ++at;
  }
  part.recorder = w.recorder;
}

Recorded::Recorded(const Window& w, const Instr& i) : count(i.inputs()) {
  Base* bases[1 + kMaxOperands] = {w.slots_[i.out.slot].base};
  for (int n = 0; n < count + i.more; ++n)
    bases[1 + n] = i.in[n].slot < 0 ? nullptr : w.slots_[i.in[n].slot].base;
  fill(w, i, bases);
}

Recorded::Recorded(const Window& w, const Instr& i, Base* const* bases) : count(i.inputs()) {
  fill(w, i, bases);
}

void Recorded::fill(const Window& w, const Instr& i, Base* const* bases) {
  auto view = [&](const Operand& o, Base* b) { return ViewRef{b, o.layout, o.offset, o.dtype}; };
  out = view(i.out, bases[0]);
  for (int n = 0; n < count + i.more; ++n) {
    const Operand& o = i.in[n];
    if (o.slot < 0) {
      in[n].scalar = w.scalars_[o.imm];
      in[n].dtype = o.dtype;
    } else {
      views_[n] = view(o, bases[1 + n]);
      in[n].view = &views_[n];
    }
  }
}

bool map_directly(const Instr& i, const Recorded& given) {
  if (!i.out.layout->injective() || (i.op == Op::cast && i.loop != i.out.dtype)) return false;
  const std::optional<DType> result = i.op == Op::apply ? i.function->results[0] : result_of(i);
  if (!result || i.nin > 3) return false;
  // Exponents that are wrong are found by a plan's kernel.
  if (i.op == Op::power && kind(i.loop) == Kind::Int && given.in[1].view) return false;
  return small::map_now(i, *result, given.out, given.in, given.count);
}

namespace {

bool reduce_directly(const Instr& i, const Recorded& given) {
  const ViewRef* where = i.predicated ? given.in[1].view : nullptr;
  if (!given.in[0].view || given.in[0].view->layout->size() == 0 || (i.predicated && !where))
    return false;
  if (where && where->base == given.out.base) return false;
  return small::reduce_now(i, *given.in[0].view, where, given.out);
}

bool call_directly(const Instr& i, const Recorded& given) {
  ViewRef arrays[kMaxOperands + 1 + kMaxMore];
  const auto operands = static_cast<size_t>(given.count);
  size_t all = 0;
  for (; all < operands; ++all) {
    if (!given.in[all].view) return false;
    arrays[all] = *given.in[all].view;
  }
  arrays[all++] = given.out;
  for (int n = 0; n < i.more; ++n) arrays[all++] = *given.in[given.count + n].view;
  for (size_t r = operands; r < all; ++r)
    for (size_t n = 0; n < operands; ++n)
      if (arrays[r].base == arrays[n].base) return false;
  return small::call_now(i, {arrays, all});
}

}  // namespace

bool run_directly(const Window& w, const Instr& i) {
  if (!is_plain(i)) return false;
  const Recorded given(w, i);
  if (i.code == Instr::Map) return map_directly(i, given);
  if (!(i.code == Instr::Reduce ? reduce_directly(i, given) : call_directly(i, given)))
    return false;
  if (i.told && may_look_at(i)) {
    const ViewRef* in[kMaxOperands] = {};
    for (int n = 0; n < given.count; ++n) in[n] = given.in[n].view;
    std::vector<float_errors::Finding> found;
    float_errors::find_met(i, in, given.out, found);
    for (float_errors::Finding& f : found) float_errors::add(std::move(f));
  }
  return true;
}

}  // namespace numbus
