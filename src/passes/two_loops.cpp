// Loops in two versions.
#include "passes/two_loops.h"

#include <algorithm>

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;

constexpr size_t kMostSteps = 3000;  // of a loop that is made two
constexpr size_t kMostMore = 6000;   // steps that a function grows by

class Copy {
 public:
  Copy(const ir::Function& f, const Decisions& d)
      : f_(f), d_(d), at_(f.body.size(), kNone), free_(f.body.size(), 0), plain_(f.body.size(), 0) {
    last_use_.assign(f.body.size(), 0);
    first_read_.assign(f.body.size(), f.body.size());
    for (const Check& c : d.checks) checks_[c.branch] = &c;
    for (size_t n = f.body.size(); n-- > 0;) {
      const Inst& i = f.body[n];
      for (Val o : {i.a, i.b, i.c})
        if (o != kNone) last_use_[o] = std::max(last_use_[o], n);
      if (i.op == Op::get) first_read_[i.a] = n;
    }
  }

  std::vector<Inst> run() {
    range(0, f_.body.size(), true);
    // if_any keeps the index of its end.
    std::vector<Val> open;
    for (size_t n = 0; n < to_.size(); ++n) {
      if (to_[n].op == Op::if_any) open.push_back(static_cast<Val>(n));
      if (to_[n].op == Op::end_if) {
        to_[open.back()].imm = static_cast<Val>(n);
        open.pop_back();
      }
    }
    return std::move(to_);
  }

 private:
  Val put(const Inst& i) {
    to_.push_back(i);
    return static_cast<Val>(to_.size()) - 1;
  }

  void range(size_t begin, size_t end, bool may_double) {
    for (size_t n = begin; n < end; ++n) {
      const Inst& i = f_.body[n];
      if (i.op == Op::branch && (d_.always[n] || free_[n])) {
        n = d_.end[n];
        continue;
      }
      if (i.op == Op::loop && may_double && doubled(n)) {
        n = d_.end[n];
        continue;
      }
      if (i.op == Op::branch && d_.serial && checks_.count(n)) {
        check(*checks_[n]);
        n = d_.end[n];
        continue;
      }
      if (i.op == Op::variable && at_[n] != kNone) continue;
      if (i.op == Op::select && i.imm == ir::kFromEnd && !d_.from_start[n] && !plain_[n]) {
        auto same = [&](const Found& o) { return o.value == d_.of[n]; };
        auto it = std::find_if(found_.rbegin(), found_.rend(), same);
        if (it != found_.rend()) {
          at_[n] = put({Op::get, DType::I64, it->variable});
          continue;
        }
      }
      if (i.op == Op::select && (d_.from_start[n] || plain_[n])) {
        at_[n] = at_[i.c];
        continue;
      }
      Inst c = i;
      for (Val* o : {&c.a, &c.b, &c.c})
        if (*o != kNone) *o = at_[*o];
      if (i.op == Op::loop) c.imm = mark(n);
      at_[n] = put(c);
      switch (i.op) {
        case Op::branch:
        case Op::loop: scopes_.push_back(found_.size()); break;
        case Op::branch_else:
        case Op::loop_next: found_.resize(scopes_.back()); break;
        case Op::end_branch:
        case Op::end_loop:
          found_.resize(scopes_.back());
          scopes_.pop_back();
          break;
        default: break;
      }
    }
  }

  // A short loop that reads what it has written, and keeps a check: iteration by iteration, each
  // element would go through memory.
  int64_t mark(size_t loop) const {
    if (rare_ > 0) return ir::kRare;
    if (f_.body[loop].imm == ir::kLaneLoop) return ir::kLaneLoop;
    size_t last = d_.end[loop];
    if (!d_.serial || last - loop > 150) return 0;
    bool checks = false;
    std::vector<int> read, written;
    for (size_t k = loop + 1; k < last; ++k) {
      const Inst& i = f_.body[k];
      if (i.op == Op::loop || i.op == Op::call) return 0;
      if (i.op == Op::read) read.push_back(d_.of[i.a]);
      if (i.op == Op::write) written.push_back(d_.of[i.b]);
      checks = checks || (i.op == Op::branch && i.imm == ir::kBounds && !d_.always[k] && !free_[k]);
    }
    auto known = [&](int base) {
      return std::find(written.begin(), written.end(), base) != written.end();
    };
    return checks && std::any_of(read.begin(), read.end(), known) ? ir::kUnrolled : 0;
  }

