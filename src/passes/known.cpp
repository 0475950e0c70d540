// Ranges, facts and proofs about integers.
#include "passes/known.h"

#include <algorithm>
#include <limits>

namespace numbus {

using ir::Intrinsic;
using ir::kNone;
using ir::Val;
using Form = ValueNode::Form;

namespace {

constexpr Wide kLeast = std::numeric_limits<int64_t>::min();
constexpr Wide kMost = std::numeric_limits<int64_t>::max();
// Values in sums that are computed lie within these, so that the sums do not run over; the second
// for products.
constexpr int64_t kWide = int64_t{1} << 40, kNarrow = int64_t{1} << 27;
constexpr int64_t kMostWeight = 1 << 10, kMostProducts = 1 << 3;
constexpr size_t kRecent = 8;  // facts about one value that are looked at for its range

bool is_sum(Op op) { return op == Op::add || op == Op::subtract || op == Op::multiply; }

bool is_int(DType t) { return is_integer(t) || t == DType::Bool; }

}  // namespace

Known::Known(Values& v) : values_(v) { grow(); }

void Known::grow() {
  size_t size = values_.nodes.size();
  ends_.resize(size);
  uses_.resize(size);
  step_of_.resize(size, kNone);
  extent.resize(size, 0);
  direction.resize(size, 0);
  floor.resize(size, 0);
}

void Known::computed(int value, Val step) {
  if (step_of_[value] != kNone) return;
  step_of_[value] = step;
  computed_.push_back(value);
}

void Known::forget_computed(size_t size) {
  for (; computed_.size() > size; computed_.pop_back()) step_of_[computed_.back()] = kNone;
}

// --- facts

void Known::mention(int v, int fact, int depth) {
  if (v == kUnknown || node(v).op == Op::constant) return;
  uses_[v].push_back(fact);
  mentions_.emplace_back(fact, v);
  if (depth > 0 && node(v).form == Form::Pure && is_sum(node(v).op) && node(v).type == DType::I64) {
    mention(node(v).a, fact, depth - 1);
    mention(node(v).b, fact, depth - 1);
  }
}

void Known::add(Bound b, bool check, std::vector<Bound> needs) {
  grow();
  int number = static_cast<int>(facts_.size());
  Fact f{b, check, std::move(needs), sum(b, kHere)};
  facts_.push_back(std::move(f));
  for (int v : {b.a, b.b}) {
    mention(v, number, 6);
    if (v != kUnknown) ends_[v].push_back(number);
  }
}

void Known::forget(size_t size) {
  for (; facts_.size() > size; facts_.pop_back()) {
    int last = static_cast<int>(facts_.size()) - 1;
    for (; !mentions_.empty() && mentions_.back().first == last; mentions_.pop_back())
      uses_[mentions_.back().second].pop_back();
    for (int v : {facts_[last].is.a, facts_[last].is.b})
      if (v != kUnknown) ends_[v].pop_back();
  }
}

void Known::assume(int condition, bool holds, bool check) {
  const ValueNode c = node(condition);
  if (c.form != Form::Pure) return;
  auto whole = [&](int v) { return is_int(node(v).type) && node(v).type != DType::U64; };
  // The last one that a counter's steps reach: known where the range is not too wide.
  auto add_last = [&](int iteration, std::vector<Bound> needs) {
    const Counter n = counters.at(iteration);
    auto step = [&](Op op, int x, int y) { return values_.pure(op, DType::I64, x, y); };
    int end = step(n.by < 0 ? Op::add : Op::subtract, n.stop, values_.constant(1));
    int steps = step(Op::int_div, step(Op::subtract, end, n.start), n.step);
    int last = step(Op::add, n.start, step(Op::multiply, steps, n.step));
    for (int v : {n.start, n.stop})
      for (const Bound& w : within(v)) needs.push_back(w);
    add(n.by < 0 ? Bound{last, iteration, 0} : Bound{iteration, last, 0}, false, needs);
  };
  auto at_most = [&](int a, int b, int64_t k) {
    add({a, b, k}, check);
    if (k != 1) return;
    auto up = counters.find(a), down = counters.find(b);
    if (up != counters.end() && up->second.stop == b && up->second.by > 1) add_last(a, {});
    if (down != counters.end() && down->second.stop == a && down->second.by < -1) add_last(b, {});
  };
  switch (c.op) {
    case Op::logical_not: assume(c.a, !holds, check); break;
    case Op::logical_and:
      if (!holds) break;
      assume(c.a, true, check);
      assume(c.b, true, check);
      break;
    case Op::logical_or:
      if (holds) break;
      assume(c.a, false, check);
      assume(c.b, false, check);
      break;
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal: {
      if (!whole(c.a) || !whole(c.b)) break;
      bool up = c.op == Op::less || c.op == Op::less_equal;
      bool strict = c.op == Op::less || c.op == Op::greater;
      int a = up ? c.a : c.b, b = up ? c.b : c.a;  // a < b or a <= b
      if (holds)
        at_most(a, b, strict);
      else
        at_most(b, a, !strict);
      break;
    }
    case Op::equal:
    case Op::not_equal: {
      if (!whole(c.a) || !whole(c.b)) break;
      if ((c.op == Op::equal) == holds) {
        add({c.a, c.b, 0}, check);
        add({c.b, c.a, 0}, check);
        break;
      }
      Range x = range(c.a), y = range(c.b);
      if (x.low == y.high) add({c.b, c.a, 1}, check);
      if (x.high == y.low) add({c.a, c.b, 1}, check);
      break;
    }
    case Op::select: {
      if (c.type != DType::Bool) break;
      // A range whose step's sign is found at run time: forwards, if it is positive.
      const ValueNode below = node(c.b);
      if (holds && below.op == Op::less && counters.count(below.a)) {
        const Counter n = counters.at(below.a);
        if (n.by == 0 && n.stop == below.b && positive(c.a, n.step)) {
          std::vector<Bound> needs{{kUnknown, n.step, 1}};
          add({below.a, n.stop, 1}, false, needs);
          add_last(below.a, needs);
          break;
        }
      }
      // `and` and `or`: what the other side would have given tells which side it was.
      auto known = [&](int v, bool yes) -> int {
        const ValueNode& n = node(v);
        if (n.op == Op::constant) return n.imm != 0;
        if (v == c.a) return yes;
        if (n.op == Op::logical_not && n.a == c.a) return !yes;
        if (node(c.a).op == Op::logical_not && node(c.a).a == v) return !yes;
        return -1;
      };
      int yes = known(c.b, true), no = known(c.c, false);
      if (no >= 0 && no != static_cast<int>(holds)) {
        assume(c.a, true, check);
        assume(c.b, holds, check);
      } else if (yes >= 0 && yes != static_cast<int>(holds)) {
        assume(c.a, false, check);
        assume(c.c, holds, check);
      }
      break;
    }
    default: break;
  }
}

// --- ranges

Range Known::of_type(DType t) const {
  if (t == DType::Bool) return {0, 1};
  if (!is_integer(t) || t == DType::I64) return {kLeast, kMost};
  int bits = 8 * itemsize(t);
  if (is_signed(t)) return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
  return {0, (Wide{1} << bits) - 1};
}

Range Known::range(int v, int depth) {
  Range r = base(v, depth);
  if (extent[v]) r.low = std::max<Wide>(r.low, 0);
  if (depth <= 0) return r;
  const auto& about = ends_[v];
  for (size_t k = about.size(); k-- > 0 && about.size() - k <= kRecent;) {
    const Fact& f = facts_[about[k]];
    if (!f.needs.empty()) continue;
    if (f.is.a == v)
      r.high = std::min(r.high, (f.is.b == kUnknown ? 0 : range(f.is.b, depth - 1).high) - f.is.k);
    if (f.is.b == v)
      r.low = std::max(r.low, (f.is.a == kUnknown ? 0 : range(f.is.a, depth - 1).low) + f.is.k);
  }
  return r;
}

Range Known::base(int v, int depth) {
  const ValueNode& n = node(v);
  Range all = of_type(n.type);
  if (!is_int(n.type)) return all;
  if (n.form == Form::Iteration || n.form == Form::Left) {
    int iteration = n.form == Form::Iteration ? v : values_.iteration(n.loop, n.variable);
    if (floor[iteration]) all.low = 0;
    if (depth <= 0) return all;
    auto it = counters.find(iteration);
    if (it != counters.end() && !it->second.safe) return all;
    if (direction[iteration] > 0) all.low = std::max(all.low, range(n.a, depth - 1).low);
    if (direction[iteration] < 0) all.high = std::min(all.high, range(n.a, depth - 1).high);
    return all;
  }
  if (n.form != Form::Pure) return all;
  if (n.op == Op::constant) {
    if (n.type == DType::I64 || (n.imm >= 0 && n.imm <= all.high)) return {n.imm, n.imm};
    return all;
  }
  if (n.op == Op::intrinsic) {
    auto k = static_cast<Intrinsic>(n.imm & 255);
    if (k <= Intrinsic::tid_z) return {0, 1023};
    if (k <= Intrinsic::ntid_z) return {1, 1024};
    if (k <= Intrinsic::ctaid_z) return {0, (Wide{1} << 31) - 2};
    if (k <= Intrinsic::nctaid_z) return {1, (Wide{1} << 31) - 1};
    if (k == Intrinsic::laneid) return {0, 31};
    if (k == Intrinsic::warpsize) return {32, 32};
    if (k == Intrinsic::lane_index) return {0, 63};
    if (k == Intrinsic::lane_count) return {1, 64};
    if (k == Intrinsic::dynamic_shared && n.imm >> 16) return {0, 1 << 30};
    return all;
  }
  if (n.op == Op::param) {
    if (values_.f.portion && n.imm < 2) all.low = 0;  // the portion's part of the iterations
    return all;
  }
  if (depth <= 0) return all;
  auto inside = [&](Range r) { return r.low >= all.low && r.high <= all.high ? r : all; };
  auto of = [&](int o) { return range(o, depth - 1); };
  switch (n.op) {
    case Op::cast:
    case Op::bits: {
      DType from = node(n.a).type;
      if (!is_int(from) || from == DType::U64) return all;
      return inside(of(n.a));
    }
    case Op::add: {
      Range x = of(n.a), y = of(n.b);
      return inside({x.low + y.low, x.high + y.high});
    }
    case Op::subtract: {
      Range x = of(n.a), y = of(n.b);
      return inside({x.low - y.high, x.high - y.low});
    }
    case Op::multiply: {
      Range x = of(n.a), y = of(n.b);
      Wide p[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
      return inside({*std::min_element(p, p + 4), *std::max_element(p, p + 4)});
    }
    case Op::maximum: {
      Range x = of(n.a), y = of(n.b);
      return {std::max(x.low, y.low), std::max(x.high, y.high)};
    }
    case Op::minimum: {
      Range x = of(n.a), y = of(n.b);
      return {std::min(x.low, y.low), std::min(x.high, y.high)};
    }
    case Op::select: {
      Range x = of(n.b), y = of(n.c);
      return {std::min(x.low, y.low), std::max(x.high, y.high)};
    }
    case Op::right_shift: {
      const ValueNode& by = node(n.b);
      if (by.op != Op::constant || by.imm < 0 || by.imm > 62) return all;
      Range x = of(n.a);
      return {x.low >> by.imm, x.high >> by.imm};
    }
    case Op::int_div: {
      const ValueNode& by = node(n.b);
      if (by.op != Op::constant || by.imm <= 0 || n.type != DType::I64) return all;
      Range x = of(n.a);
      return {x.low / by.imm, x.high / by.imm};
    }
    case Op::fmod: {
      Range x = of(n.a), m = of(n.b);
      Wide most = std::max<Wide>(std::max(m.high, -m.low) - 1, 0);
      return {x.low >= 0 ? 0 : std::max(all.low, -most), std::min(std::max<Wide>(x.high, 0), most)};
    }
    case Op::bitwise_and: {
      Range x = of(n.a), y = of(n.b);
      if (x.low < 0 && y.low < 0) return all;
      Wide high = kMost;
      if (x.low >= 0) high = std::min(high, x.high);
      if (y.low >= 0) high = std::min(high, y.high);
      return {0, high};
    }
    default: return all;
  }
}

bool Known::exact(int v, int depth) {
  const ValueNode& n = node(v);
  Range x = range(n.a, depth), y = range(n.b, depth), r{};
  if (n.op == Op::add) r = {x.low + y.low, x.high + y.high};
  if (n.op == Op::subtract) r = {x.low - y.high, x.high - y.low};
  if (n.op == Op::multiply) {
    Wide p[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
    r = {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
  }
  return r.low >= kLeast && r.high <= kMost;
}

// --- sums

bool Known::at_hand(int v, Position loop, int depth) const {
  const ValueNode& n = node(v);
  if (n.op == Op::constant) return true;
  if (n.per_lane) return false;
  if (found_before(v, loop)) return true;
  if (n.form != Form::Pure || depth == 0 || !is_int(n.type)) return false;
  if (n.op == Op::param || n.op == Op::intrinsic) return true;
  for (int o : {n.a, n.b, n.c})
    if (o != kUnknown && !at_hand(o, loop, depth - 1)) return false;
  return true;
}

Sum Known::sum(int v, Position at) {
  const ValueNode& n = node(v);
  if (n.op == Op::constant && n.type == DType::I64) {
    Sum s = Sum::number(n.imm);
    return s.good ? s : Sum::of(v);
  }
  if (at != kHere && !n.per_lane && found_before(v, at)) return Sum::of(v);
  if (n.form != Form::Pure || n.type != DType::I64 || !is_sum(n.op)) return Sum::of(v);
  if (at == kHere && !exact(v)) return Sum::of(v);
  Op op = n.op;
  Sum x = sum(n.a, at), y = sum(n.b, at), r;
  if (op == Op::multiply) {
    r = Sum::product(x, y);
  } else {
    r = x;
    r.add(y, op == Op::add ? 1 : -1);
  }
  if (!r.good) return Sum::of(v);
  if (at != kHere && !exact(v) && std::find(taken_.begin(), taken_.end(), v) == taken_.end())
    taken_.push_back(v);
  return r;
}

Sum Known::sum(const Bound& b, Position at) {
  Sum s = Sum::number(b.k);
  if (b.a != kUnknown) s.add(sum(b.a, at), 1);
  if (b.b != kUnknown) s.add(sum(b.b, at), -1);
  return s;
}

Range Known::range(const Sum& s) {
  Range r{s.k, s.k};
  for (const Term& t : s.terms) {
    Range x = range(t.b);
    if (t.a >= 0) {
      Range y = range(t.a);
      Wide p[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
      x = {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
      // Past any bound that is of use here.
      if (x.low < kLeast || x.high > kMost) return {kLeast * 4, kMost * 4};
    }
    r.low += (t.k > 0 ? x.low : x.high) * t.k;
    r.high += (t.k > 0 ? x.high : x.low) * t.k;
  }
  return r;
}

// --- what values are like by themselves

std::vector<Bound> Known::within(int v) const {
  return {{v, kUnknown, -kWide}, {kUnknown, v, -kWide}};
}

std::vector<Fact> Known::implied(int v) {
  std::vector<Fact> all;
  auto put = [&](int a, int b, int64_t k, std::vector<Bound> needs = {}) {
    all.push_back({{a, b, k}, false, std::move(needs), {}});
  };
  const ValueNode n = node(v);
  if (n.form == Form::Iteration || n.form == Form::Left) {
    int iteration = n.form == Form::Iteration ? v : values_.iteration(n.loop, n.variable);
    auto it = counters.find(iteration);
    std::vector<Bound> needs;
    bool counts = it != counters.end();
    if (counts && !it->second.safe) {
      needs = within(it->second.stop);
      if (it->second.by == 0)
        for (const Bound& b : within(it->second.step)) needs.push_back(b);
      if (it->second.by == 0) needs.push_back({kUnknown, it->second.step, 1});
    }
    if (direction[iteration] > 0) put(n.a, v, 0, needs);
    if (direction[iteration] < 0) put(v, n.a, 0, needs);
  } else if (n.form == Form::Pure) {
    switch (n.op) {
      case Op::maximum:
        put(n.a, v, 0);
        put(n.b, v, 0);
        break;
      case Op::minimum:
        put(v, n.a, 0);
        put(v, n.b, 0);
        break;
      case Op::right_shift:
      case Op::int_div: {
        const ValueNode& by = node(n.b);
        if (by.op == Op::constant && by.imm >= (n.op == Op::int_div) && by.imm < 63 &&
            range(n.a).low >= 0)
          put(v, n.a, 0);
        break;
      }
      case Op::fmod:
        if (range(n.a).low < 0) break;
        put(v, n.b, 1, {{kUnknown, n.b, 1}});
        put(v, n.a, 0);
        break;
      case Op::select: {
        // A remainder: below the divisor, where that is positive.
        const ValueNode &sum = node(n.b), &rest = node(n.c);
        if (n.imm == ir::kRemainder && sum.op == Op::add && sum.a == n.c && rest.op == Op::fmod &&
            rest.b == sum.b) {
          put(v, rest.b, 1, {{kUnknown, rest.b, 1}});
          put(kUnknown, v, 0, {{kUnknown, rest.b, 1}});
        }
        break;
      }
      case Op::bitwise_and:
        for (int o : {n.a, n.b})
          if (range(o).low >= 0) put(v, o, 0);
        break;
      case Op::cast:
      case Op::bits: {
        if (!is_int(node(n.a).type) || node(n.a).type == DType::U64) break;
        Range r = range(n.a), fits = of_type(n.type);
        if (r.low < fits.low || r.high > fits.high) break;
        put(v, n.a, 0);
        put(n.a, v, 0);
        break;
      }
      case Op::intrinsic: {
        auto k = static_cast<Intrinsic>(n.imm & 255);
        bool thread = k <= Intrinsic::tid_z,
             block = k >= Intrinsic::ctaid_x && k <= Intrinsic::ctaid_z;
        if (!thread && !block) break;
        int many = values_.pure(Op::intrinsic, n.type, kUnknown, kUnknown, kUnknown, n.imm + 3);
        grow();
        put(v, many, 1);
        break;
      }
      default: break;
    }
  }
  Range r = range(v);
  if (r.high < kMostFactor && r.high > -kMostFactor)
    put(v, kUnknown, -static_cast<int64_t>(r.high));
  if (r.low > -kMostFactor && r.low < kMostFactor) put(kUnknown, v, static_cast<int64_t>(r.low));
  return all;
}

// --- proofs

namespace {

int64_t factor_of(const Sum& s, int value) {
  int64_t k = 0;
  for (const Term& t : s.terms) {
    if (t.a < 0 && t.b == value) k = t.k;
    if (t.a >= 0 && (t.a == value || t.b == value)) return 0;
  }
  return k;
}

}  // namespace

bool Known::proves(const Sum& s, int depth) {
  if (!s.good || budget_-- <= 0) return false;
  if (range(s).high <= 0) return true;
  if (depth == 0) return false;
  for (const Term& t : s.terms) {
    if (t.a >= 0) continue;
    auto follows = [&](const Fact& f, const Sum& known) {
      if (!known.good || !f.needs.empty()) return false;
      int64_t k = factor_of(known, t.b);
      if (k == 0 || (k > 0) != (t.k > 0) || t.k % k != 0) return false;
      Sum rest = s;
      rest.add(known, -(t.k / k));
      return proves(rest, depth - 1);
    };
    const auto about = uses_[t.b];
    for (size_t n = about.size(); n-- > 0;)
      if (follows(facts_[about[n]], facts_[about[n]].sum)) return true;
    for (Fact& f : implied(t.b)) {
      // What has a condition holds here if that does.
      int kept = budget_;
      bool all = true;
      for (const Bound& b : f.needs) all = all && range(sum(b, kHere)).high <= 0;
      budget_ = kept;
      if (!all) continue;
      f.needs.clear();
      if (follows(f, sum(f.is, kHere))) return true;
    }
  }
  return false;
}

bool Known::lift(const Sum& s, Position loop, std::vector<Sum>& conditions, int depth) {
  if (!s.good || budget_-- <= 0) return false;
  int pick = kUnknown;
  const Term* term = nullptr;
  for (const Term& t : s.terms)
    for (int v : {t.a, t.b})
      if (v > pick && !at_hand(v, loop)) {
        pick = v;
        term = &t;
      }
  if (!term) {
    Range r = range(s);
    if (r.high <= 0) return true;
    if (r.low > 0) return false;
    if (std::find(conditions.begin(), conditions.end(), s) == conditions.end())
      conditions.push_back(s);
    return true;
  }
  if (depth == 0 || (term->a == pick && term->b == pick)) return false;
  int other = term->a == pick ? term->b : term->a;
  auto follows = [&](const Fact& f) {
    if (f.check) return false;
    size_t kept = conditions.size(), taken = taken_.size();
    Sum known = sum(f.is, loop);
    int64_t k = known.good ? factor_of(known, pick) : 0;
    bool yes = k != 0 && (k > 0) == (term->k > 0) && term->k % k == 0;
    if (yes) {
      Sum rest = s;
      rest.add(known, -(term->k / k), other);
      yes = lift(rest, loop, conditions, depth - 1);
    }
    for (const Bound& b : f.needs) yes = yes && lift(sum(b, loop), loop, conditions, depth - 1);
    if (yes && other != kUnknown && range(other).low < 0)
      yes = lift(sum(Bound{kUnknown, other, 0}, loop), loop, conditions, depth - 1);
    if (!yes) {
      conditions.resize(kept);
      taken_.resize(taken);
    }
    return yes;
  };
  const auto about = uses_[pick];
  for (size_t n = about.size(); n-- > 0;)
    if (follows(Fact(facts_[about[n]]))) return true;
  for (const Fact& f : implied(pick))
    if (follows(f)) return true;
  return false;
}

bool Known::lift_widths(Position loop, std::vector<Sum>& conditions) {
  auto narrow = [&](const Sum& s, bool directly) {
    int64_t weight = 0;
    bool products = false;
    for (const Term& t : s.terms) {
      weight += std::abs(t.k);
      products = products || t.a >= 0;
    }
    if (weight > (products ? kMostProducts : kMostWeight)) return false;
    int64_t most = products ? kNarrow : kWide;
    for (const Term& t : s.terms)
      for (int v : {t.a, t.b}) {
        if (v < 0) continue;
        for (int sign : {1, -1}) {
          Range r = range(v);
          if (sign > 0 ? r.high <= most : r.low >= -most) continue;
          Sum bound = Sum::number(-most);
          bound.add(Sum::of(v), sign);
          if (directly ? !at_hand(v, loop) : false) return false;
          if (!lift(bound, loop, conditions)) return false;
        }
      }
    return true;
  };
  budget_ += 100;
  for (size_t n = 0; n < taken_.size() && n < 40; ++n)
    if (!narrow(sum(taken_[n], loop), false)) return false;
  if (taken_.size() >= 40) return false;
  for (size_t n = 0; n < conditions.size() && n < 60; ++n) {
    const Sum& s = conditions[n];
    // Two values that are only compared need no arithmetic.
    bool plain = s.terms.size() <= 2;
    for (const Term& t : s.terms) plain = plain && t.a < 0 && std::abs(t.k) == 1;
    if (s.terms.size() == 2) plain = plain && s.k == 0 && s.terms[0].k != s.terms[1].k;
    if (!plain && !narrow(s, true)) return false;
  }
  return conditions.size() < 60;
}

}  // namespace numbus
