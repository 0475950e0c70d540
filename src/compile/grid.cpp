// Kernels of a grid on lanes: the threads of a block run side by side, and barriers cut the kernel
// into runs, each a loop over the groups of W threads. Control flow around barriers stays around
// these loops; values that later runs use wait in memory, one place a group.
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "compile/flow.h"
#include "compile/lanes.h"
#include "compile/simt.h"
#include "passes/forward_sets.h"
#include "passes/inline_functions.h"

namespace numbus::compile {
namespace {

using ir::Intrinsic;
using ir::kNone;
using ir::Val;
using V = llvm::Value*;

bool is_wait(const ir::Inst& i) {
  if (i.op != Op::intrinsic) return false;
  Intrinsic k = ir::intrinsic_of(i);
  return k >= Intrinsic::barrier && k <= Intrinsic::barrier_or;
}

// What each step is: of the whole block, or of the run with that number.
struct Runs {
  bool possible = true;
  std::vector<int> run;              // per step; -1: of the block
  std::vector<char> block_variable;  // per variable: one for the block
  std::vector<char> crosses;         // values that other runs use
  std::vector<char> persistent;      // variables that live on between runs
  bool masks = false;                // threads leave, or block-level branches differ
};

class Planner {
 public:
  Planner(const ir::Function& f, const Varying& v) : f_(f), v_(v), size_(f.body.size()) {}

  Runs plan() {
    r_.run.assign(size_, -1);
    r_.block_variable.assign(size_, 0);
    r_.crosses.assign(size_, 0);
    r_.persistent.assign(size_, 0);
    ends_.assign(size_, 0);
    for (size_t n = 0; n < size_; ++n) {
      const ir::Inst& i = f_.body[n];
      if (i.op == Op::end_branch || i.op == Op::end_loop) ends_[i.a] = n;
    }
    block_place_.assign(size_, 0);
    places(0, size_);
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
        if (!block_place_[n] || !block_value_[i.b]) {
          r_.block_variable[i.a] = 0;
          changed = true;
        }
      }
    }
    walk(0, size_);
    uses();
    return std::move(r_);
  }

  // Whether a branch or loop has to stay around runs.
  bool of_block(size_t begin) const {
    bool waits = false;
    for (size_t n = begin; n < ends_[begin]; ++n) {
      const ir::Inst& i = f_.body[n];
      waits = waits || is_wait(i);
      if ((i.op == Op::break_loop || i.op == Op::continue_loop) &&
          static_cast<size_t>(i.a) < begin && !v_.divergent[i.a])
        waits = true;
    }
    return waits;
  }

 private:
  void places(size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      const ir::Inst& i = f_.body[n];
      block_place_[n] = 1;
      if (i.op != Op::branch && i.op != Op::loop) continue;
      if (of_block(n)) {
        places(n + 1, ends_[n]);
        block_place_[ends_[n]] = 1;
      }
      n = ends_[n];
      block_place_[n] = 1;
    }
  }
  void values() {
    for (size_t n = 0; n < size_; ++n) {
      const ir::Inst& i = f_.body[n];
      bool yes = block_place_[n] && !v_.value[n];
      for (Val o : {i.a, i.b, i.c})
        if (o != kNone && f_.body[o].op != Op::variable) yes = yes && block_value_[o];
      switch (i.op) {
        case Op::get: yes = yes && r_.block_variable[i.a]; break;
        case Op::set: yes = yes && r_.block_variable[i.a]; break;
        case Op::write:
        case Op::read: yes = false; break;
        case Op::intrinsic: {
          Intrinsic k = ir::intrinsic_of(i);
          if (k >= Intrinsic::atomic_add && k <= Intrinsic::atomic_cas) yes = false;
          if (k == Intrinsic::fail) yes = false;
          if (is_wait(i)) yes = true;
          break;
        }
        default: break;
      }
      block_value_[n] = yes;
    }
  }
  void walk(size_t begin, size_t end) {
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
      bool of_the_block = block_value_[n] || is_wait(i) || i.op == Op::ret ||
                          i.op == Op::variable || i.op == Op::break_loop ||
                          i.op == Op::continue_loop || i.op == Op::branch_else ||
                          i.op == Op::loop_next || i.op == Op::give || i.op == Op::param;
      if (i.op == Op::continue_loop && v_.divergent[i.a]) r_.possible = false;
      bool ends_run = is_wait(i) || i.op == Op::ret || i.op == Op::set || i.op == Op::break_loop ||
                      i.op == Op::continue_loop || i.op == Op::branch_else || i.op == Op::loop_next;
      if (of_the_block) {
        if (ends_run) flush();
        continue;
      }
      r_.run[n] = next_;
      pending_ = true;
    }
  }
  void uses() {
    std::vector<int> seen(size_, -2);
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
  bool looped(size_t n) const {
    for (size_t b = 0; b < n; ++b)
      if (f_.body[b].op == Op::loop && ends_[b] > n && of_block(b)) {
        const ir::Inst& last = f_.body[ends_[b] - 1];
        if (!(last.op == Op::break_loop && last.a == static_cast<Val>(b))) return true;
      }
    return false;
  }

  const ir::Function& f_;
  const Varying& v_;
  size_t size_;
  Runs r_;
  std::vector<size_t> ends_;
  std::vector<char> block_place_, block_value_;
  int next_ = 0;
  bool pending_ = false;
};

