// Which checks of indices always hold, and which a loop's range decides before the loop.
#include "passes/bounds.h"

#include <cstdlib>
#include <optional>

#include "passes/known.h"
#include "passes/two_loops.h"

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;
using Form = ValueNode::Form;

// Whether the second step is done whenever the first one is.
bool together(const ir::Function& f, Val first, size_t second) {
  for (auto n = static_cast<size_t>(first); n < second; ++n) {
    Op op = f.body[n].op;
    if (op >= Op::branch && op <= Op::ret) return false;
  }
  return true;
}

std::optional<Check> check_of(const ir::Function& f, size_t n) {
  const Inst& i = f.body[n];
  if (i.op != Op::branch || i.imm != ir::kBounds) return {};
  const Inst& either = f.body[i.a];
  if (either.op != Op::logical_or) return {};
  const Inst &low = f.body[either.a], &inside = f.body[either.b];
  if (low.op != Op::less || inside.op != Op::logical_not) return {};
  const Inst &zero = f.body[low.b], &high = f.body[inside.a];
  if (zero.op != Op::constant || zero.imm != 0 || high.op != Op::less || high.a != low.a) return {};
  const Inst& at = f.body[high.a];
  bool chosen = at.op == Op::select && at.imm == ir::kFromEnd && together(f, high.a, n);
  return Check{n, high.a, high.b, chosen};
}

// Of a counter: so that what is within known bounds cannot run over by one more step.
constexpr int64_t kMostStep = int64_t{1} << 40;

class Decide {
 public:
  Decide(const ir::Function& f, bool kernel)
      : f_(f), kernel_(kernel), values_(f, kernel), known_(values_) {
    decisions_.always.assign(f.body.size(), 0);
    decisions_.from_start.assign(f.body.size(), 0);
    keep_.assign(f.body.size(), 0);
  }

  Decisions run() {
    for (size_t n = 0; n < f_.body.size(); ++n)
      if (auto c = check_of(f_, n)) known_.extent[values_.of[c->extent]] = 1;
    find_counters();
    known_.grow();
    // What is assumed of a loop's variables is shown on the way, or not assumed the next time.
    for (int tries = 0; tries < 20; ++tries) {
      wrong_ = false;
      decisions_.always.assign(f_.body.size(), 0);
      decisions_.from_start.assign(f_.body.size(), 0);
      decisions_.lifted.clear();
      decisions_.at_hand.clear();
      walk(0, f_.body.size());
      known_.forget(0);
      known_.forget_computed(0);
      if (!wrong_) break;
    }
    if (wrong_) return {};
    decisions_.nodes = values_.nodes;
    decisions_.end = values_.end;
    decisions_.of = values_.of;
    for (size_t n = 0; n < f_.body.size(); ++n)
      if (auto c = check_of(f_, n)) decisions_.checks.push_back(*c);
    decisions_.serial = !kernel_ && !f_.portion;
    return std::move(decisions_);
  }

 private:
  Op op_of(int v) const { return values_.nodes[v].op; }

