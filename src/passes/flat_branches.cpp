// Both sides are computed, and variables become what the condition says. Of nested branches the
// inner ones go first, as long as the outer ones stay short. What is set is known up to the next
// step of control flow; variables that nobody reads then are gone.
#include "passes/flat_branches.h"

#include <map>

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;

constexpr int kShort = 8;  // steps of both sides, about what a branch over lanes costs

bool cheap(const Inst& i) {
  switch (i.op) {
    case Op::divide:
    case Op::fmod:
    case Op::sqrt:
    case Op::gcd:
    case Op::int_div: return false;
    case Op::constant:
    case Op::get:
    case Op::set:
    case Op::select:
    case Op::cast:
    case Op::bits: return true;
    default: return static_cast<int>(i.op) < kNumRows && row(i.op).primitive;
  }
}

// The end of a branch that can go, or 0.
size_t short_end(const ir::Function& f, size_t branch) {
  int count = 0;
  for (size_t n = branch + 1; n < f.body.size(); ++n) {
    const Inst& i = f.body[n];
    if (i.op == Op::end_branch) return n;
    if (i.op == Op::branch_else) continue;
    count += i.op != Op::constant && i.op != Op::get && i.op != Op::set;
    if (!cheap(i) || count > kShort) return 0;
  }
  return 0;
}

class Flattener {
 public:
  explicit Flattener(ir::Function& f) : f_(f), at_(f.body.size(), kNone) {}

  bool run() {
    bool any = false;
    for (size_t n = 0; n < f_.body.size(); ++n) {
      size_t end = f_.body[n].op == Op::branch ? short_end(f_, n) : 0;
      if (end) {
        flatten(n, end);
        n = end;
        any = true;
      } else {
        copy(n);
        if (f_.body[n].op == Op::end_if) body_[body_[at_[n]].a].imm = at_[n];
      }
    }
    f_.body = std::move(body_);
    return any;
  }

  static void drop_unread(ir::Function& f) {
    std::vector<char> read(f.body.size(), 0);
    for (const Inst& i : f.body)
      if (i.op == Op::get) read[i.a] = 1;
    for (Inst& i : f.body)
      if (i.op == Op::set && !read[i.a]) i = {Op::constant, i.type};
  }

 private:
  Val emit(const Inst& i) {
    body_.push_back(i);
    return static_cast<Val>(body_.size() - 1);
  }
  void copy(size_t n) {
    Inst i = f_.body[n];
    for (Val* o : {&i.a, &i.b, &i.c})
      if (*o != kNone) *o = at_[*o];
    if (i.op == Op::get) {
      at_[n] = get(i.type, i.a);
      return;
    }
    if (i.op == Op::set) known_[i.a] = i.b;
    if (i.op >= Op::branch && i.op <= Op::continue_loop) known_.clear();
    if (i.op == Op::if_any || i.op == Op::end_if) known_.clear();
    at_[n] = emit(i);
  }
  Val get(DType t, Val variable) {
    auto found = known_.find(variable);
    return found != known_.end() ? found->second : emit({Op::get, t, variable});
  }
  void flatten(size_t branch, size_t end) {
    Val condition = at_[f_.body[branch].a];
    std::map<Val, Val> sides[2];  // what variables are at the end of each
    int side = 0;
    for (size_t n = branch + 1; n < end; ++n) {
      const Inst& i = f_.body[n];
      if (i.op == Op::branch_else) {
        side = 1;
      } else if (i.op == Op::set) {
        sides[side][at_[i.a]] = at_[i.b];
      } else if (i.op == Op::get && sides[side].contains(at_[i.a])) {
        at_[n] = sides[side][at_[i.a]];
      } else {
        copy(n);
      }
    }
    std::map<Val, Val> all = sides[0];
    all.insert(sides[1].begin(), sides[1].end());
    for (auto [variable, value] : all) {
      DType t = body_[variable].type;
      Val either[2];
      for (int s = 0; s < 2; ++s) {
        auto found = sides[s].find(variable);
        either[s] = found != sides[s].end() ? found->second : get(t, variable);
      }
      known_[variable] = emit({Op::select, t, condition, either[0], either[1]});
      emit({Op::set, t, variable, known_[variable]});
    }
  }

  ir::Function& f_;
  std::vector<Inst> body_;
  std::vector<Val> at_;
  std::map<Val, Val> known_;
};

}  // namespace

void flatten_branches(ir::Function& f) {
  while (Flattener(f).run()) {
  }
  Flattener::drop_unread(f);
}

}  // namespace numbus