class GridBody : public LaneBody {
 public:
  GridBody(Emit& many, Emit& one, const ir::Module& m, const ir::Function& f,
           const std::vector<llvm::Function*>& functions, Varying v, const Planner& planner,
           Runs runs)
      : LaneBody(many, one, m, f, functions, std::move(v)),
        planner_(planner),
        runs_(std::move(runs)) {}

  void emit_block(llvm::Function* to, llvm::Function* sizer) {
    begin(to);
    size_t size = f_.body.size();
    slots_.assign(size, -1);
    V threads = B.CreateMul(B.CreateMul(word(kNtid), word(kNtid + 1)), word(kNtid + 2));
    groups_ = B.CreateUDiv(threads, B.getInt64(many_.W));
    scratch_ = word(kScratch);
    if (runs_.masks) {
      mask_slot_ = new_slot(mask_->getAllocatedType());
      each_group([&](V g) { B.CreateStore(many_.all_true(), slot(mask_slot_, g)); });
    }
    // Variables that live on between runs are zero at first.
    for (size_t n = 0; n < size; ++n)
      if (f_.body[n].op == Op::variable && runs_.persistent[n]) {
        auto* t = variable_type(n);
        slots_[n] = new_slot(t);
        each_group(
            [&](V g) { B.CreateStore(llvm::Constant::getNullValue(t), slot(slots_[n], g)); });
      }
    blocks(0, size);
    end();
    B.SetInsertPoint(llvm::BasicBlock::Create(B.getContext(), "entry", sizer));
    B.CreateRet(B.getInt64(bytes_));
  }

 private:
  llvm::Type* variable_type(size_t n) {
    DType t = f_.body[n].type;
    return vary_.variable[n] ? many_.type(t) : E.scalar_type(t);
  }
  // Memory of a size for each group, one behind the other.
  int64_t new_slot(llvm::Type* t) {
    auto* v = llvm::dyn_cast<llvm::FixedVectorType>(t);
    int64_t bits = t->getScalarSizeInBits() * (v ? v->getNumElements() : 1);
    int64_t at = bytes_, bytes = (bits / 8 + 63) / 64 * 64;
    slot_bytes_[at] = std::max<int64_t>(64, bytes);
    bytes_ += slot_bytes_[at];
    return at;
  }
  V slot(int64_t at, V group) {
    V offset = B.CreateAdd(B.CreateMul(groups_, B.getInt64(at)),
                           B.CreateMul(group, B.getInt64(slot_bytes_.at(at))));
    return B.CreateIntToPtr(B.CreateAdd(scratch_, offset), B.getPtrTy());
  }
  void each_group(const std::function<void(V)>& f) {
    std::vector<V> none;
    counted_loop(B, B.getInt64(0), groups_, B.getInt64(1), none, f);
  }

  void blocks(size_t begin, size_t end) {
    std::vector<std::pair<size_t, size_t>> pending;
    auto flush = [&] {
      if (!pending.empty()) run(pending);
      pending.clear();
    };
    for (size_t n = begin; n < end; ++n) {
      const ir::Inst& i = f_.body[n];
      bool construct = i.op == Op::branch || i.op == Op::loop;
      if (construct && planner_.of_block(n)) {
        flush();
        if (i.op == Op::branch)
          block_branch(n);
        else
          block_loop(n);
        n = ends_[n];
      } else if (construct) {
        pending.push_back({n, ends_[n] + 1});
        n = ends_[n];
      } else if (runs_.run[n] >= 0) {
        pending.push_back({n, n + 1});
      } else {
        bool ends_run = is_wait(i) || i.op == Op::ret || i.op == Op::set ||
                        i.op == Op::break_loop || i.op == Op::continue_loop;
        if (ends_run) flush();
        block_step(n);
      }
    }
    flush();
  }