  // A check that stays: one comparison, as if without sign, unless the index counts from the end.
  void check(const Check& c) {
    const Inst& choice = f_.body[c.at];
    Val at = at_[c.chosen ? choice.c : c.at], extent = at_[c.extent];
    auto outside = [&](Val v) {
      auto bits = [&](Val x) { return put({Op::bits, DType::U64, x}); };
      Val x = bits(v), y = bits(extent);
      Val inside = put({Op::less, DType::Bool, x, y});
      return put({Op::logical_not, DType::Bool, inside});
    };
    auto raise = [&](Val where) {
      Val b = put({Op::branch, DType::Bool, outside(where), kNone, kNone, ir::kBounds});
      at_[c.branch] = b;
      scopes_.push_back(found_.size());
      range(c.branch + 1, d_.end[c.branch] + 1, false);
    };
    if (!c.chosen) {
      raise(at);
      return;
    }
    Val index = put({Op::variable, DType::I64});
    put({Op::set, DType::I64, index, at});
    Val below = put({Op::branch, DType::Bool, outside(at), kNone, kNone, ir::kRare});
    Val wrapped = put({Op::add, DType::I64, at, extent});
    raise(wrapped);
    put({Op::set, DType::I64, index, wrapped});
    put({Op::end_branch, DType::Bool, below});
    at_[c.at] = put({Op::get, DType::I64, index});
    found_.push_back({d_.of[c.at], index});
  }

  bool doubled(size_t n) {
    auto it = d_.lifted.find(n);
    if (it == d_.lifted.end()) return false;
    size_t last = d_.end[n], size = last - n;
    std::vector<const Lifted*> now;
    for (const Lifted& l : it->second)
      if (!free_[l.check]) now.push_back(&l);
    if (now.empty() || size > kMostSteps || more_ + size > kMostMore) return false;
    // What the loop computes is not used after it, but for variables.
    for (size_t k = n; k <= last; ++k)
      if (last_use_[k] > last && f_.body[k].op != Op::variable) return false;
    more_ += size;
    for (size_t k = n; k <= last; ++k)
      if (f_.body[k].op == Op::variable && at_[k] == kNone && !local(k)) at_[k] = put(f_.body[k]);
    made_.clear();
    std::vector<Sum> all;
    for (const Lifted* l : now)
      for (const Sum& s : l->conditions)
        if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
    Val holds = kNone;
    for (const Sum& s : all) {
      Val one = condition(s, n);
      holds = holds == kNone ? one : put({Op::logical_and, DType::Bool, holds, one});
    }
    // Checks that hold in this loop whatever its range is.
    if (holds == kNone) holds = put({Op::constant, DType::Bool, kNone, kNone, kNone, 1});
    Val branch = put({Op::branch, DType::Bool, holds});
    for (const Lifted* l : now) {
      free_[l->check] = 1;
      if (l->select != kNone) ++plain_[l->select];
    }
    copy(n, last, true);
    for (const Lifted* l : now) {
      free_[l->check] = 0;
      if (l->select != kNone) --plain_[l->select];
    }
    put({Op::branch_else, DType::Bool, branch});
    // What only this loop uses is not to be the other one's, too: lanes would have to keep it.
    for (size_t k = n; k <= last; ++k)
      if (f_.body[k].op == Op::set && own(f_.body[k].a, n, last)) {
        Val v = f_.body[k].a;
        if (static_cast<size_t>(v) > n) continue;
        Val first = put({Op::get, f_.body[v].type, at_[v]});
        Val mine = put({Op::variable, f_.body[v].type});
        put({Op::set, f_.body[v].type, mine, first});
        renamed_.emplace_back(v, at_[v]);
        at_[v] = mine;
      }
    copy(n, last, false);
    for (; !renamed_.empty(); renamed_.pop_back())
      at_[renamed_.back().first] = renamed_.back().second;
    put({Op::end_branch, DType::Bool, branch});
    return true;
  }

  // Whether a variable is set where it is declared, and used there only: nothing of it remains from
  // one iteration to the next.
  bool local(size_t v) const {
    int inside = 0;
    bool set = false;
    for (size_t k = v + 1; k <= last_use_[v]; ++k) {
      const Inst& i = f_.body[k];
      if (i.op == Op::branch || i.op == Op::loop) ++inside;
      if ((i.op == Op::end_branch || i.op == Op::end_loop) && --inside < 0) return false;
      if (inside == 0 && (i.op == Op::branch_else || i.op == Op::loop_next)) return false;
      if (i.a == static_cast<Val>(v) && !set) {
        if (i.op != Op::set || inside > 0) return false;
        set = true;
      }
    }
    return true;
  }

