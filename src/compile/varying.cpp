// Which values, variables and loops differ between lanes.
#include "compile/lanes.h"

namespace numbus::compile {

using ir::Intrinsic;
using ir::kNone;
using ir::Val;

namespace {

bool is_source(Intrinsic i, Lanes lanes) {
  if (i == Intrinsic::lane_index) return true;
  if (lanes == Lanes::Iterations) return false;
  // What a warp's votes say, all of it knows.
  if (lanes == Lanes::OfWarp)
    return i == Intrinsic::tid_x || i == Intrinsic::laneid || i == Intrinsic::lanemask_lt ||
           (i >= Intrinsic::shfl_idx && i <= Intrinsic::shfl_xor) || i == Intrinsic::match_any ||
           i == Intrinsic::mma_tf32 || i == Intrinsic::local_memory;
  return (i >= Intrinsic::tid_x && i <= Intrinsic::tid_z) || i == Intrinsic::laneid ||
         i == Intrinsic::lanemask_lt || i == Intrinsic::activemask ||
         (i >= Intrinsic::shfl_idx && i <= Intrinsic::shfl_xor) ||
         (i >= Intrinsic::all_sync && i <= Intrinsic::match_all) || i == Intrinsic::mma_tf32 ||
         i == Intrinsic::local_memory;
}

}  // namespace

Varying find_varying(const ir::Function& f, Lanes lanes, const std::vector<char>* same) {
  size_t size = f.body.size();
  Varying v{std::vector<char>(size, 0), std::vector<char>(size, 0), std::vector<char>(size, 0)};
  std::vector<char> resumes(size, 0);  // loops whose iterations lanes cut short
  // Where each scope ends, and the steps at which each variable is read.
  std::vector<size_t> end(size, 0);
  for (size_t n = 0; n < size; ++n)
    if (f.body[n].op == Op::end_loop || f.body[n].op == Op::end_branch) end[f.body[n].a] = n;
  std::vector<std::vector<size_t>> reads(size);
  for (size_t n = 0; n < size; ++n)
    if (f.body[n].op == Op::get) reads[f.body[n].a].push_back(n);
  bool changed = true;
  auto mark = [&](char& what, bool yes) {
    if (yes && !what) {
      what = 1;
      changed = true;
    }
  };
  while (changed) {
    changed = false;
    std::vector<size_t> branches, loops;  // open ones that lanes take differently; all open loops
    std::vector<size_t> open_branches;
    for (size_t n = 0; n < size; ++n) {
      const ir::Inst& i = f.body[n];
      bool operands = false;
      for (Val o : {i.a, i.b, i.c})
        if (o != kNone && f.body[o].op != Op::variable) operands = operands || v.value[o];
      switch (i.op) {
        case Op::branch:
          if (v.value[i.a]) branches.push_back(n);
          break;
        case Op::end_branch:
          if (!branches.empty() && branches.back() == static_cast<size_t>(i.a)) branches.pop_back();
          break;
        case Op::loop: loops.push_back(n); break;
        case Op::end_loop: loops.pop_back(); break;
        case Op::break_loop:
        case Op::continue_loop: {
          // Under a branch inside the loop, or where other lanes are gone already.
          auto target = static_cast<size_t>(i.a);
          bool differs = false;
          for (size_t b : branches) differs = differs || b > target;
          for (size_t k = loops.size(); k-- > 0 && loops[k] > target;)
            differs = differs || v.divergent[loops[k]] || resumes[loops[k]];
          if (i.op == Op::break_loop) {
            for (size_t k = loops.size(); k-- > 0 && loops[k] >= target;)
              mark(v.divergent[loops[k]], differs);
          } else {
            mark(resumes[target], differs);
            for (size_t k = loops.size(); k-- > 0 && loops[k] > target;)
              mark(v.divergent[loops[k]], differs);
          }
          break;
        }
        case Op::set: {
          bool under = v.value[i.b] || !branches.empty();
          for (size_t l : loops) {
            if (resumes[l]) under = true;
            if (!v.divergent[l]) continue;
            // Lanes that have left keep what they had: that matters only to who reads it outside.
            for (size_t r : reads[i.a]) under = under || r < l || r > end[l];
          }
          mark(v.variable[i.a], under);
          break;
        }
        case Op::get: mark(v.value[n], v.variable[i.a]); break;
        case Op::read: mark(v.value[n], true); break;
        case Op::intrinsic: {
          Intrinsic k = ir::intrinsic_of(i);
          mark(v.value[n],
               is_source(k, lanes) || (k >= Intrinsic::atomic_add && k <= Intrinsic::atomic_cas) ||
                   ((k == Intrinsic::clz || k == Intrinsic::brev || k == Intrinsic::ffs) &&
                    operands));
          break;
        }
        case Op::variable: break;
        default: mark(v.value[n], operands && !(same && (*same)[n]));
      }
    }
  }
  return v;
}

bool lanes_fit(const ir::Function& f) {
  for (const ir::Inst& i : f.body) {
    if (i.op == Op::call || i.op == Op::make_complex || is_half(i.type)) return false;
    if (i.op != Op::intrinsic) continue;
    switch (ir::intrinsic_of(i)) {
      case Intrinsic::allocate:
      case Intrinsic::data_of:
      case Intrinsic::retain:
      case Intrinsic::release:
      case Intrinsic::list:
      case Intrinsic::resize:
      case Intrinsic::dict:
      case Intrinsic::dict_step:
      case Intrinsic::parallel:
      case Intrinsic::caught:
      case Intrinsic::random:
      case Intrinsic::host_call:
      case Intrinsic::foreign:
      case Intrinsic::external:
      case Intrinsic::strict:
      case Intrinsic::print_text:
      case Intrinsic::print_int:
      case Intrinsic::print_float:
      case Intrinsic::text:
      case Intrinsic::print_end: return false;
      default: break;
    }
  }
  return true;
}

bool lanes_pay(const ir::Function& f) {
  // Reductions are vectors by themselves.
  for (const ir::Inst& i : f.body)
    if (i.op == Op::intrinsic && ir::intrinsic_of(i) == Intrinsic::local_memory) return false;
  Varying v = find_varying(f, Lanes::Iterations);
  // The loop around the whole body, and the one over the indices, are left at different times
  // anyway; what ends with a break is no loop but a block to leave.
  std::vector<size_t> open;
  for (size_t n = 0; n < f.body.size(); ++n) {
    if (f.body[n].op == Op::loop) open.push_back(n);
    if (f.body[n].op != Op::end_loop) continue;
    const ir::Inst& last = f.body[n - 1];
    bool once = last.op == Op::break_loop && last.a == static_cast<Val>(open.back());
    if (open.size() > 2 && v.divergent[open.back()] && !once) return true;
    open.pop_back();
  }
  return false;
}

int pick_lanes(const ir::Function& f, const Varying& v, int vector_bytes) {
  int widest = 4;
  for (size_t n = 0; n < f.body.size(); ++n)
    if (v.value[n] && is_float(f.body[n].type)) widest = std::max(widest, itemsize(f.body[n].type));
  return vector_bytes / widest;
}

}  // namespace numbus::compile