  // A run: all groups, one after the other, through the steps between two barriers.
  void run(const std::vector<std::pair<size_t, size_t>>& steps) {
    int number = runs_.run[steps[0].first];
    around_ = loops_.size();
    // Variables of the run that live on are copied in and out, so that inside they are registers.
    std::vector<size_t> in, out;
    std::vector<std::pair<Val, size_t>> from;
    auto once = [](std::vector<size_t>& list, size_t n) {
      if (std::find(list.begin(), list.end(), n) == list.end()) list.push_back(n);
    };
    for (auto [b, e] : steps)
      for (size_t n = b; n < e; ++n) {
        const ir::Inst& i = f_.body[n];
        for (Val o : {i.a, i.b, i.c}) {
          if (o == kNone) continue;
          if (f_.body[o].op == Op::variable) {
            if (runs_.persistent[o]) {
              once(in, static_cast<size_t>(o));
              if (i.op == Op::set) once(out, static_cast<size_t>(o));
            }
          } else if (runs_.crosses[o] && runs_.run[o] != number) {
            from.push_back({o, n});
          }
        }
      }
    each_group([&](V g) {
      group_ = g;
      first_thread(g);
      llvm::BasicBlock* skipped = nullptr;
      full_ = !runs_.masks;
      if (runs_.masks) {
        V m = B.CreateLoad(mask_->getAllocatedType(), slot(mask_slot_, g));
        set_mask(m);
        auto* here = block("here");
        skipped = block("absent");
        B.CreateCondBr(any(m), here, skipped);
        B.SetInsertPoint(here);
        for (Loop& l : loops_)
          if (l.live)
            B.CreateStore(
                B.CreateLoad(l.live->getAllocatedType(), slot(live_slots_.at(l.begin), g)), l.live);
      }
      for (size_t v : in) {
        auto* t = variable_type(v);
        if (!lanes_[v].v) lanes_[v].v = local(t);
        B.CreateStore(B.CreateLoad(t, slot(slots_[v], g)), lanes_[v].v);
      }
      std::vector<std::pair<Val, Lane>> before;
      for (auto [v, use] : from) {
        bool known = false;
        for (auto& [other, lane] : before) known = known || other == v;
        if (known) continue;
        before.push_back({v, lanes_[v]});
        Lane& l = lanes_[v];
        V at = slot(slots_[v], g);
        if (l.first)
          l.first = B.CreateLoad(l.first->getType(), at);
        else
          l.v = B.CreateLoad(l.v->getType(), at);
      }
      for (auto [b, e] : steps) {
        range(b, e);
        for (size_t n = b; n < e; ++n)
          if (runs_.crosses[n]) {
            Lane& l = lanes_[n];
            if (!l.v && !l.first) continue;
            if (slots_[n] < 0) slots_[n] = new_slot((l.first ? l.first : l.v)->getType());
            B.CreateStore(l.first ? l.first : l.v, slot(slots_[n], g));
          }
      }
      for (auto& [v, lane] : before) lanes_[v] = lane;
      for (size_t v : out)
        B.CreateStore(B.CreateLoad(variable_type(v), lanes_[v].v), slot(slots_[v], g));
      if (runs_.masks) {
        B.CreateStore(mask(), slot(mask_slot_, g));
        for (Loop& l : loops_)
          if (l.live)
            B.CreateStore(B.CreateLoad(l.live->getAllocatedType(), l.live),
                          slot(live_slots_.at(l.begin), g));
        B.CreateBr(skipped);
        B.SetInsertPoint(skipped);
      }
    });
    full_ = !runs_.masks;
  }

  void first_thread(V g) {
    linear_ = B.CreateMul(g, B.getInt64(many_.W));
    V x = word(kNtid), y = word(kNtid + 1);
    tid_[0] = B.CreateURem(linear_, x);
    V rest = B.CreateUDiv(linear_, x);
    tid_[1] = B.CreateURem(rest, y);
    tid_[2] = B.CreateUDiv(rest, y);
  }

