// Runs a function's steps with every branch taken both ways, keeping for each variable the value
// that its lanes would see. Loops run for as long as a lane is left in them.
#include "passes/straighten.h"

#include <algorithm>

namespace numbus {
namespace {

using ir::Function;
using ir::Inst;
using ir::kNone;
using ir::Val;

// Steps, both sides of all branches among them, beyond which branches are the better code.
constexpr size_t kMost = 1000;

class Straightener {
 public:
  Straightener(const Function& f, const std::vector<DType>& params, DType result)
      : f_(f), b_(out_.body) {
    size_t size = f.body.size();
    at_.assign(size, kNone);
    end_.assign(size, 0);
    else_.assign(size, 0);
    again_.assign(size, 0);
    state_.variables.assign(size, kNone);
    state_.results.assign(f.results.size(), kNone);
    out_.name = f.name;
    out_.params = params;
    out_.results = {result};
    for (size_t n = 0; n < params.size(); ++n) {
      Val v = b_.emit(Op::param, params[n], kNone, kNone, kNone, static_cast<int64_t>(n));
      if (!is_complex(params[n])) {
        params_.push_back(v);
        continue;
      }
      for (Op part : {Op::real_part, Op::imag_part})
        params_.push_back(b_.emit(part, real_of(params[n]), v));
    }
    for (size_t n = 0; n < size; ++n) {
      if (f.body[n].op == Op::continue_loop) again_[f.body[n].a] = 1;
      if (f.body[n].op == Op::branch_else) else_[f.body[n].a] = n;
      if (f.body[n].op == Op::end_branch || f.body[n].op == Op::end_loop) end_[f.body[n].a] = n;
    }
  }

  std::optional<Function> run() {
    run(0, f_.body.size());
    if (failed_) return {};
    for (Val v : state_.results)
      if (v == kNone) return {};
    const auto& r = state_.results;
    return live(r.size() == 2 ? b_.emit(Op::make_complex, out_.results[0], r[0], r[1]) : r[0]);
  }

 private:
  // An open loop: the lanes that have left it, and those that wait for the end of this iteration.
  struct Loop {
    Val loop, left, waiting;
  };
  // What lanes see at one step.
  struct State {
    std::vector<Val> variables, results;
    std::vector<Loop> loops;
    bool ended = false;  // all lanes that came here have gone elsewhere
  };

  bool is(Val v, bool value) const {
    const Inst& i = out_.body[v];
    return i.op == Op::constant && i.type == DType::Bool && (i.imm & 1) == value;
  }
  Val truth(bool v) { return b_.constant_bits(DType::Bool, v); }
  bool opposite(Val x, Val y) const {
    return out_.body[x].op == Op::logical_not && out_.body[x].a == y;
  }
  Val both(Val x, Val y) {
    if (x == y || is(y, true) || is(x, false)) return x;
    if (is(x, true) || is(y, false)) return y;
    return b_.emit(Op::logical_and, DType::Bool, x, y);
  }
  Val either(Val x, Val y) {
    if (x == y || is(y, false) || is(x, true)) return x;
    if (is(x, false) || is(y, true)) return y;
    if (opposite(x, y) || opposite(y, x)) return truth(true);
    return b_.emit(Op::logical_or, DType::Bool, x, y);
  }
  Val inverse(Val x) {
    if (is(x, false) || is(x, true)) return truth(is(x, false));
    if (out_.body[x].op == Op::logical_not) return out_.body[x].a;
    return b_.emit(Op::logical_not, DType::Bool, x);
  }
  Val choose(Val c, Val x, Val y) {
    if (x == y || is(c, true)) return x;
    if (is(c, false)) return y;
    // What the same condition has chosen before.
    if (out_.body[x].op == Op::select && out_.body[x].a == c) x = out_.body[x].b;
    if (out_.body[y].op == Op::select && out_.body[y].a == c) y = out_.body[y].c;
    DType t = b_.type(x);
    if (t == DType::Bool && is(x, true)) return either(c, y);
    if (t == DType::Bool && is(y, true)) return either(inverse(c), x);
    if (t == DType::Bool && is(x, false)) return both(inverse(c), y);
    if (t == DType::Bool && is(y, false)) return both(c, x);
    return b_.emit(Op::select, t, c, x, y);
  }
  // The lanes for which nothing happens here.
  Val idle() {
    Val all = truth(false);
    for (const Loop& l : state_.loops) all = either(either(all, l.left), l.waiting);
    return all;
  }
  void put(Val& to, Val value, DType t) {
    if (to == kNone) to = b_.constant_bits(t, 0);
    to = choose(idle(), to, value);
  }

  // Who is left, after a branch. In a loop this is computed only where a lane has taken it: as
  // long as the processor guesses right that none has, an iteration need not wait for the one
  // before.
  void leave(Val c, Val x, Val& y) {
    if (x == y) return;
    if (turning_ == 0) {
      y = choose(c, x, y);
      return;
    }
    Val begin = b_.begin_if_any(c), value = choose(c, x, y);
    b_.end_if_any(begin);
    y = value > begin ? b_.emit(Op::if_result, DType::Bool, y, value, c) : value;
  }

