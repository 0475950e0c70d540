// The loops of a scan for an NVIDIA GPU. All orders are fixed by the shape.
#include "compile/gpu_scan.h"

#include "compile/gpu.h"
#include "compile/gpu_scan_base.h"

namespace numbus::compile {

std::string GpuScan::key() const {
  return "scan" + code.key() + static_cast<char>(blocks | totals << 1 | carries << 2 | tiles << 3) +
         static_cast<char>(warps) + static_cast<char>(vector);
}

namespace {

class Scan : GpuScanBase {
 public:
  Scan(llvm::Module& m, const GpuScan& g) : GpuScanBase(m, g) {}

  void build() {
    b_.SetInsertPoint(block("entry"));
    tid_ = special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
    block_x_ = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    if (g_.blocks)
      blocks();
    else
      threads();
    b_.CreateRetVoid();
  }

 private:
  // A thread a segment, neighbours in neighbouring lines.
  void threads() {
    V inner = word(GpuScan::kInner), outer = word(GpuScan::kOuter);
    V ntid = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x),
      grid = special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    V count = b_.CreateMul(b_.CreateMul(inner, outer), segments());
    State none;
    loop(b_.CreateAdd(b_.CreateMul(block_x_, ntid), tid_), count, b_.CreateMul(grid, ntid), none,
         [&](V t) {
           V rest = b_.CreateUDiv(t, inner), segment = b_.CreateUDiv(rest, outer);
           enter(b_.CreateURem(rest, outer), b_.CreateURem(t, inner), segment);
           first_segment_ = b_.CreateICmpEQ(segment, i64(0));
           one_segment();
         });
  }

  void one_segment() {
    auto begin = [&] {
      State s = read(from_);
      if (!g_.totals) write(s, from_);
      s.push_back(b_.CreateAdd(from_, i64(1)));
      return s;
    };
    State s = !g_.carries ? begin() : either(first_segment_, begin, [&] {
      State held = total_before();
      held.push_back(from_);
      return held;
    });
    V start = s.back();
    s.pop_back();
    auto elements = [&](V from, V to, int unrolled) {
      return loop(from, to, unrolled, s, [&](V element) {
        std::vector<State> x;
        auto at = [&](int n) { return b_.CreateAdd(element, i64(n)); };
        for (int n = 0; n < unrolled; ++n) x.push_back(read(at(n)));
        for (int n = 0; n < unrolled; ++n) {
          s = element_.combine(s, x[n]);
          if (!g_.totals) write(s, at(n));
        }
      });
    };
    // Loads of several elements are in flight together.
    constexpr int kElementsAtOnce = 4;
    elements(elements(start, b_.CreateSub(to_, i64(kElementsAtOnce - 1)), kElementsAtOnce), to_, 1);
    if (g_.totals) total_.write(s, totals_row_, nullptr, total_at_);
  }

