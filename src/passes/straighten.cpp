// Runs a function's steps with every branch taken both ways, keeping for each variable the value
// that its lanes would see.
#include "passes/straighten.h"

#include <algorithm>

namespace numbus {
namespace {

using ir::Function;
using ir::Inst;
using ir::kNone;
using ir::Val;

class Straightener {
 public:
  Straightener(const Function& f, const std::vector<DType>& params, DType result)
      : f_(f), b_(out_.body) {
    size_t size = f.body.size();
    at_.assign(size, kNone);
    end_.assign(size, 0);
    else_.assign(size, 0);
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
      if (f.body[n].op == Op::branch_else) else_[f.body[n].a] = n;
      if (f.body[n].op == Op::end_branch || f.body[n].op == Op::end_loop) end_[f.body[n].a] = n;
    }
  }

  std::optional<Function> run(int most) {
    run(0, f_.body.size());
    if (failed_) return {};
    for (Val v : state_.results)
      if (v == kNone) return {};
    const auto& r = state_.results;
    return live(r.size() == 2 ? b_.emit(Op::make_complex, out_.results[0], r[0], r[1]) : r[0],
                most);
  }

 private:
  // What lanes see at one place. `left`: for each open loop the lanes that have left it.
  struct State {
    std::vector<Val> variables, results;
    std::vector<std::pair<Val, Val>> left;
  };

  bool is(Val v, bool value) const {
    const Inst& i = out_.body[v];
    return i.op == Op::constant && i.type == DType::Bool && (i.imm & 1) == value;
  }
  Val truth(bool v) { return b_.constant_bits(DType::Bool, v); }
  Val either(Val x, Val y) {
    if (x == y || is(y, false) || is(x, true)) return x;
    if (is(x, false) || is(y, true)) return y;
    return b_.emit(Op::logical_or, DType::Bool, x, y);
  }
  Val inverse(Val x) {
    if (is(x, false) || is(x, true)) return truth(is(x, false));
    return b_.emit(Op::logical_not, DType::Bool, x);
  }
  Val choose(Val c, Val x, Val y) {
    if (x == y || is(c, true)) return x;
    if (is(c, false)) return y;
    // What the same condition has chosen before.
    if (out_.body[x].op == Op::select && out_.body[x].a == c) x = out_.body[x].b;
    if (out_.body[y].op == Op::select && out_.body[y].a == c) y = out_.body[y].c;
    DType t = b_.type(x);
    if (t == DType::Bool && is(x, true) && is(y, false)) return c;
    if (t == DType::Bool && is(x, false) && is(y, true)) return inverse(c);
    return b_.emit(Op::select, t, c, x, y);
  }
  // The lanes for which nothing happens here.
  Val idle() {
    Val all = truth(false);
    for (auto [loop, who] : state_.left) all = either(all, who);
    return all;
  }
  void put(Val& to, Val value, DType t) {
    if (to == kNone) to = b_.constant_bits(t, 0);
    to = choose(idle(), to, value);
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
    for (size_t n = 0; n < state_.left.size(); ++n) both(yes.left[n].second, state_.left[n].second);
  }

  void run(size_t from, size_t to) {
    for (size_t n = from; n < to && !failed_; ++n) {
      if (is(idle(), true)) return;
      const Inst& i = f_.body[n];
      Val a = i.a == kNone ? kNone : at_[i.a], b = i.b == kNone ? kNone : at_[i.b];
      switch (i.op) {
        case Op::variable:
        case Op::branch_else:
        case Op::end_branch:
        case Op::loop_next:
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
            merge(a, before);
          }
          n = end_[n];
          break;
        }
        case Op::loop: {
          state_.left.emplace_back(static_cast<Val>(n), truth(false));
          run(n + 1, end_[n]);
          // One turn, if all have left by then.
          if (failed_ || !is(idle(), true)) failed_ = true;
          state_.left.pop_back();
          n = end_[n];
          break;
        }
        case Op::break_loop: {
          // Nobody is left in the innermost loop; those who were idle there stay in outer ones.
          Val here = inverse(idle());
          for (auto& [loop, who] : state_.left)
            if (loop == i.a) who = either(who, here);
          state_.left.back().second = truth(true);
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

  std::optional<Function> live(Val result, int most) {
    size_t size = out_.body.size();
    std::vector<char> used(size, 0);
    used[result] = 1;
    int count = 0;
    for (size_t n = size; n-- > 0;) {
      const Inst& i = out_.body[n];
      if (i.op == Op::param) used[n] = 1;
      if (!used[n]) continue;
      count += i.op != Op::param && i.op != Op::constant;
      for (Val o : {i.a, i.b, i.c})
        if (o != kNone) used[o] = 1;
    }
    if (count > most) return {};
    Function r = out_;
    r.body.clear();
    std::vector<Val> place(size, kNone);
    for (size_t n = 0; n < size; ++n) {
      if (!used[n]) continue;
      Inst i = out_.body[n];
      for (Val* o : {&i.a, &i.b, &i.c})
        if (*o != kNone) *o = place[*o];
      place[n] = static_cast<Val>(r.body.size());
      r.body.push_back(i);
    }
    r.body.push_back({Op::give, r.results[0], place[result]});
    return r;
  }

  const Function& f_;
  Function out_;
  ir::Builder b_;
  State state_;
  std::vector<Val> at_, params_;  // of f_; complex numbers as two
  std::vector<size_t> end_, else_;
  bool failed_ = false;
};

}  // namespace

std::optional<Function> straightened(const Function& f, const std::vector<DType>& params,
                                     DType result, int most) {
  return Straightener(f, params, result).run(most);
}

}  // namespace numbus
