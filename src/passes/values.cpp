// Values by number, through variables, branches and loops.
#include "passes/values.h"

#include <algorithm>

#include "base/hash.h"

namespace numbus {

using ir::Inst;
using ir::Intrinsic;
using ir::kNone;
using ir::Val;
using Form = ValueNode::Form;

Values::Values(const ir::Function& function, bool kernel)
    : f(function), lanes_(kernel || function.portion) {
  size_t size = f.body.size();
  of.assign(size, kUnknown);
  end.assign(size, 0);
  middle.assign(size, 0);
  once.assign(size, 0);
  yes_leaves.assign(size, 0);
  no_leaves.assign(size, 0);
  assigned.resize(size);
  changed_.resize(size);
  index_of_.assign(size, kUnknown);
  structure();
  walk(0, size);
}

void Values::structure() {
  std::vector<size_t> loops;
  std::vector<char> continued(f.body.size(), 0);
  for (size_t n = 0; n < f.body.size(); ++n) {
    const Inst& i = f.body[n];
    switch (i.op) {
      case Op::variable:
        index_of_[n] = static_cast<int>(variables_.size());
        variables_.push_back(static_cast<Val>(n));
        break;
      case Op::loop: loops.push_back(n); break;
      case Op::branch_else:
      case Op::loop_next: middle[i.a] = n; break;
      case Op::continue_loop: continued[i.a] = 1; break;
      case Op::set:
        for (size_t l : loops) assigned[l].push_back(i.a);
        break;
      case Op::end_branch: end[i.a] = n; break;
      case Op::end_loop: {
        end[i.a] = n;
        const Inst& last = f.body[n - 1];
        once[i.a] = last.op == Op::break_loop && last.a == i.a && !middle[i.a] && !continued[i.a];
        auto& all = assigned[i.a];
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        loops.pop_back();
        break;
      }
      default: break;
    }
  }
  for (Val v : variables_) now_.push_back(pure(Op::constant, f.body[v].type));
}

int Values::pure(Op op, DType type, int a, int b, int c, int64_t imm) {
  uint64_t key = mix(mix(static_cast<uint64_t>(op) * 64 + static_cast<uint64_t>(type),
                         static_cast<uint64_t>(a) * 65599 + static_cast<uint64_t>(b)),
                     static_cast<uint64_t>(c) * 65599 + static_cast<uint64_t>(imm));
  auto& bucket = known_[key];
  for (int v : bucket) {
    const ValueNode& o = nodes[v];
    if (o.op == op && o.type == type && o.a == a && o.b == b && o.c == c && o.imm == imm) return v;
  }
  ValueNode v{Form::Pure, op, type, a, b, c, imm};
  for (int o : {a, b, c}) v.per_lane = v.per_lane || (o != kUnknown && nodes[o].per_lane);
  if (op == Op::intrinsic && lanes_) {
    auto k = static_cast<Intrinsic>(imm & 255);
    v.per_lane = k <= Intrinsic::tid_z || k == Intrinsic::laneid || k == Intrinsic::lane_index;
  }
  bucket.push_back(node(v));
  return bucket.back();
}

int Values::opaque(const Inst& i) {
  ValueNode v{Form::Opaque, i.op, i.type};
  v.per_lane = lanes_;
  return node(v);
}

int Values::iteration(Val loop, Val variable) const {
  auto it = iterations_.find(static_cast<int64_t>(loop) << 32 | variable);
  return it == iterations_.end() ? kUnknown : it->second;
}

void Values::walk(size_t begin, size_t stop) {
  for (size_t n = begin; n < stop; ++n) {
    const Inst& i = f.body[n];
    if (i.op == Op::branch) {
      size_t last = end[n], other = middle[n] ? middle[n] : last;
      bool before = left_;
      std::vector<int> at = now_;
      walk(n + 1, other);
      std::vector<int> yes = std::move(now_);
      yes_leaves[n] = left_;
      now_ = std::move(at);
      left_ = before;
      walk(other + 1, last);
      no_leaves[n] = left_;
      left_ = yes_leaves[n] && no_leaves[n];
      if (no_leaves[n]) {
        now_ = std::move(yes);
      } else if (!yes_leaves[n]) {
        for (size_t v = 0; v < now_.size(); ++v)
          if (now_[v] != yes[v])
            now_[v] = pure(Op::select, f.body[variables_[v]].type, of[i.a], yes[v], now_[v]);
      }
      n = last;
    } else if (i.op == Op::loop) {
      size_t last = end[n], next = middle[n] ? middle[n] : last;
      if (!once[n])
        for (Val v : assigned[n]) {
          ValueNode t{Form::Iteration, Op::get, f.body[v].type, now(v)};
          t.loop = static_cast<Val>(n);
          t.variable = v;
          t.per_lane = lanes_;
          now(v) = node(t);
          iterations_[static_cast<int64_t>(n) << 32 | v] = now(v);
        }
      walk(n + 1, next);
      if (middle[n]) {
        bool skipped = false;
        for (size_t k = n; k < next; ++k) {
          if (f.body[k].op == Op::continue_loop && f.body[k].a == static_cast<Val>(n))
            skipped = true;
        }
        left_ = false;
        if (skipped)
          for (size_t k = n; k < next; ++k)
            if (f.body[k].op == Op::set) now(f.body[k].a) = opaque(f.body[f.body[k].a]);
        walk(next + 1, last);
      }
      left_ = false;
      const auto& changed = changed_[n];
      for (Val v : assigned[n]) {
        int t = iteration(static_cast<Val>(n), v);
        if (t == kUnknown || std::find(changed.begin(), changed.end(), v) != changed.end()) {
          now(v) = opaque(f.body[v]);
          continue;
        }
        ValueNode last = nodes[t];
        last.form = Form::Left;
        now(v) = node(last);
      }
      n = last;
    } else {
      step(n);
    }
  }
}

void Values::step(size_t n) {
  const Inst& i = f.body[n];
  auto value = [&](Val o) { return o == kNone ? kUnknown : of[o]; };
  switch (i.op) {
    case Op::param:
    case Op::constant: of[n] = pure(i.op, i.type, kUnknown, kUnknown, kUnknown, i.imm); break;
    case Op::get: of[n] = now(i.a); break;
    case Op::set: now(i.a) = of[i.b]; break;
    case Op::break_loop:
      if (!left_ && !once[i.a])
        for (Val v : assigned[i.a])
          if (now(v) != iteration(i.a, v)) changed_[i.a].push_back(v);
      left_ = true;
      break;
    case Op::continue_loop:
    case Op::ret: left_ = true; break;
    case Op::intrinsic: {
      Intrinsic k = ir::intrinsic_of(i);
      bool fixed = k <= Intrinsic::nctaid_z || k == Intrinsic::laneid || k == Intrinsic::warpsize ||
                   k == Intrinsic::lane_index || k == Intrinsic::lane_count ||
                   k == Intrinsic::dynamic_shared;
      of[n] = fixed ? pure(i.op, i.type, kUnknown, kUnknown, kUnknown, i.imm) : opaque(i);
      break;
    }
    case Op::cast:
    case Op::bits: of[n] = pure(i.op, i.type, value(i.a), kUnknown, kUnknown, i.imm); break;
    case Op::select: of[n] = pure(i.op, i.type, value(i.a), value(i.b), value(i.c), i.imm); break;
    default:
      // A mark that lets floats contract changes no integer.
      if (static_cast<int>(i.op) < kNumRows)
        of[n] = pure(i.op, i.type, value(i.a), value(i.b), value(i.c), i.imm);
      else
        of[n] = opaque(i);
  }
}

}  // namespace numbus