  // Blocks ----------------------------------------------------------------------------------------
  void blocks() {
    lane_ = b_.CreateAnd(tid_, i64(31));
    warp_ = b_.CreateLShr(tid_, i64(5));
    if (g_.tiles) return one_tile();
    V inner = word(GpuScan::kInner), lines = b_.CreateMul(word(GpuScan::kOuter), inner);
    State none;
    loop(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y), lines,
         special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y), none, [&](V line) {
           enter(b_.CreateUDiv(line, inner), b_.CreateURem(line, inner), block_x_);
           scan_tiles();
           if (g_.warps > 1) barrier();
         });
  }

  // The first index of this thread's part of a strip.
  V strip(V tile, int u) {
    int64_t length = 32 * g_.warps * g_.vector;
    return b_.CreateAdd(b_.CreateAdd(tile, i64(u * length)), b_.CreateMul(tid_, i64(g_.vector)));
  }
  State part(const State& vector, int lane) {
    if (g_.vector == 1) return vector;
    State s;
    for (V v : vector) s.push_back(b_.CreateExtractElement(v, static_cast<uint64_t>(lane)));
    return s;
  }
  State scan_warp(State s) {
    for (int d = 1; d < 32; d *= 2) {
      State with = element_.combine(from_below(s, d), s);
      s = element_.choose(b_.CreateICmpSGE(lane_, i64(d)), with, s);
    }
    return s;
  }

  // A tile whose elements are scanned by each thread, threads by the warp, and the totals of
  // (strip, warp) once more by every warp.
  struct Ahead {
    std::vector<State> state;  // for each strip, what stands ahead of this warp's part
    State has;                 // whether there is anything
    State total;               // of the tile
  };
  struct Tile {
    V whole;
    std::vector<State> x;      // by strip and element
    std::vector<State> below;  // of the lanes before this one
    Ahead ahead;
  };
  Tile scan_within(V tile, V set) {
    Tile t;
    t.whole = b_.CreateICmpSLE(b_.CreateAdd(tile, i64(g_.tile())), to_);
    t.x = read_tile(tile, t.whole);
    auto at = [&](int u, int v) -> State& { return t.x[u * g_.vector + v]; };
    std::vector<State> totals;  // of the warp
    for (int u = 0; u < GpuScan::kStrips; ++u) {
      for (int v = 1; v < g_.vector; ++v) at(u, v) = element_.combine(at(u, v - 1), at(u, v));
      State sum = scan_warp(at(u, g_.vector - 1));
      t.below.push_back(from_below(sum, 1));
      totals.push_back(sum);
    }
    t.ahead = g_.warps == 1 ? in_warp(totals) : in_block(totals, set);
    return t;
  }
  // Puts what stands before each part ahead of its elements: tiles, warps, lanes before.
  void put_ahead(Tile& t, const State& before, V has_before) {
    V has_below = b_.CreateICmpSGT(lane_, i64(0));
    for (int u = 0; u < GpuScan::kStrips; ++u) {
      const State& ahead = t.ahead.state[u];
      State s = element_.choose(
          has_before, element_.choose(t.ahead.has[u], element_.combine(before, ahead), before),
          ahead);
      V has = b_.CreateOr(has_before, t.ahead.has[u]);
      s = element_.choose(has, element_.choose(has_below, element_.combine(s, t.below[u]), s),
                          t.below[u]);
      has = b_.CreateOr(has, has_below);
      for (int v = 0; v < g_.vector; ++v) {
        State& x = t.x[u * g_.vector + v];
        x = element_.choose(has, element_.combine(s, x), x);
      }
    }
  }

  // A block walks its line tile after tile.
  void scan_tiles() {
    size_t fields = g_.code.fields();
    // The state before the tile, whether there is one, which set of shared states is free.
    State carried(fields, llvm::Constant::getNullValue(element_.type()));
    carried.push_back(b_.getFalse());
    carried.push_back(i64(0));
    loop(from_, to_, g_.tile(), carried, [&](V tile) {
      State before(carried.begin(), carried.begin() + fields);
      V has_before = carried[fields], set = carried[fields + 1];
      Tile t = scan_within(tile, set);
      put_ahead(t, before, has_before);
      write_tile(tile, t.whole, t.x);
      State next =
          element_.choose(has_before, element_.combine(before, t.ahead.total), t.ahead.total);
      next.push_back(b_.getTrue());
      next.push_back(b_.CreateXor(set, i64(32)));
      carried = next;
    });
  }

  // A block a tile --------------------------------------------------------------------------------
  // Blocks take tiles in the order in which they start, so that what a block waits for is always
  // under way. What stands before a tile is made of the totals of whole groups of 1,024 tiles,
  // of 32 and of single ones, so that its bits depend on the tile alone, not on who came first
  // (unlike with the look-back of Merrill and Garland 2016, which adds up what it finds).
  static constexpr int kTicketSlot = 32, kBeforeSlot = 33;  // of the second set

  void one_tile() {
    V tiles = word(GpuScan::kSegments), inner = word(GpuScan::kInner);
    branch(b_.CreateICmpEQ(tid_, i64(0)), [&] {
      V taken = b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, pointer(word(GpuScan::kTotals)),
                                   i64(1), llvm::Align(8), llvm::AtomicOrdering::Monotonic);
      b_.CreateStore(taken, shared(i64(kTicketSlot), 0));
    });
    barrier();
    V ticket = b_.CreateLoad(b_.getInt64Ty(), shared(i64(kTicketSlot), 0));
    V line = b_.CreateUDiv(ticket, tiles), number = b_.CreateURem(ticket, tiles);
    enter(b_.CreateUDiv(line, inner), b_.CreateURem(line, inner), number);
    V whole = b_.CreateICmpSLE(b_.CreateAdd(from_, i64(g_.tile())), to_);
    exchange(read_tile(from_, whole));
    State total = scan_neighbours();
    State before = look_back(line, number, total);
    V has_before = b_.CreateICmpSGT(number, i64(0));
    std::vector<State> x = exchanged();
    for (State& s : x) s = element_.choose(has_before, element_.combine(before, s), s);
    write_tile(from_, whole, x);
  }

  // The tile in shared memory. Threads read and write vectors that lie side by side, and scan
  // elements that do; each thread's are followed by a gap, so that those of all threads of a warp
  // lie in different banks.
  int each() const { return g_.vector * g_.strips(); }
  V in_tile(V index, int field) {
    auto* type = element_.type()->isIntegerTy(1) ? b_.getInt8Ty() : element_.type();
    auto*& kept = tile_[field];
    if (!kept) {
      auto* t = llvm::ArrayType::get(type, 32 * g_.warps * (each() + 1));
      kept = new llvm::GlobalVariable(m_, t, false, llvm::GlobalValue::InternalLinkage,
                                      llvm::UndefValue::get(t), "tile" + std::to_string(field),
                                      nullptr, llvm::GlobalValue::NotThreadLocal, 3);
      kept->setAlignment(llvm::Align(16));
    }
    return b_.CreateGEP(type, kept, index);
  }
  void put(V index, const State& s) {
    for (size_t f = 0; f < s.size(); ++f) {
      V v = s[f]->getType()->isIntegerTy(1) ? b_.CreateZExt(s[f], b_.getInt8Ty()) : s[f];
      b_.CreateStore(v, in_tile(index, static_cast<int>(f)));
    }
  }
  State get(V index) {
    State s;
    bool is_bool = element_.type()->isIntegerTy(1);
    for (int f = 0; f < g_.code.fields(); ++f) {
      V v = b_.CreateLoad(is_bool ? b_.getInt8Ty() : element_.type(), in_tile(index, f));
      s.push_back(is_bool ? b_.CreateICmpNE(v, b_.getInt8(0)) : v);
    }
    return s;
  }
  // Where element v of this thread's vector of a strip lies, with the gaps.
  V exchanged_at(int u, int v) {
    V first = b_.CreateAdd(i64(int64_t{32} * g_.warps * g_.vector * u),
                           b_.CreateMul(tid_, i64(g_.vector)));
    return b_.CreateAdd(b_.CreateAdd(first, b_.CreateUDiv(first, i64(each()))), i64(v));
  }
  void exchange(const std::vector<State>& x) {
    for (int u = 0; u < g_.strips(); ++u)
      for (int v = 0; v < g_.vector; ++v) put(exchanged_at(u, v), x[u * g_.vector + v]);
    barrier();
  }
  std::vector<State> exchanged() {
    std::vector<State> x;
    for (int u = 0; u < g_.strips(); ++u)
      for (int v = 0; v < g_.vector; ++v) x.push_back(get(exchanged_at(u, v)));
    return x;
  }
  // Scans the tile as it lies in shared memory; the barrier of look_back() ends it. Gives the
  // tile's total.
  State scan_neighbours() {
    V first = b_.CreateMul(tid_, i64(each() + 1));
    std::vector<State> x;
    for (int n = 0; n < each(); ++n) {
      x.push_back(get(b_.CreateAdd(first, i64(n))));
      if (n > 0) x[n] = element_.combine(x[n - 1], x[n]);
    }
    State lanes = scan_warp(x.back()), below = from_below(lanes, 1);
    branch(b_.CreateICmpEQ(lane_, i64(31)), [&] { share(warp_, lanes); });
    barrier();
    State warps = scan_warp(shared_state(b_.CreateAnd(lane_, i64(g_.warps - 1))));
    State ahead = from_lane(warps, b_.CreateAnd(b_.CreateSub(warp_, i64(1)), i64(31)));
    State total = from_lane(warps, i64(g_.warps - 1));
    V has_warps = b_.CreateICmpSGT(warp_, i64(0)), has_lanes = b_.CreateICmpSGT(lane_, i64(0));
    State s = element_.choose(has_lanes, joined(has_warps, ahead, below), ahead);
    V has = b_.CreateOr(has_warps, has_lanes);
    for (int n = 0; n < each(); ++n) put(b_.CreateAdd(first, i64(n)), joined(has, s, x[n]));
    return total;
  }

  // The 32-bit pieces of a state, each in a word with a one above it: whoever finds the one has the
  // piece, whatever the order in which words arrive.
  int pieces_of_field() {
    return (static_cast<int>(element_.type()->getPrimitiveSizeInBits()) + 31) / 32;
  }
  V published(V index, int piece) {
    V bytes = b_.CreateMul(index, i64(8 * pieces_of_field() * g_.code.fields()));
    V at = b_.CreateAdd(word(GpuScan::kTotals), i64(GpuScan::kHeader + 8 * piece));
    return pointer(b_.CreateAdd(at, bytes));
  }
  void publish(V index, const State& s) {
    branch(b_.CreateICmpEQ(lane_, i64(0)), [&] {
      int piece = 0;
      for (V v : s) {
        unsigned bits = v->getType()->getPrimitiveSizeInBits();
        if (!v->getType()->isIntegerTy()) v = b_.CreateBitCast(v, b_.getIntNTy(bits));
        v = b_.CreateZExt(v, b_.getInt64Ty());
        for (int n = 0; n < pieces_of_field(); ++n) {
          V low = b_.CreateAnd(n ? b_.CreateLShr(v, 32) : v, i64(0xFFFFFFFF));
          b_.CreateStore(b_.CreateOr(low, i64(int64_t{1} << 32)), published(index, piece++), true);
        }
      }
    });
  }
  // Waits for what is published there.
  State wait_for(V index) {
    auto *wait = block("wait"), *there = block("there");
    b_.CreateBr(wait);
    b_.SetInsertPoint(wait);
    std::vector<V> words;
    V all = nullptr;
    for (int n = 0; n < pieces_of_field() * g_.code.fields(); ++n) {
      words.push_back(b_.CreateLoad(b_.getInt64Ty(), published(index, n), true));
      all = all ? b_.CreateAnd(all, words.back()) : words.back();
    }
    b_.CreateCondBr(b_.CreateICmpUGE(all, i64(int64_t{1} << 32)), there, wait);
    b_.SetInsertPoint(there);
    State s;
    auto* type = element_.type();
    for (size_t n = 0; n < words.size(); n += pieces_of_field()) {
      V v = words[n];
      if (pieces_of_field() == 2)
        v = b_.CreateOr(b_.CreateAnd(v, i64(0xFFFFFFFF)), b_.CreateShl(words[n + 1], 32));
      v = b_.CreateTrunc(v, b_.getIntNTy(type->getPrimitiveSizeInBits()));
      s.push_back(type->isIntegerTy() ? v : b_.CreateBitCast(v, type));
    }
    return s;
  }
  // The sum of `count` totals from `first` on, at most 32; anything where there is none.
  State sum_published(V first, V count) {
    State none(g_.code.fields(), llvm::Constant::getNullValue(element_.type()));
    State s = either(
        b_.CreateICmpSLT(lane_, count), [&] { return wait_for(b_.CreateAdd(first, lane_)); },
        [&] { return none; });
    V last = b_.CreateSelect(b_.CreateICmpSGT(count, i64(0)), b_.CreateSub(count, i64(1)), i64(0));
    return from_lane(scan_warp(s), last);
  }

  // The states of `a`, if there is any, before those of `b`.
  State joined(V has_a, const State& a, const State& b) {
    return element_.choose(has_a, element_.combine(a, b), b);
  }

  // What stands before tile `number` of a line: what the last tile of the group before has
  // published, and what the tiles of its own group have. If all tiles asked for all groups, they
  // would ask one slice of the cache.
  State look_back(V line, V number, const State& total) {
    constexpr int64_t kFan = GpuScan::kFan;
    auto groups_of = [&](V n) { return b_.CreateUDiv(b_.CreateAdd(n, i64(kFan - 1)), i64(kFan)); };
    V tiles = word(GpuScan::kSegments), groups = groups_of(tiles), supers = groups_of(groups);
    V states = b_.CreateAdd(b_.CreateAdd(tiles, supers), b_.CreateMul(groups, i64(2)));
    V tile0 = b_.CreateMul(line, states), group0 = b_.CreateAdd(tile0, tiles);
    V until0 = b_.CreateAdd(group0, groups), super0 = b_.CreateAdd(until0, groups);
    V group = b_.CreateUDiv(number, i64(kFan)), in_group = b_.CreateURem(number, i64(kFan));
    V has_groups = b_.CreateICmpSGT(group, i64(0)), has_tiles = b_.CreateICmpSGT(in_group, i64(0));
    V first_lane = b_.CreateICmpEQ(lane_, i64(0));
    branch(b_.CreateICmpEQ(warp_, i64(0)), [&] {
      publish(b_.CreateAdd(tile0, number), total);
      State s = sum_published(b_.CreateAdd(tile0, b_.CreateMul(group, i64(kFan))), in_group);
      branch(first_lane, [&] { share(i64(kBeforeSlot), s); });
      branch(b_.CreateICmpEQ(in_group, i64(kFan - 1)),
             [&] { end_group(group, group0, until0, super0, element_.combine(s, total)); });
    });
    branch(b_.CreateAnd(has_groups, b_.CreateICmpEQ(tid_, i64(kFan))), [&] {
      State s = wait_for(b_.CreateAdd(until0, b_.CreateSub(group, i64(1))));
      share(i64(kBeforeSlot + 1), s);
    });
    barrier();
    State in_tiles = shared_state(i64(kBeforeSlot)), until = shared_state(i64(kBeforeSlot + 1));
    State both = joined(has_groups, until, in_tiles);
    return element_.choose(has_tiles, both, until);
  }
  // By the first warp of a group's last tile: the group's total, that of 32 groups if it is their
  // last, each before it waits for others, and the sum up to the group's end.
  void end_group(V group, V group0, V until0, V super0, const State& total) {
    constexpr int64_t kFan = GpuScan::kFan;
    V super = b_.CreateUDiv(group, i64(kFan)), in_super = b_.CreateURem(group, i64(kFan));
    publish(b_.CreateAdd(group0, group), total);
    State s = sum_published(b_.CreateAdd(group0, b_.CreateMul(super, i64(kFan))), in_super);
    s = joined(b_.CreateICmpSGT(in_super, i64(0)), s, total);
    branch(b_.CreateICmpEQ(in_super, i64(kFan - 1)),
           [&] { publish(b_.CreateAdd(super0, super), s); });
    State all(g_.code.fields(), llvm::Constant::getNullValue(element_.type()));
    loop(i64(0), super, kFan, all, [&](V from) {
      State sum =
          sum_published(b_.CreateAdd(super0, from), least(i64(kFan), b_.CreateSub(super, from)));
      all = joined(b_.CreateICmpSGT(from, i64(0)), all, sum);
    });
    publish(b_.CreateAdd(until0, group), joined(b_.CreateICmpSGT(super, i64(0)), all, s));
  }

  // Beyond the end an index repeats the last element, which only later ones could notice.
  std::vector<State> read_tile(V tile, V whole) {
    auto flat = either(
        whole,
        [&] {
          State s;
          for (int u = 0; u < g_.strips(); ++u) {
            State some = vector_.read(in_, in_stride_, strip(tile, u));
            for (int v = 0; v < g_.vector; ++v)
              for (V f : part(some, v)) s.push_back(f);
          }
          return s;
        },
        [&] {
          State s;
          V last = b_.CreateSub(to_, i64(1));
          for (int u = 0; u < g_.strips(); ++u)
            for (int v = 0; v < g_.vector; ++v)
              for (V f : read(least(last, b_.CreateAdd(strip(tile, u), i64(v))))) s.push_back(f);
          return s;
        });
    std::vector<State> x;
    size_t fields = g_.code.fields();
    for (size_t n = 0; n < flat.size(); n += fields)
      x.emplace_back(flat.begin() + n, flat.begin() + n + fields);
    return x;
  }

  void write_tile(V tile, V whole, const std::vector<State>& x) {
    either(
        whole,
        [&] {
          for (int u = 0; u < g_.strips(); ++u) {
            State s = x[u * g_.vector];
            if (g_.vector > 1) {
              for (size_t f = 0; f < s.size(); ++f) {
                s[f] = llvm::PoisonValue::get(vector_.type());
                for (int v = 0; v < g_.vector; ++v)
                  s[f] = b_.CreateInsertElement(s[f], x[u * g_.vector + v][f],
                                                static_cast<uint64_t>(v));
              }
            }
            vector_.write(s, out_, out_stride_, strip(tile, u));
          }
          return State();
        },
        [&] {
          for (int u = 0; u < g_.strips(); ++u)
            for (int v = 0; v < g_.vector; ++v) {
              V element = b_.CreateAdd(strip(tile, u), i64(v));
              branch(b_.CreateICmpSLT(element, to_), [&] { write(x[u * g_.vector + v], element); });
            }
          return State();
        });
  }

  Ahead in_warp(const std::vector<State>& totals) {
    Ahead a;
    for (const State& sum : totals) {
      a.has.push_back(b_.getInt1(!a.state.empty()));
      State mine = from_lane(sum, i64(31));
      a.state.push_back(a.state.empty() ? mine : a.total);
      a.total = a.state.size() == 1 ? mine : element_.combine(a.total, mine);
    }
    return a;
  }
  Ahead in_block(const std::vector<State>& totals, V set) {
    static_assert(GpuScan::kStrips * 8 == 32, "a lane for each strip and warp");
    Ahead a;
    auto number = [&](int u) { return b_.CreateAdd(i64(u * g_.warps), warp_); };
    branch(b_.CreateICmpEQ(lane_, i64(31)), [&] {
      for (int u = 0; u < g_.strips(); ++u) share(b_.CreateAdd(set, number(u)), totals[u]);
    });
    // The sets alternate, so that one barrier a tile is enough.
    barrier();
    State all = scan_warp(shared_state(b_.CreateAdd(set, lane_)));
    for (int u = 0; u < g_.strips(); ++u) {
      a.has.push_back(b_.CreateICmpSGT(number(u), i64(0)));
      V ahead = b_.CreateSelect(a.has[u], b_.CreateSub(number(u), i64(1)), i64(0));
      a.state.push_back(from_lane(all, ahead));
    }
    a.total = from_lane(all, i64(31));
    return a;
  }

  llvm::GlobalVariable* tile_[2] = {};  // by field
};

}  // namespace

std::string build_scan_ptx(const GpuScan& g, int sm, int ptx) {
  return emit_ptx(sm, ptx, [&](llvm::Module& m) { Scan(m, g).build(); });
}

}  // namespace numbus::compile