  void find_counters() {
    for (size_t t = 0; t < values_.nodes.size(); ++t) {
      const ValueNode v = values_.nodes[t];
      if (v.form != Form::Iteration || v.type != DType::I64) continue;
      std::vector<size_t> sets;
      auto loop = static_cast<size_t>(v.loop);
      for (size_t n = loop; n < values_.end[loop]; ++n)
        if (f_.body[n].op == Op::set && f_.body[n].a == v.variable) sets.push_back(n);
      int iteration = static_cast<int>(t), o = values_.of[f_.body[sets[0]].b];
      const ValueNode next = values_.nodes[o];
      auto constant = [&](int of) {
        const ValueNode& k = values_.nodes[of];
        return k.op == Op::constant ? k.imm : int64_t{0};
      };
      // Whether it is older than the loop. Its variables follow each other, and what is made of
      // them comes after them all.
      auto fixed = [&](int of) {
        const ValueNode& x = values_.nodes[of];
        return of < iteration && (x.form != Form::Iteration || x.loop != v.loop);
      };
      bool sum = next.form == Form::Pure && (next.op == Op::add || next.op == Op::subtract);
      int by = sum ? (next.op == Op::add && next.b == iteration ? next.a : next.b) : kUnknown;
      int64_t step = sum ? constant(by) : 0;
      if (sum && next.op == Op::subtract) step = -step;
      signed char way = step > 0 ? 1 : step < 0 ? -1 : 0;
      if (next.op == Op::right_shift || next.op == Op::int_div || next.op == Op::select) way = -1;
      known_.direction[iteration] = way;
      known_.floor[iteration] = way <= 0;
      if (sets.size() != 1 || !sum || (next.a != iteration && by != next.a)) continue;
      if (step == 0 && (next.op != Op::add || !fixed(by))) continue;
      if (step > kMostStep || step < -kMostStep) continue;
      // The test that its iterations begin with.
      size_t test = loop + 1;
      while (test < values_.end[loop] && f_.body[test].op != Op::branch) ++test;
      if (test == values_.end[loop] || sets[0] < test) continue;
      int c = values_.of[f_.body[test].a];
      bool turned = false;
      for (; op_of(c) == Op::logical_not; c = values_.nodes[c].a) turned = !turned;
      if (!(turned ? values_.yes_leaves : values_.no_leaves)[test]) continue;
      if (op_of(c) == Op::select && step == 0) {
        if (!known_.positive(values_.nodes[c].a, by)) continue;
        c = values_.nodes[c].b;
      }
      const ValueNode less = values_.nodes[c];
      if (less.op != Op::less || (less.a != iteration && less.b != iteration)) continue;
      int stop = less.a == iteration ? less.b : less.a;
      if (op_of(stop) != Op::constant && !fixed(stop)) continue;
      if ((less.a == iteration) != (step >= 0)) continue;
      int step_node = step < 0 && next.op == Op::subtract ? values_.constant(step) : by;
      if (step > 0 && next.op == Op::subtract) step_node = values_.constant(step);
      known_.floor[iteration] = 0;
      known_.counters[iteration] = {v.a, stop, step_node, step, step != 0};
      if (step == 0) known_.direction[iteration] = 1;
    }
  }

  // --- the walk

  void walk(size_t begin, size_t stop) {
    for (size_t n = begin; n < stop; ++n) {
      const Inst& i = f_.body[n];
      if (i.op == Op::branch)
        n = branch(n);
      else if (i.op == Op::loop)
        n = loop(n);
      else
        step(n);
    }
  }

  struct Open {
    size_t begin, facts;
  };

  size_t branch(size_t n) {
    size_t last = values_.end[n], middle = values_.middle[n];
    int condition = values_.of[f_.body[n].a];
    auto check = check_of(f_, n);
    if (check) look_at(n, *check);
    scopes_.push_back({n, known_.size()});
    auto side = [&](bool yes, size_t from, size_t to) {
      size_t facts = known_.size(), computed = known_.computed();
      known_.assume(condition, yes);
      walk(from, to);
      known_.forget(facts);
      known_.forget_computed(computed);
    };
    if (!check) side(true, n + 1, middle ? middle : last);
    if (middle) side(false, middle + 1, last);
    scopes_.pop_back();
    if (values_.yes_leaves[n] && !values_.no_leaves[n])
      known_.assume(condition, false, check.has_value());
    if (values_.no_leaves[n] && !values_.yes_leaves[n]) known_.assume(condition, true);
    return last;
  }

  size_t loop(size_t n) {
    size_t last = values_.end[n], middle = values_.middle[n];
    size_t facts = known_.size(), computed = known_.computed();
    scopes_.push_back({n, facts});
    if (!values_.once[n]) loops_.push_back(n);
    keep_[n] = ~size_t{0};
    for (Val v : values_.assigned[n]) {
      int t = values_.iteration(static_cast<Val>(n), v);
      if (t != kUnknown && known_.floor[t]) stays(t, values_.nodes[t].a);
    }
    walk(n + 1, middle ? middle : last);
    if (middle) {
      // Iterations that are cut short come here, too.
      if (keep_[n] != ~size_t{0}) {
        known_.forget(std::min(keep_[n], known_.size()));
        known_.forget_computed(computed);
      }
      walk(middle + 1, last);
    }
    if (!values_.once[n]) loops_.pop_back();
    scopes_.pop_back();
    known_.forget(facts);
    known_.forget_computed(computed);
    return last;
  }

  void step(size_t n) {
    const Inst& i = f_.body[n];
    if (i.op == Op::continue_loop) {
      size_t k = scopes_.size();
      while (scopes_[k - 1].begin != static_cast<size_t>(i.a)) --k;
      size_t facts = k < scopes_.size() ? scopes_[k].facts : known_.size();
      keep_[i.a] = std::min(keep_[i.a], facts);
    } else if (i.op == Op::set) {
      iterations_go_on(i);
    } else if (values_.of[n] != kUnknown) {
      // Whoever uses it has come by here.
      if (i.op == Op::select && i.imm == ir::kFromEnd &&
          known_.proves({kUnknown, values_.of[i.c], 0}))
        decisions_.from_start[n] = 1;
      known_.computed(values_.of[n], static_cast<Val>(n));
    }
  }

