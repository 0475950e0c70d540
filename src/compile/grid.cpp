// Kernels of a grid on lanes: the threads of a block run side by side, and barriers cut the kernel
// into runs, each a loop over the groups of W threads, as warp operations do. Control flow around
// barriers stays around these loops; values that later runs use wait in memory, one slot a group.
#include <llvm/IR/Module.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/error.h"
#include "compile/flow.h"
#include "compile/grid_plan.h"
#include "compile/polls.h"
#include "compile/simt.h"
#include "passes/pipeline.h"

namespace numbus::compile {
namespace {

using ir::Intrinsic;
using ir::kNone;
using ir::Val;
using V = llvm::Value*;

class GridBody : public LaneBody {
 public:
  GridBody(Emit& many, Emit& one, const ir::Module& m, const ir::Function& f,
           const std::vector<llvm::Function*>& functions, Varying v, const Planner& planner,
           Runs runs)
      : LaneBody(many, one, m, f, functions, std::move(v)),
        planner_(planner),
        runs_(std::move(runs)) {
    for (const ir::Inst& i : f.body) cut_ = cut_ || cuts_runs(i);
  }

  void emit_block(llvm::Function* to, llvm::Function* sizer) {
    begin(to);
    size_t size = f_.body.size();
    slots_.assign(size, -1);
    moved_.assign(size, -1);
    present_.assign(size, -1);
    V threads = B.CreateMul(B.CreateMul(word(kNtid), word(kNtid + 1)), word(kNtid + 2));
    // A form that says that there are few, for loops over groups need no polls.
    static_assert(2 * kMostThreads - 1 == 2047);
    groups_ = B.CreateUDiv(B.CreateAnd(threads, B.getInt64(2047)), B.getInt64(many_.W));
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
  // Memory of a size for each group, one after the other.
  int64_t new_slot(llvm::Type* t) {
    auto* v = llvm::dyn_cast<llvm::FixedVectorType>(t);
    int64_t bits = t->getScalarSizeInBits() * (v ? v->getNumElements() : 1);
    return new_slot_of(bits / 8);
  }
  int64_t new_slot_of(int64_t bytes) {
    int64_t at = bytes_;
    slot_bytes_[at] = std::max<int64_t>(64, (bytes + 63) / 64 * 64);
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
    llvm::BasicBlock* last = nullptr;
    counted_loop(B, B.getInt64(0), groups_, B.getInt64(1), none, [&](V g) {
      f(g);
      last = B.GetInsertBlock();
    });
    mark_short_loop(last->getTerminator());
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
        if (is_warp_operation(i)) {
          flush();
          note_present(n);
        }
        pending.push_back({n, n + 1});
      } else {
        bool ends_run = cuts_runs(i) || i.op == Op::ret || i.op == Op::set ||
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
            // Other lanes of the warp look there.
            if (!runs_.moves[n] || !vary_.value[n]) continue;
            V all = vector(n);
            if (moved_[n] < 0) moved_[n] = l.first ? new_slot(all->getType()) : slots_[n];
            if (l.first) B.CreateStore(all, slot(moved_[n], g));
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
    if (is_warp_operation(i)) return;  // syncwarp
    if (is_barrier(i)) {
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
        auto* cell = local(t);
        llvm::IRBuilder<>(entry_).CreateStore(llvm::Constant::getNullValue(t), cell);
        lanes_[n].v = cell;
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
    auto* head = block("iteration");
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
      case Intrinsic::lanemask_lt:
        r.v = B.CreateSub(B.CreateShl(splat32(1), own_lanes()), splat32(1));
        return true;
      case Intrinsic::shfl_idx:
      case Intrinsic::shfl_up:
      case Intrinsic::shfl_down:
      case Intrinsic::shfl_xor: r.v = shuffle(n); return true;
      case Intrinsic::mma_tf32:
        r.v = many_.splat(llvm::ConstantFP::getZero(B.getFloatTy()));
        return true;
      case Intrinsic::activemask:
      case Intrinsic::all_sync:
      case Intrinsic::any_sync:
      case Intrinsic::eq_sync:
      case Intrinsic::ballot: r.v = vote(n); return true;
      case Intrinsic::match_any:
      case Intrinsic::match_all: r.v = match(n); return true;
      case Intrinsic::local_memory: {
        // Each lane's array, one after the other; they outlive a run where there are several.
        int64_t bytes = (ir::number_of(i) + 15) & ~int64_t{15};
        V at;
        if (cut_) {
          at = slot(new_slot_of(bytes * many_.W), group_);
        } else {
          auto* memory =
              local(llvm::ArrayType::get(B.getInt8Ty(), static_cast<uint64_t>(bytes * many_.W)));
          memory->setAlignment(llvm::Align(64));
          at = memory;
        }
        r.first = B.CreatePtrToInt(at, B.getInt64Ty());
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

  // --- warp operations: each group of lanes looks into the slots where all of its warp's left
  // their values in the run before.

  int per_warp() const { return 32 / many_.W; }
  V warp_base() { return B.CreateAnd(group_, B.getInt64(-per_warp())); }
  // The masks of before the run: it may change them.
  void note_present(size_t n) {
    if (!runs_.masks) return;
    auto* t = mask_->getAllocatedType();
    present_[n] = new_slot(t);
    each_group(
        [&](V g) { B.CreateStore(B.CreateLoad(t, slot(mask_slot_, g)), slot(present_[n], g)); });
  }
  // A bit for each lane of the warp, from one for each of a group.
  V warp_bits(const std::function<V(V group)>& of_group) {
    V all = B.getInt32(0), base = warp_base();
    for (int j = 0; j < per_warp(); ++j) {
      V bits = B.CreateBitCast(of_group(B.CreateAdd(base, B.getInt64(j))), B.getIntNTy(many_.W));
      all = B.CreateOr(all, B.CreateShl(B.CreateZExt(bits, B.getInt32Ty()), j * many_.W));
    }
    return all;
  }
  V present(size_t n) {
    if (!runs_.masks) return B.getInt32(-1);
    auto* t = mask_->getAllocatedType();
    return warp_bits([&](V g) { return B.CreateLoad(t, slot(present_[n], g)); });
  }
  V moved(Val v, V group) { return B.CreateLoad(vector(v)->getType(), slot(moved_[v], group)); }
  // The address of a value on the lane with that number, or on each of these.
  V moved_address(Val v, V lane) {
    auto* t = llvm::cast<llvm::FixedVectorType>(vector(v)->getType());
    int64_t size = t->getScalarSizeInBits() / 8, between = slot_bytes_.at(moved_[v]);
    auto like = [&](int64_t n) { return llvm::ConstantInt::get(lane->getType(), n); };
    V offset =
        between == size * many_.W
            ? B.CreateMul(lane, like(size))
            : B.CreateAdd(B.CreateMul(B.CreateLShr(lane, like(std::countr_zero(unsigned(many_.W)))),
                                      like(between)),
                          B.CreateMul(B.CreateAnd(lane, like(many_.W - 1)), like(size)));
    return B.CreateGEP(B.getInt8Ty(), slot(moved_[v], warp_base()), offset);
  }
  V own_lanes() {
    V first = B.CreateTrunc(B.CreateAnd(linear_, B.getInt64(31)), B.getInt32Ty());
    return B.CreateAdd(many_.splat(first), B.CreateTrunc(many_.iota(), many_.wide(B.getInt32Ty())));
  }

  V shuffle(size_t n) {
    const ir::Inst& i = f_.body[n];
    if (!vary_.value[i.b]) return vector(i.b);
    V own = own_lanes(), by = vector(i.c), source = nullptr, limit = splat32(31);
    switch (ir::intrinsic_of(i)) {
      case Intrinsic::shfl_up: source = B.CreateSub(own, by); break;
      case Intrinsic::shfl_down: source = B.CreateAdd(own, by); break;
      case Intrinsic::shfl_xor: source = B.CreateXor(own, by); break;
      default: source = B.CreateAnd(by, limit);
    }
    // A lane beyond the warp, or one that is not there, gives back one's own.
    V good = B.CreateICmpULE(source, limit);
    source = B.CreateAnd(source, limit);
    if (runs_.masks) {
      V bit = B.CreateLShr(many_.splat(present(n)), source);
      good = B.CreateAnd(good, B.CreateTrunc(bit, many_.wide(B.getInt1Ty())));
    }
    source = B.CreateSelect(good, source, own);
    auto* t = vector(i.b)->getType();
    return B.CreateMaskedGather(t, moved_address(i.b, source),
                                llvm::Align(t->getScalarSizeInBits() / 8), many_.all_true());
  }
  V splat32(int64_t x) { return many_.splat(B.getInt32(static_cast<uint32_t>(x))); }

  V vote(size_t n) {
    const ir::Inst& i = f_.body[n];
    V there = present(n), zero = B.getInt32(0), votes = there;
    if (i.b != kNone) {
      votes = vary_.value[i.b] ? warp_bits([&](V g) { return moved(i.b, g); })
                               : B.CreateSelect(scalar(i.b), B.getInt32(-1), zero);
      votes = B.CreateAnd(votes, there);
    }
    V all = B.CreateICmpEQ(votes, there), none = B.CreateICmpEQ(votes, zero);
    switch (ir::intrinsic_of(i)) {
      case Intrinsic::all_sync: return many_.splat(all);
      case Intrinsic::any_sync: return many_.splat(B.CreateNot(none));
      case Intrinsic::eq_sync: return many_.splat(B.CreateOr(all, none));
      default: return many_.splat(votes);
    }
  }

  V match(size_t n) {
    const ir::Inst& i = f_.body[n];
    V there = present(n);
    if (!vary_.value[i.b]) return many_.splat(there);
    V mine = vector(i.b);
    auto* element = mine->getType()->getScalarType();
    auto value = [&](V lane) { return B.CreateLoad(element, moved_address(i.b, lane)); };
    if (ir::intrinsic_of(i) == Intrinsic::match_all) {
      V first = B.CreateAnd(B.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, there, B.getFalse()),
                            B.getInt32(31));
      V one = many_.splat(value(first));
      V same = warp_bits([&](V g) { return B.CreateICmpEQ(moved(i.b, g), one); });
      V equal = B.CreateICmpEQ(B.CreateAnd(same, there), there);
      return many_.splat(B.CreateSelect(equal, there, B.getInt32(0)));
    }
    V found = splat32(0);
    for (int lane = 0; lane < 32; ++lane) {
      V same = B.CreateICmpEQ(mine, many_.splat(value(B.getInt32(lane))));
      found = B.CreateOr(found, B.CreateSelect(same, splat32(int64_t{1} << lane), splat32(0)));
    }
    return B.CreateAnd(found, many_.splat(there));
  }

  void note_site(V record) override {
    for (int d = 0; d < 6; ++d) {
      V v = d < 3 ? tid_[d] : word(kCtaid + d - 3);
      if (d == 0) v = B.CreateAdd(v, fail_lane_);
      B.CreateStore(v,
                    B.CreateConstGEP1_64(B.getInt64Ty(), record, uint64_t{Context::kThread} + d));
    }
  }

  const Planner& planner_;
  Runs runs_;
  bool cut_ = false;  // whether there is more than one run
  V groups_ = nullptr, scratch_ = nullptr, group_ = nullptr, linear_ = nullptr,
    fail_lane_ = nullptr;
  V tid_[3] = {};
  int64_t bytes_ = 0, mask_slot_ = -1;
  std::vector<int64_t> slots_, moved_, present_;
  std::map<int64_t, int64_t> slot_bytes_;
  std::map<size_t, int64_t> live_slots_;
};

}  // namespace

constexpr int64_t kMostLocalMemory = 16 << 10;  // of a thread, in bytes

int grid_lanes(const ir::Module& m, int vector_bytes) {
  if (m.debug && has_waits(m)) return 0;  // threads that are checked are fibers
  std::optional<ir::Function> whole = block_for_lanes(m);
  if (!whole || !lanes_fit(*whole)) return 0;
  bool cut = false;
  int64_t local_memory = 0;
  for (const ir::Inst& i : whole->body) {
    if (i.op != Op::intrinsic) continue;
    Intrinsic k = ir::intrinsic_of(i);
    // Barriers of the grid are for fibers.
    if (k == Intrinsic::grid_barrier) return 0;
    cut = cut || cuts_runs(i);
    if (k == Intrinsic::local_memory) local_memory += ir::number_of(i);
  }
  // What threads keep while others run has to fit.
  if (cut && local_memory > kMostLocalMemory) return 0;
  if (has_warp_operations(m) && !warps_together(*whole)) return 0;
  Varying v = find_varying(*whole, Lanes::OfBlock);
  Planner p(*whole, v);
  if (!p.plan().possible) return 0;
  return pick_lanes(*whole, v, vector_bytes);
}

void build_grid(llvm::Module& to, const ir::Module& m, const std::string& name, int vector_bytes) {
  ir::Function whole = *block_for_lanes(m);
  finish_lanes(whole, m);
  llvm::IRBuilder<> b(to.getContext());
  Emit one(b, 1), many(b, grid_lanes(m, vector_bytes));
  Varying v = find_varying(whole, Lanes::OfBlock);
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