  void merge(Val c, const State& yes) {
    auto both = [&](Val x, Val& y) {
      if (x == y) return;
      DType t = b_.type(x == kNone ? y : x);
      Val zero = b_.constant_bits(t, 0);
      y = choose(c, x == kNone ? zero : x, y == kNone ? zero : y);
    };
    for (size_t n = 0; n < state_.variables.size(); ++n)
      both(yes.variables[n], state_.variables[n]);
    for (size_t n = 0; n < state_.results.size(); ++n) both(yes.results[n], state_.results[n]);
    state_.ended = state_.ended && yes.ended;
    for (size_t n = 0; n < state_.loops.size(); ++n) {
      leave(c, yes.loops[n].left, state_.loops[n].left);
      leave(c, yes.loops[n].waiting, state_.loops[n].waiting);
    }
  }

  // A value that a loop changes: a variable, a result, or who is left in a loop around it.
  struct Position {
    enum Kind { Variable, Result, Left, Waiting } kind;
    size_t number;
    bool operator==(const Position&) const = default;
  };
  Val& value(const Position& p) {
    switch (p.kind) {
      case Position::Variable: return state_.variables[p.number];
      case Position::Result: return state_.results[p.number];
      case Position::Left: return state_.loops[p.number].left;
      default: return state_.loops[p.number].waiting;
    }
  }
  // Where and as what: all that an iteration of the loop may change.
  std::vector<std::pair<Position, DType>> changes(size_t begin) {
    std::vector<std::pair<Position, DType>> all;
    auto add = [&](Position::Kind kind, size_t number, DType t) {
      std::pair<Position, DType> p{{kind, number}, t};
      if (std::find(all.begin(), all.end(), p) == all.end()) all.push_back(p);
    };
    for (size_t n = begin + 1; n < end_[begin]; ++n) {
      const Inst& i = f_.body[n];
      if (i.op == Op::set) add(Position::Variable, i.a, f_.body[i.a].type);
      if (i.op == Op::give) add(Position::Result, i.imm, f_.results[i.imm]);
      for (size_t l = 0; l < state_.loops.size(); ++l) {
        if (state_.loops[l].loop != i.a) continue;
        if (i.op == Op::break_loop) add(Position::Left, l, DType::Bool);
        if (i.op == Op::continue_loop) add(Position::Waiting, l, DType::Bool);
      }
    }
    return all;
  }

  // A loop that goes on while lanes are left in it. Those that are not keep what they have.
  void iterations(size_t begin) {
    auto changing = changes(begin);
    std::vector<Val> initial, carried;
    for (auto [renamed, type] : changing) {
      Val v = value(renamed);
      initial.push_back(v == kNone ? b_.constant_bits(type, 0) : v);
    }
    Val nobody = truth(false), repeat = b_.begin_repeat();
    for (Val v : initial) carried.push_back(b_.carry(v));
    state_.loops.push_back({static_cast<Val>(begin), b_.carry(nobody), nobody});
    Val left = state_.loops.back().left;
    for (size_t c = 0; c < carried.size(); ++c) value(changing[c].first) = carried[c];
    ++turning_;
    run(begin + 1, end_[begin]);
    --turning_;
    if (failed_) return;
    state_.loops.back().waiting = nobody;
    state_.ended = false;
    std::vector<std::pair<Val, Val>> next{{left, state_.loops.back().left}};
    for (size_t c = 0; c < carried.size(); ++c)
      next.emplace_back(carried[c], value(changing[c].first));
    b_.end_repeat(repeat, next, inverse(idle()));
    state_.loops.pop_back();
    for (size_t c = 0; c < carried.size(); ++c) value(changing[c].first) = carried[c];
  }