  void block_step(size_t n) {
    const ir::Inst& i = f_.body[n];
    if (is_wait(i)) {
      if (i.a == kNone) return;
      // What all threads that still run said.
      V zero = B.getInt64(0);
      auto* yes = local(B.getInt64Ty());
      auto* here = local(B.getInt64Ty());
      B.CreateStore(zero, yes);
      B.CreateStore(zero, here);
      auto count = [&](llvm::AllocaInst* sum, V bits) {
        V ones = B.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop,
                                        B.CreateBitCast(bits, B.getIntNTy(many_.W)));
        B.CreateStore(
            B.CreateAdd(B.CreateLoad(B.getInt64Ty(), sum), B.CreateZExt(ones, B.getInt64Ty())),
            sum);
      };
      each_group([&](V g) {
        V m = runs_.masks
                  ? static_cast<V>(B.CreateLoad(mask_->getAllocatedType(), slot(mask_slot_, g)))
                  : many_.all_true();
        count(here, m);
        count(yes, B.CreateAnd(m, value_of_group(i.a, g)));
      });
      V said = B.CreateLoad(B.getInt64Ty(), yes), all = B.CreateLoad(B.getInt64Ty(), here);
      Intrinsic k = ir::intrinsic_of(i);
      V r = k == Intrinsic::barrier_count ? said
            : k == Intrinsic::barrier_and
                ? B.CreateZExt(B.CreateICmpEQ(said, all), B.getInt64Ty())
                : B.CreateZExt(B.CreateICmpNE(said, zero), B.getInt64Ty());
      lanes_[n].v = B.CreateTrunc(r, B.getInt32Ty());
      return;
    }
    if (i.op == Op::variable) {
      if (runs_.block_variable[n] || !runs_.persistent[n]) {
        auto* t = variable_type(n);
        auto* place = local(t);
        llvm::IRBuilder<>(entry_).CreateStore(llvm::Constant::getNullValue(t), place);
        lanes_[n].v = place;
      }
      return;
    }
    if (i.op == Op::ret) {
      if (runs_.run[i.a] < 0 && !vary_.value[i.a]) {
        finish(scalar(i.a));
      } else {
        // The worst of all.
        auto* s = local(B.getInt32Ty());
        B.CreateStore(B.getInt32(0), s);
        each_group([&](V g) {
          V v = value_of_group(i.a, g);
          if (v->getType()->isVectorTy()) v = B.CreateOrReduce(v);
          B.CreateStore(B.CreateOr(B.CreateLoad(B.getInt32Ty(), s), v), s);
        });
        finish(B.CreateLoad(B.getInt32Ty(), s));
      }
      B.SetInsertPoint(block("dead"));
      return;
    }
    if (i.op == Op::break_loop || i.op == Op::continue_loop) {
      block_leave(n);
      return;
    }
    lane_step(n);
  }

  V value_of_group(Val v, V g) {
    if (runs_.run[v] < 0) return vector(v);
    Lane& l = lanes_[v];
    auto* t = l.v ? l.v->getType() : l.first->getType();
    V held = B.CreateLoad(t, slot(slots_[v], g));
    return t->isVectorTy() ? held : many_.splat(held);
  }

  void block_branch(size_t n) {
    const ir::Inst& i = f_.body[n];
    size_t end = ends_[n], middle = middles_[n] ? middles_[n] : end;
    if (runs_.run[i.a] < 0 && !vary_.value[i.a]) {
      auto yes = [&] { blocks(n + 1, middle); };
      auto no = [&] { blocks(middle + 1, end); };
      branch(B, scalar(i.a), yes, middle == end ? std::function<void()>() : no);
      return;
    }
    auto* t = mask_->getAllocatedType();
    int64_t before = new_slot(t);
    auto side = [&](bool yes, size_t from, size_t to) {
      each_group([&](V g) {
        V m = B.CreateLoad(t, slot(yes ? mask_slot_ : before, g));
        if (yes) B.CreateStore(m, slot(before, g));
        V c = value_of_group(i.a, g);
        B.CreateStore(B.CreateAnd(m, yes ? c : B.CreateNot(c)), slot(mask_slot_, g));
      });
      ++inside_;
      blocks(from, to);
      --inside_;
    };
    side(true, n + 1, middle);
    if (middle != end) side(false, middle + 1, end);
    restore(before);
  }

  // The lanes that were there before, but for those that have left loops since.
  void restore(int64_t before) {
    auto* t = mask_->getAllocatedType();
    each_group([&](V g) {
      V m = B.CreateLoad(t, slot(before, g));
      for (Loop& l : loops_)
        if (l.live) m = B.CreateAnd(m, B.CreateLoad(t, slot(live_slots_.at(l.begin), g)));
      B.CreateStore(m, slot(mask_slot_, g));
    });
  }

  void block_loop(size_t n) {
    size_t end = ends_[n], middle = middles_[n] ? middles_[n] : end;
    Loop l{n};
    l.after = block("left");
    l.next = block("turned");
    bool divergent = vary_.divergent[n];
    auto* t = mask_->getAllocatedType();
    int64_t before = divergent ? new_slot(t) : 0;
    if (divergent) {
      l.live = local(t);
      int64_t live = live_slots_[n] = new_slot(t);
      each_group([&](V g) {
        V m = B.CreateLoad(t, slot(mask_slot_, g));
        B.CreateStore(m, slot(before, g));
        B.CreateStore(m, slot(live, g));
      });
    }
    auto* head = block("turn");
    B.CreateBr(head);
    B.SetInsertPoint(head);
    loops_.push_back(l);
    int outside = std::exchange(inside_, 0);
    blocks(n + 1, middle);
    B.CreateBr(l.next);
    B.SetInsertPoint(l.next);
    if (divergent)
      each_group([&](V g) {
        B.CreateStore(B.CreateLoad(t, slot(live_slots_.at(n), g)), slot(mask_slot_, g));
      });
    if (middle != end) blocks(middle + 1, end);
    loops_.pop_back();
    inside_ = outside;
    if (divergent) {
      auto* left = local(B.getInt1Ty());
      B.CreateStore(B.getFalse(), left);
      each_group([&](V g) {
        V some = any(B.CreateLoad(t, slot(live_slots_.at(n), g)));
        B.CreateStore(B.CreateOr(B.CreateLoad(B.getInt1Ty(), left), some), left);
      });
      B.CreateCondBr(B.CreateLoad(B.getInt1Ty(), left), head, l.after);
    } else {
      B.CreateBr(head);
    }
    B.SetInsertPoint(l.after);
    if (divergent) restore(before);
  }

  void block_leave(size_t n) {
    const ir::Inst& i = f_.body[n];
    size_t k = loops_.size();
    while (loops_[k - 1].begin != static_cast<size_t>(i.a)) --k;
    Loop& target = loops_[k - 1];
    if (!target.live) {
      jump(i.op == Op::break_loop ? target.after : target.next);
      return;
    }
    auto* t = mask_->getAllocatedType();
    each_group([&](V g) {
      V here = B.CreateLoad(t, slot(mask_slot_, g));
      for (size_t o = k - 1; o < loops_.size(); ++o)
        if (loops_[o].live) {
          V at = slot(live_slots_.at(loops_[o].begin), g);
          B.CreateStore(B.CreateAnd(B.CreateLoad(t, at), B.CreateNot(here)), at);
        }
      B.CreateStore(llvm::Constant::getNullValue(t), slot(mask_slot_, g));
    });
    if (inside_ == 0) jump(loops_.back().next);  // all that were here have left
  }

  bool lane_intrinsic(size_t n) override {
    const ir::Inst& i = f_.body[n];
    Intrinsic k = ir::intrinsic_of(i);
    Lane& r = lanes_[n];
    auto i32 = [&](V v) { return B.CreateTrunc(v, B.getInt32Ty()); };
    switch (k) {
      case Intrinsic::tid_x:
      case Intrinsic::tid_y:
      case Intrinsic::tid_z: {
        int d = static_cast<int>(k) - static_cast<int>(Intrinsic::tid_x);
        r.first = i32(tid_[d]);
        r.stride = d == 0;
        return true;
      }
      case Intrinsic::laneid:
        r.first = B.CreateAnd(i32(linear_), B.getInt32(31));
        r.stride = 1;
        return true;
      case Intrinsic::local_memory: {
        // Each lane's array, one behind the other.
        int64_t bytes = (ir::number_of(i) + 15) & ~int64_t{15};
        auto* memory =
            local(llvm::ArrayType::get(B.getInt8Ty(), static_cast<uint64_t>(bytes * many_.W)));
        memory->setAlignment(llvm::Align(64));
        r.first = B.CreatePtrToInt(memory, B.getInt64Ty());
        r.stride = bytes;
        return true;
      }
      case Intrinsic::fail: {
        V lanes = full_ ? many_.all_true() : mask();
        fail_lane_ = B.CreateZExt(
            B.CreateBinaryIntrinsic(llvm::Intrinsic::cttz,
                                    B.CreateBitCast(lanes, B.getIntNTy(many_.W)), B.getFalse()),
            B.getInt64Ty());
        return LaneBody::lane_intrinsic(n);
      }
      default: return LaneBody::lane_intrinsic(n);
    }
  }

  void note_place(V record) override {
    for (int d = 0; d < 6; ++d) {
      V v = d < 3 ? tid_[d] : word(kCtaid + d - 3);
      if (d == 0) v = B.CreateAdd(v, fail_lane_);
      B.CreateStore(v, B.CreateConstGEP1_64(B.getInt64Ty(), record,
                                            static_cast<uint64_t>(Context::kThread + d)));
    }
  }

  const Planner& planner_;
  Runs runs_;
  V groups_ = nullptr, scratch_ = nullptr, group_ = nullptr, linear_ = nullptr,
    fail_lane_ = nullptr;
  V tid_[3] = {};
  int64_t bytes_ = 0, mask_slot_ = -1;
  std::vector<int64_t> slots_;
  std::map<int64_t, int64_t> slot_bytes_;
  std::map<size_t, int64_t> live_slots_;
};

}  // namespace