  void stays(int iteration, int value) {
    if (known_.proves({kUnknown, value, 0})) return;
    wrong_ = true;
    known_.floor[iteration] = 0;
  }

  // Whether the new value keeps to what is assumed of the loops' variables.
  void iterations_go_on(const Inst& set) {
    for (size_t l : loops_) {
      int t = values_.iteration(static_cast<Val>(l), set.a);
      if (t != kUnknown && known_.floor[t]) stays(t, values_.of[set.b]);
      if (t == kUnknown || known_.direction[t] == 0) continue;
      auto it = known_.counters.find(t);
      if (it != known_.counters.end() && !it->second.safe) continue;
      int o = values_.of[set.b];
      Bound holds = known_.direction[t] > 0 ? Bound{t, o, 0} : Bound{o, t, 0};
      if (known_.proves(holds)) continue;
      wrong_ = true;
      if (it != known_.counters.end())
        it->second.safe = false;
      else
        known_.direction[t] = 0;
    }
  }

  // --- checks

  void look_at(size_t n, const Check& c) {
    const Inst& chosen = f_.body[c.at];
    bool iterations = chosen.op == Op::select && chosen.imm == ir::kFromEnd;
    int at = values_.of[iterations ? chosen.c : c.at], extent = values_.of[c.extent];
    Bound from_start{kUnknown, at, 0}, below{at, extent, 1};
    if (iterations) {
      // Looked at before, from whichever end.
      int index = values_.of[c.at];
      if (known_.proves({kUnknown, index, 0}) && known_.proves({index, extent, 1})) {
        decisions_.always[n] = 1;
        return;
      }
    }
    bool low = known_.proves(from_start), high = known_.proves(below);
    // Counted from the end, it may be as far below zero as the array is long.
    Sum far = Sum::number(0);
    far.add(Sum::of(at), -1);
    far.add(Sum::of(extent), -1);
    if (high && (low || (iterations && known_.proves_sum(far)))) {
      decisions_.always[n] = 1;
      return;
    }
    for (size_t l : loops_) {
      known_.begin_lift();
      std::vector<Sum> all;
      Val select = kNone;
      if (!high && !known_.lift(below, l, all)) continue;
      if (!low) {
        size_t kept = all.size();
        if (known_.lift(from_start, l, all)) {
          if (c.chosen) select = c.at;
        } else {
          all.resize(kept);
          if (!iterations) continue;
          Sum s = Sum::number(0);
          s.add(known_.sum(at, l), -1);
          s.add(known_.sum(extent, l), -1);
          if (!known_.lift(s, l, all)) continue;
        }
      }
      if (!known_.lift_widths(l, all)) continue;
      Lifted lifted{n, std::move(all), select};
      for (const Sum& s : lifted.conditions)
        for (const Term& t : s.terms)
          for (int v : {t.a, t.b})
            if (v >= 0) remember(v, l);
      decisions_.lifted[l].push_back(std::move(lifted));
    }
  }

  // Where the parts of a value are found before the loop.
  void remember(int v, size_t loop) {
    const ValueNode& n = values_.nodes[v];
    Val step = known_.step_of(v);
    if (n.op == Op::constant || n.op == Op::param) return;
    if (step != kNone && static_cast<size_t>(step) < loop) {
      decisions_.at_hand[{loop, v}] = step;
      return;
    }
    for (int o : {n.a, n.b, n.c})
      if (o != kUnknown) remember(o, loop);
  }

  const ir::Function& f_;
  bool kernel_;
  Values values_;
  Known known_;
  Decisions decisions_;
  std::vector<Open> scopes_;
  std::vector<size_t> loops_;  // around this step, that run more than once
  std::vector<size_t> keep_;   // per loop: facts that hold wherever its next iteration begins
  bool wrong_ = false;
};

}  // namespace

void decide_bounds(ir::Module& m) {
  // For tests, and to measure: checks stay as they are.
  if (std::getenv("NUMBUS_KEEP_CHECKS")) return;
  for (ir::Function& f : m.functions) {
    bool any = false;
    for (const Inst& i : f.body) any = any || (i.op == Op::branch && i.imm == ir::kBounds);
    if (!any) continue;
    Decisions d = Decide(f, m.kernel).run();
    if (!d.always.empty()) make_two(f, d);
  }
}

}  // namespace numbus
