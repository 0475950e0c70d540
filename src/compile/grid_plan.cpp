// Cuts a kernel at its barriers and warp operations.
#include "compile/grid_plan.h"

#include <optional>

namespace numbus::compile {

using ir::Intrinsic;
using ir::kNone;
using ir::Val;

bool is_barrier(const ir::Inst& i) {
  if (i.op != Op::intrinsic) return false;
  Intrinsic k = ir::intrinsic_of(i);
  return k >= Intrinsic::barrier && k <= Intrinsic::barrier_or;
}

bool is_warp_operation(const ir::Inst& i) {
  if (i.op != Op::intrinsic) return false;
  Intrinsic k = ir::intrinsic_of(i);
  return k >= Intrinsic::syncwarp && k <= Intrinsic::match_all;
}

Runs Planner::plan() {
  r_.run.assign(size_, -1);
  r_.block_variable.assign(size_, 0);
  r_.crosses.assign(size_, 0);
  r_.persistent.assign(size_, 0);
  r_.moves.assign(size_, 0);
  ends_.assign(size_, 0);
  for (size_t n = 0; n < size_; ++n) {
    const ir::Inst& i = f_.body[n];
    if (i.op == Op::end_branch || i.op == Op::end_loop) ends_[i.a] = n;
  }
  block_index_.assign(size_, 0);
  block_indices(0, size_);
  // A variable is the block's if every assignment to it is, and gives all threads the same.
  for (size_t n = 0; n < size_; ++n)
    if (f_.body[n].op == Op::variable) r_.block_variable[n] = !v_.variable[n];
  bool changed = true;
  block_value_.assign(size_, 0);
  while (changed) {
    changed = false;
    values();
    for (size_t n = 0; n < size_; ++n) {
      const ir::Inst& i = f_.body[n];
      if (i.op != Op::set || !r_.block_variable[i.a]) continue;
      if (!block_index_[n] || !block_value_[i.b]) {
        r_.block_variable[i.a] = 0;
        changed = true;
      }
    }
  }
  walk(0, size_);
  uses();
  return std::move(r_);
}

bool Planner::of_block(size_t begin) const {
  bool waits = false;
  for (size_t n = begin; n < ends_[begin]; ++n) {
    const ir::Inst& i = f_.body[n];
    waits = waits || cuts_runs(i);
    if ((i.op == Op::break_loop || i.op == Op::continue_loop) && static_cast<size_t>(i.a) < begin &&
        !v_.divergent[i.a])
      waits = true;
  }
  return waits;
}

void Planner::block_indices(size_t begin, size_t end) {
  for (size_t n = begin; n < end; ++n) {
    const ir::Inst& i = f_.body[n];
    block_index_[n] = 1;
    if (i.op != Op::branch && i.op != Op::loop) continue;
    if (of_block(n)) {
      block_indices(n + 1, ends_[n]);
      block_index_[ends_[n]] = 1;
    }
    n = ends_[n];
    block_index_[n] = 1;
  }
}

void Planner::values() {
  for (size_t n = 0; n < size_; ++n) {
    const ir::Inst& i = f_.body[n];
    bool yes = block_index_[n] && !v_.value[n];
    for (Val o : {i.a, i.b, i.c})
      if (o != kNone && f_.body[o].op != Op::variable) yes = yes && block_value_[o];
    switch (i.op) {
      case Op::get:
      case Op::set: yes = yes && r_.block_variable[i.a]; break;
      case Op::write:
      case Op::read: yes = false; break;
      case Op::intrinsic: {
        Intrinsic k = ir::intrinsic_of(i);
        if (k >= Intrinsic::atomic_add && k <= Intrinsic::atomic_cas) yes = false;
        if (k == Intrinsic::fail) yes = false;
        if (is_warp_operation(i)) yes = k == Intrinsic::syncwarp;
        if (is_barrier(i)) yes = true;
        break;
      }
      default: break;
    }
    block_value_[n] = yes;
  }
}

void Planner::walk(size_t begin, size_t end) {
  auto flush = [&] {
    if (pending_) ++next_;
    pending_ = false;
  };
  for (size_t n = begin; n < end; ++n) {
    const ir::Inst& i = f_.body[n];
    if ((i.op == Op::branch || i.op == Op::loop) && of_block(n)) {
      flush();
      if (i.op == Op::branch && !block_value_[i.a]) r_.masks = true;
      if (i.op == Op::loop && v_.divergent[n]) r_.masks = true;
      // Which part a step is of does not matter here.
      walk(n + 1, ends_[n]);
      flush();
      n = ends_[n];
      continue;
    }
    if (i.op == Op::branch || i.op == Op::loop) {
      for (size_t k = n; k <= ends_[n]; ++k) {
        r_.run[k] = next_;
        if (f_.body[k].op == Op::break_loop && static_cast<size_t>(f_.body[k].a) < n)
          r_.masks = true;
        if (f_.body[k].op == Op::continue_loop && static_cast<size_t>(f_.body[k].a) < n)
          r_.possible = false;
      }
      pending_ = true;
      n = ends_[n];
      continue;
    }
    // What lanes of a warp give each other begins a run: all of them have ended the one before.
    if (is_warp_operation(i) && !block_value_[n]) flush();
    bool of_the_block = block_value_[n] || is_barrier(i) || i.op == Op::ret ||
                        i.op == Op::variable || i.op == Op::break_loop ||
                        i.op == Op::continue_loop || i.op == Op::branch_else ||
                        i.op == Op::loop_next || i.op == Op::give || i.op == Op::param;
    if (i.op == Op::continue_loop && v_.divergent[i.a]) r_.possible = false;
    bool ends_run = is_barrier(i) || is_warp_operation(i) || i.op == Op::ret || i.op == Op::set ||
                    i.op == Op::break_loop || i.op == Op::continue_loop ||
                    i.op == Op::branch_else || i.op == Op::loop_next;
    if (of_the_block) {
      if (ends_run) flush();
      continue;
    }
    r_.run[n] = next_;
    pending_ = true;
  }
}

void Planner::uses() {
  std::vector<int> seen(size_, -2);
  for (size_t n = 0; n < size_; ++n) {
    const ir::Inst& i = f_.body[n];
    if (is_warp_operation(i) && i.b != kNone) r_.moves[i.b] = 1;
  }
  for (size_t n = 0; n < size_; ++n) {
    const ir::Inst& i = f_.body[n];
    for (Val o : {i.a, i.b, i.c}) {
      if (o == kNone) continue;
      if (f_.body[o].op == Op::variable) {
        if (r_.block_variable[o]) continue;
        // One run alone, outside of the block's loops, needs no memory; others do.
        if (seen[o] == -2) seen[o] = r_.run[n];
        if (seen[o] != r_.run[n] || looped(n)) r_.persistent[o] = 1;
      } else if (r_.run[o] >= 0 && r_.run[o] != r_.run[n]) {
        r_.crosses[o] = 1;
      }
    }
  }
  // Steps between if_any and end_if stay in one run: they have no sets.
  for (size_t n = 0; n < size_; ++n)
    if (f_.body[n].op == Op::end_if && r_.run[n] != r_.run[f_.body[n].a]) r_.possible = false;
}

// Whether the step is repeated by a loop of the block. The loop around the whole body is not one.
bool Planner::looped(size_t n) const {
  for (size_t b = 0; b < n; ++b)
    if (f_.body[b].op == Op::loop && ends_[b] > n && of_block(b)) {
      const ir::Inst& last = f_.body[ends_[b] - 1];
      if (!(last.op == Op::break_loop && last.a == static_cast<Val>(b))) return true;
    }
  return false;
}

namespace {

// What is known of values beyond whether they differ within a warp: that each lane has its own
// number and a multiple of 32 that its warp has in common, as tid_x has; or such a multiple.
struct Known {
  std::vector<char> counts, multiple;
};

Known find_known(const ir::Function& f, const Varying& of_block) {
  size_t size = f.body.size();
  Known k{std::vector<char>(size, 0), std::vector<char>(size, 0)};
  std::vector<int> sets(size, 0);
  for (const ir::Inst& i : f.body)
    if (i.op == Op::set) ++sets[i.a];
  for (size_t n = 0; n < size; ++n) {
    const ir::Inst& i = f.body[n];
    switch (i.op) {
      case Op::constant: k.multiple[n] = is_integer(i.type) && i.imm % 32 == 0; break;
      case Op::intrinsic:
        k.counts[n] = ir::intrinsic_of(i) == Intrinsic::tid_x;
        k.multiple[n] = ir::intrinsic_of(i) == Intrinsic::ntid_x;
        break;
      case Op::bits:
      case Op::cast:
        if (!is_integer(i.type) || !is_integer(f.body[i.a].type) || itemsize(i.type) < 4) break;
        k.counts[n] = k.counts[i.a];
        k.multiple[n] = k.multiple[i.a];
        break;
      case Op::add:
        k.counts[n] = (k.counts[i.a] && k.multiple[i.b]) || (k.multiple[i.a] && k.counts[i.b]);
        k.multiple[n] = k.multiple[i.a] && k.multiple[i.b];
        break;
      case Op::multiply:
        k.multiple[n] =
            (k.multiple[i.a] && !of_block.value[i.b]) || (k.multiple[i.b] && !of_block.value[i.a]);
        break;
      case Op::set:
        if (sets[i.a] != 1) break;
        k.counts[i.a] = k.counts[i.b];
        k.multiple[i.a] = k.multiple[i.b];
        break;
      case Op::get:
        k.counts[n] = k.counts[i.a];
        k.multiple[n] = k.multiple[i.a];
        break;
      default: break;
    }
  }
  return k;
}

// Values that all lanes of a warp have in common although tid_x goes into them: t // 32, t < 64.
std::vector<char> common_to_warps(const ir::Function& f) {
  Known k = find_known(f, find_varying(f, Lanes::OfBlock));
  std::vector<char> common(f.body.size(), 0);
  for (size_t n = 0; n < f.body.size(); ++n) {
    const ir::Inst& i = f.body[n];
    auto constant = [&](Val v) -> std::optional<int64_t> {
      if (f.body[v].op != Op::constant || !is_integer(f.body[v].type)) return std::nullopt;
      return f.body[v].imm;
    };
    auto ends_warp = [&](Val v) { return constant(v) && (*constant(v) + 1) % 32 == 0; };
    switch (i.op) {
      case Op::right_shift: common[n] = k.counts[i.a] && constant(i.b).value_or(0) >= 5; break;
      case Op::int_div:
        common[n] = k.counts[i.a] && constant(i.b).value_or(0) > 0 && k.multiple[i.b];
        break;
      case Op::less:
      case Op::greater_equal:
        common[n] = (k.counts[i.a] && k.multiple[i.b]) || (ends_warp(i.a) && k.counts[i.b]);
        break;
      case Op::less_equal:
      case Op::greater:
        common[n] = (k.multiple[i.a] && k.counts[i.b]) || (k.counts[i.a] && ends_warp(i.b));
        break;
      default: break;
    }
  }
  return common;
}

}  // namespace

bool warps_together(const ir::Function& f) {
  std::vector<char> common = common_to_warps(f);
  Varying v = find_varying(f, Lanes::OfWarp, &common);
  size_t size = f.body.size();
  std::vector<size_t> open;                 // branches and loops around a step
  std::vector<char> apart(size, 0);         // lanes of a warp go through it at different times
  std::vector<std::vector<size_t>> around;  // each operation
  size_t outermost = size, end = size;      // the loop that a thread leaves when it ends
  for (size_t n = 0; n < size; ++n) {
    const ir::Inst& i = f.body[n];
    if (i.op == Op::branch) {
      apart[n] = v.value[i.a];
      open.push_back(n);
    } else if (i.op == Op::loop) {
      if (outermost == size && open.empty()) outermost = n;
      apart[n] = apart[n] || (v.divergent[n] && n != outermost);
      open.push_back(n);
    } else if (i.op == Op::end_branch || i.op == Op::end_loop) {
      if (static_cast<size_t>(i.a) == outermost) end = n;
      open.pop_back();
    } else if (i.op == Op::continue_loop) {
      for (size_t o : open)
        if (o > static_cast<size_t>(i.a)) apart[i.a] = apart[i.a] || apart[o];
    } else if (is_warp_operation(i)) {
      if (n > end) return false;
      if (i.a != kNone && v.value[i.a]) return false;
      around.push_back(open);
    }
  }
  for (const auto& block_indices : around)
    for (size_t o : block_indices)
      if (apart[o]) return false;
  return true;
}

}  // namespace numbus::compile