int grid_lanes(const ir::Module& m, int vector_bytes) {
  if (m.debug && has_waits(m)) return 0;  // threads that are checked are fibers
  std::optional<ir::Function> whole = inlined(m, m.functions[0]);
  if (!whole || !lanes_fit(*whole)) return 0;
  forward_sets(*whole);
  bool barrier = false, local_arrays = false;
  for (const ir::Inst& i : whole->body) {
    if (i.op != Op::intrinsic) continue;
    Intrinsic k = ir::intrinsic_of(i);
    // Warp operations, and barriers of the grid, are for fibers.
    if (k == Intrinsic::grid_barrier || (k >= Intrinsic::syncwarp && k <= Intrinsic::lanemask_lt))
      return 0;
    barrier = barrier || is_wait(i);
    local_arrays = local_arrays || k == Intrinsic::local_memory;
  }
  if (barrier && local_arrays) return 0;
  Varying v = find_varying(*whole, true);
  Planner p(*whole, v);
  if (!p.plan().possible) return 0;
  return pick_lanes(*whole, v, vector_bytes);
}

void build_grid(llvm::Module& to, const ir::Module& m, const std::string& name, int vector_bytes) {
  ir::Function whole = *inlined(m, m.functions[0]);
  forward_sets(whole);
  llvm::IRBuilder<> b(to.getContext());
  Emit one(b, 1), many(b, grid_lanes(m, vector_bytes));
  Varying v = find_varying(whole, true);
  Planner planner(whole, v);
  Runs runs = planner.plan();
  auto* f = llvm::Function::Create(function_type(one, whole), llvm::Function::InternalLinkage,
                                   "block", to);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  auto* sizer = llvm::Function::Create(llvm::FunctionType::get(b.getInt64Ty(), {}, false),
                                       llvm::Function::InternalLinkage, "scratch", to);
  std::vector<llvm::Function*> none;
  GridBody(many, one, m, whole, none, v, planner, runs).emit_block(f, sizer);
  prefer_vectors(f, vector_bytes);

  // Without words: how many bytes of scratch a group needs.
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, to);
  prefer_vectors(entry, vector_bytes);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  auto block = [&](const char* label) {
    return llvm::BasicBlock::Create(to.getContext(), label, entry);
  };
  b.SetInsertPoint(block("entry"));
  auto *asked = block("asked"), *runs_block = block("run");
  b.CreateCondBr(b.CreateIsNull(entry->getArg(0)), asked, runs_block);
  b.SetInsertPoint(asked);
  b.CreateRet(b.CreateTrunc(b.CreateCall(sizer), b.getInt32Ty()));
  b.SetInsertPoint(runs_block);
  std::vector<V> args = arguments_of_words(one, whole, entry->getArg(0), entry->getArg(1));
  b.CreateRet(b.CreateExtractValue(b.CreateCall(f, args), 0));
}

}  // namespace numbus::compile