  void run(size_t from, size_t to) {
    for (size_t n = from; n < to && !failed_; ++n) {
      if (state_.ended || is(idle(), true)) {
        // Lanes that wait for the end of an iteration find it here, or further out.
        while (n < to && !(f_.body[n].op == Op::loop_next && !state_.loops.empty() &&
                           f_.body[n].a == state_.loops.back().loop))
          ++n;
        if (n == to) return;
      }
      const Inst& i = f_.body[n];
      Val a = i.a == kNone ? kNone : at_[i.a], b = i.b == kNone ? kNone : at_[i.b];
      switch (i.op) {
        case Op::variable:
        case Op::branch_else:
        case Op::end_branch:
        case Op::end_loop:
        case Op::ret: break;
        case Op::get: {
          Val& v = state_.variables[i.a];
          if (v == kNone) v = b_.constant_bits(i.type, 0);
          at_[n] = v;
          break;
        }
        case Op::param: at_[n] = params_[i.imm]; break;
        case Op::set: put(state_.variables[i.a], b, i.type); break;
        case Op::give: put(state_.results[i.imm], a, i.type); break;
        case Op::branch: {
          size_t side = else_[n] ? else_[n] : end_[n];
          if (is(a, true)) {
            run(n + 1, side);
          } else if (is(a, false)) {
            run(side, end_[n]);
          } else {
            State before = state_;
            run(n + 1, side);
            std::swap(before, state_);
            run(side, end_[n]);
            if (failed_) return;  // what a failure leaves open differs between the sides
            merge(a, before);
          }
          n = end_[n];
          break;
        }
        case Op::loop:
          if (f_.body[end_[n] - 1].op == Op::break_loop && !again_[n]) {
            // One iteration, if all have left by then.
            state_.loops.push_back({static_cast<Val>(n), truth(false), truth(false)});
            run(n + 1, end_[n]);
            if (!state_.ended && !is(idle(), true)) failed_ = true;
            state_.loops.pop_back();
            state_.ended = false;
          } else {
            iterations(n);
          }
          n = end_[n];
          break;
        case Op::loop_next:
          for (Loop& l : state_.loops)
            if (l.loop == i.a) l.waiting = truth(false);
          state_.ended = false;
          break;
        case Op::break_loop:
        case Op::continue_loop: {
          Val here = inverse(idle());
          for (Loop& l : state_.loops) {
            Val& who = i.op == Op::break_loop ? l.left : l.waiting;
            if (l.loop == i.a) who = either(who, here);
          }
          state_.ended = true;
          break;
        }
        case Op::equal:
        case Op::not_equal:
          // Of the status that a call gives.
          at_[n] = a == b && is_integer(b_.type(a)) ? truth(i.op == Op::equal)
                                                    : b_.emit(i.op, i.type, a, b);
          break;
        default: {
          bool row = static_cast<int>(i.op) < kNumRows &&
                     !(i.op == Op::power && is_integer(i.type)) && numbus::row(i.op).nin <= 2;
          bool step = i.op == Op::constant || i.op == Op::select || i.op == Op::cast ||
                      i.op == Op::real_part || i.op == Op::imag_part || i.op == Op::make_complex;
          failed_ = !row && !step;
          Val c = i.c == kNone ? kNone : at_[i.c];
          if (!failed_) at_[n] = b_.emit(i.op, i.type, a, b, c, i.imm);
        }
      }
    }
  }

  // The steps that the result needs, all parameters among them.
  std::optional<Function> live(Val result) {
    size_t size = out_.body.size();
    if (size > kMost) return {};
    // What a carried value is made of: its loop and what it becomes in each iteration.
    std::vector<std::vector<Val>> after(size);
    for (size_t n = 0; n < size; ++n) {
      const Inst& i = out_.body[n];
      if (i.op == Op::carry_next) after[i.a].push_back(static_cast<Val>(n));
      if (i.op == Op::end_if) {
        after[i.a].push_back(static_cast<Val>(n));
        // What was computed there, and only there, needs it.
        for (size_t c = i.a + 1; c < n; ++c) after[c].push_back(i.a);
      }
      if (i.op == Op::end_repeat) {
        after[i.a].push_back(static_cast<Val>(n));
        for (size_t c = i.a + 1; out_.body[c].op == Op::carry; ++c) after[c].push_back(i.a);
      }
    }
    std::vector<char> used(size, 0);
    std::vector<Val> open{result};
    for (size_t n = 0; n < size; ++n)
      if (out_.body[n].op == Op::param) open.push_back(static_cast<Val>(n));
    while (!open.empty()) {
      Val v = open.back();
      open.pop_back();
      if (v == kNone || used[v]) continue;
      used[v] = 1;
      const Inst& i = out_.body[v];
      open.insert(open.end(), {i.a, i.b, i.c});
      open.insert(open.end(), after[v].begin(), after[v].end());
    }
    Function r = out_;
    r.body.clear();
    std::vector<Val> renamed(size, kNone);
    for (size_t n = 0; n < size; ++n) {
      if (!used[n]) continue;
      Inst i = out_.body[n];
      for (Val* o : {&i.a, &i.b, &i.c})
        if (*o != kNone) *o = renamed[*o];
      renamed[n] = static_cast<Val>(r.body.size());
      r.body.push_back(i);
      if (i.op == Op::end_if) r.body[i.a].imm = renamed[n];
    }
    r.body.push_back({Op::give, r.results[0], renamed[result]});
    return r;
  }

  const Function& f_;
  Function out_;
  ir::Builder b_;
  State state_;
  std::vector<Val> at_, params_;  // of f_; complex numbers as two
  std::vector<size_t> end_, else_;
  std::vector<char> again_;  // loops that have a continue
  int turning_ = 0;          // loops that are open
  bool failed_ = false;
};

}  // namespace

std::optional<Function> straightened(const Function& f, const std::vector<DType>& params,
                                     DType result) {
  return Straightener(f, params, result).run();
}

}  // namespace numbus
