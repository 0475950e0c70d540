// The loops of a scan for an NVIDIA GPU. All orders are fixed by the shape.
#include "compile/gpu_scan.h"

#include "compile/gpu.h"
#include "compile/gpu_scan_base.h"

namespace numbus::compile {

std::string GpuScan::key() const {
  return "scan" + code.key() + static_cast<char>(blocks | totals << 1 | carries << 2) +
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
    V inner = word(GpuScan::kInner), lines = b_.CreateMul(word(GpuScan::kOuter), inner);
    State none;
    loop(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y), lines,
         special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y), none, [&](V line) {
           enter(b_.CreateUDiv(line, inner), b_.CreateURem(line, inner), block_x_);
           first_segment_ = b_.CreateICmpEQ(block_x_, i64(0));
           if (g_.totals)
             sum_tiles();
           else
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

  // The total of a whole segment: a state a thread and element of the tile, merged at the end.
  void sum_tiles() {
    size_t fields = g_.code.fields();
    State all;
    auto states = [&](V tile) {
      State s;
      for (int u = 0; u < GpuScan::kStrips; ++u)
        for (V v : vector_.read(in_, in_stride_, strip(tile, u))) s.push_back(v);
      return s;
    };
    auto at = [&](const State& s, size_t u) {
      return State(s.begin() + u * fields, s.begin() + (u + 1) * fields);
    };
    all = states(from_);
    loop(b_.CreateAdd(from_, i64(g_.tile())), to_, g_.tile(), all, [&](V tile) {
      State more = states(tile), sum;
      for (int u = 0; u < GpuScan::kStrips; ++u)
        for (V v : vector_.combine(at(all, u), at(more, u))) sum.push_back(v);
      all = sum;
    });
    State s = at(all, 0);
    for (int u = 1; u < GpuScan::kStrips; ++u) s = vector_.combine(s, at(all, u));
    State sum = part(s, 0);
    for (int v = 1; v < g_.vector; ++v) sum = element_.combine(sum, part(s, v));
    for (int d = 16; d >= 1; d /= 2)
      sum = element_.combine(
          sum, shuffle(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, sum, b_.getInt32(d), 31));
    if (g_.warps > 1) {
      branch(b_.CreateICmpEQ(lane_, i64(0)), [&] { share(warp_, sum); });
      barrier();
    }
    branch(b_.CreateICmpEQ(tid_, i64(0)), [&] {
      for (int w = 1; w < g_.warps; ++w) sum = element_.combine(sum, shared_state(i64(w)));
      total_.write(sum, totals_row_, nullptr, total_at_);
    });
  }

  // Tile after tile. Within one, elements are scanned by each thread, threads by the warp, and the
  // totals of (strip, warp) once more by every warp.
  void scan_tiles() {
    size_t fields = g_.code.fields();
    State carried;  // the state before the tile, whether there is one, which set is free
    if (g_.carries)
      carried = total_before();
    else
      carried.assign(fields, llvm::Constant::getNullValue(element_.type()));
    carried.push_back(g_.carries ? b_.CreateNot(first_segment_) : b_.getFalse());
    carried.push_back(i64(0));
    loop(from_, to_, g_.tile(), carried, [&](V tile) {
      State before(carried.begin(), carried.begin() + fields);
      V has_before = carried[fields], set = carried[fields + 1];
      V whole = b_.CreateICmpSLE(b_.CreateAdd(tile, i64(g_.tile())), to_);
      std::vector<State> x = read_tile(tile, whole);
      auto at = [&](int u, int v) -> State& { return x[u * g_.vector + v]; };
      std::vector<State> below, totals;  // of the lanes before this one; of the warp
      for (int u = 0; u < GpuScan::kStrips; ++u) {
        for (int v = 1; v < g_.vector; ++v) at(u, v) = element_.combine(at(u, v - 1), at(u, v));
        State sum = scan_warp(at(u, g_.vector - 1));
        below.push_back(from_below(sum, 1));
        totals.push_back(sum);
      }
      auto [ahead, has_ahead, total] = g_.warps == 1 ? in_warp(totals) : in_block(totals, set);
      V has_below = b_.CreateICmpSGT(lane_, i64(0));
      for (int u = 0; u < GpuScan::kStrips; ++u) {
        // What stands before this thread's part: the tile before, warps before, lanes before.
        State s = element_.choose(
            has_before, element_.choose(has_ahead[u], element_.combine(before, ahead[u]), before),
            ahead[u]);
        V has = b_.CreateOr(has_before, has_ahead[u]);
        s = element_.choose(has, element_.choose(has_below, element_.combine(s, below[u]), s),
                            below[u]);
        has = b_.CreateOr(has, has_below);
        for (int v = 0; v < g_.vector; ++v)
          at(u, v) = element_.choose(has, element_.combine(s, at(u, v)), at(u, v));
      }
      write_tile(tile, whole, x);
      State next = element_.choose(has_before, element_.combine(before, total), total);
      next.push_back(b_.getTrue());
      next.push_back(b_.CreateXor(set, i64(32)));
      carried = next;
    });
  }

  // Beyond the end an index repeats the last element, which only later ones could notice.
  std::vector<State> read_tile(V tile, V whole) {
    auto flat = either(
        whole,
        [&] {
          State s;
          for (int u = 0; u < GpuScan::kStrips; ++u) {
            State some = vector_.read(in_, in_stride_, strip(tile, u));
            for (int v = 0; v < g_.vector; ++v)
              for (V f : part(some, v)) s.push_back(f);
          }
          return s;
        },
        [&] {
          State s;
          V last = b_.CreateSub(to_, i64(1));
          for (int u = 0; u < GpuScan::kStrips; ++u)
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
          for (int u = 0; u < GpuScan::kStrips; ++u) {
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
          for (int u = 0; u < GpuScan::kStrips; ++u)
            for (int v = 0; v < g_.vector; ++v) {
              V element = b_.CreateAdd(strip(tile, u), i64(v));
              branch(b_.CreateICmpSLT(element, to_), [&] { write(x[u * g_.vector + v], element); });
            }
          return State();
        });
  }

  // For each strip the state ahead of this warp's part and whether there is one; the tile's total.
  struct Ahead {
    std::vector<State> state;
    State has;
    State total;
  };
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
      for (int u = 0; u < GpuScan::kStrips; ++u) share(b_.CreateAdd(set, number(u)), totals[u]);
    });
    // The sets alternate, so that one barrier a tile is enough.
    barrier();
    State all = scan_warp(shared_state(b_.CreateAdd(set, lane_)));
    for (int u = 0; u < GpuScan::kStrips; ++u) {
      a.has.push_back(b_.CreateICmpSGT(number(u), i64(0)));
      V ahead = b_.CreateSelect(a.has[u], b_.CreateSub(number(u), i64(1)), i64(0));
      a.state.push_back(from_lane(all, ahead));
    }
    a.total = from_lane(all, i64(31));
    return a;
  }
};

}  // namespace

std::string build_scan_ptx(const GpuScan& g, int sm, int ptx) {
  return emit_ptx(sm, ptx, [&](llvm::Module& m) { Scan(m, g).build(); });
}

}  // namespace numbus::compile