  // Whether a variable is set right before the loop, and used in there only.
  bool own(Val v, size_t n, size_t last) const {
    if (first_read_[v] < n || last_use_[v] > last) return false;
    for (auto& [known, was] : renamed_)
      if (known == v) return false;
    int inside = 0;
    for (size_t k = n; k-- > static_cast<size_t>(v);) {
      const Inst& i = f_.body[k];
      if (i.op == Op::end_branch || i.op == Op::end_loop) ++inside;
      if ((i.op == Op::branch || i.op == Op::loop) && --inside < 0) return false;
      if (inside == 0 && (i.op == Op::branch_else || i.op == Op::loop_next)) return false;
      if (inside == 0 && i.op == Op::set && i.a == v) return true;
    }
    return false;
  }

  void copy(size_t n, size_t last, bool may_double) {
    for (size_t k = n; k <= last; ++k)
      if (f_.body[k].op == Op::variable && local(k)) at_[k] = kNone;
    Inst loop = f_.body[n];
    rare_ += !may_double;
    loop.imm = mark(n);
    at_[n] = put(loop);
    scopes_.push_back(found_.size());
    range(n + 1, last + 1, may_double);
    rare_ -= !may_double;
  }

  // --- conditions

  Val number(int64_t k) { return put({Op::constant, DType::I64, kNone, kNone, kNone, k}); }

  // Positive terms on one side, negative ones on the other.
  Val condition(const Sum& s, size_t loop) {
    Val sides[2] = {kNone, kNone};
    auto add = [&](int side, Val v) {
      sides[side] = sides[side] == kNone ? v : put({Op::add, DType::I64, sides[side], v});
    };
    for (const Term& t : s.terms) {
      Val v = wide(t.b, loop);
      if (t.a >= 0) v = put({Op::multiply, DType::I64, wide(t.a, loop), v});
      int64_t k = std::abs(t.k);
      if (k != 1) v = put({Op::multiply, DType::I64, v, number(k)});
      add(t.k < 0, v);
    }
    // The number where no sum is needed for it.
    if (s.k != 0) {
      if (sides[0] == kNone || (sides[1] != kNone && s.k < 0) || (sides[1] == kNone))
        add(sides[0] == kNone ? 0 : 1, number(sides[0] == kNone ? s.k : -s.k));
      else
        add(0, number(s.k));
    }
    for (Val& v : sides)
      if (v == kNone) v = number(0);
    return put({Op::less_equal, DType::Bool, sides[0], sides[1]});
  }

  Val wide(int v, size_t loop) {
    Val w = value(v, loop);
    return d_.nodes[v].type == DType::I64 ? w : put({Op::cast, DType::I64, w});
  }

  Val value(int v, size_t loop) {
    auto known = made_.find(v);
    if (known != made_.end()) return known->second;
    auto found = d_.at_hand.find({loop, v});
    if (found != d_.at_hand.end()) return made_[v] = at_[found->second];
    const ValueNode& n = d_.nodes[v];
    Inst i{n.op, n.type, kNone, kNone, kNone, n.imm};
    if (n.a != kUnknown) i.a = value(n.a, loop);
    if (n.b != kUnknown) i.b = value(n.b, loop);
    if (n.c != kUnknown) i.c = value(n.c, loop);
    return made_[v] = put(i);
  }

  const ir::Function& f_;
  const Decisions& d_;
  std::vector<Inst> to_;
  std::vector<Val> at_;
  std::vector<char> free_;   // checks that are decided
  std::vector<char> plain_;  // choices that are
  std::vector<size_t> last_use_, first_read_;
  // Indices that have been counted from the start here: variables that hold them.
  struct Found {
    int value;
    Val variable;
  };
  std::vector<Found> found_;
  std::vector<size_t> scopes_;  // how many were when each began
  std::map<size_t, const Check*> checks_;
  std::vector<std::pair<Val, Val>> renamed_;  // variables, and what they are elsewhere
  std::map<int, Val> made_;
  size_t more_ = 0;
  int rare_ = 0;  // loops around this that run where their conditions do not hold
};

}  // namespace

void make_two(ir::Function& f, const Decisions& d) { f.body = Copy(f, d).run(); }

}  // namespace numbus
