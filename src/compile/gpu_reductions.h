// Loops of reductions on an NVIDIA GPU, each in one launch.
#pragma once

#include "compile/gpu_points.h"

namespace numbus::compile {

class GpuReductions : protected GpuPoints {
 protected:
  static constexpr int kWarp = 32;
  using GpuPoints::GpuPoints;

  // Shared memory: 8 bytes per field and thread; a strip's rows lie one after the other.
  V shared(size_t field, V thread) {
    int threads = kGpuThreads * std::max(1, g_.strip);
    if (!shared_) {
      auto* t = llvm::ArrayType::get(b_.getInt64Ty(),
                                     std::max<size_t>(1, k_.acc_fields.size()) * threads);
      shared_ = new llvm::GlobalVariable(m_, t, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::UndefValue::get(t), "state", nullptr,
                                         llvm::GlobalValue::NotThreadLocal, 3);
      shared_->setAlignment(llvm::Align(16));
    }
    if (g_.strip) thread = b_.CreateAdd(thread, b_.CreateMul(tid_y_, b_.getInt64(kGpuThreads)));
    V i = b_.CreateAdd(b_.getInt64(static_cast<int64_t>(field) * threads), thread);
    return b_.CreateGEP(b_.getInt64Ty(), shared_, i);
  }
  void share(const GpuReduce& r, V thread, const State& s) {
    for (int f = 0; f < r.fields; ++f) store_field(s[f], shared(r.first_field + f, thread));
  }
  State shared_state(const GpuReduce& r, V thread) {
    State s;
    auto types = reduction_fields(r.kind, r.in);
    for (int f = 0; f < r.fields; ++f)
      s.push_back(load_field(types[f], shared(r.first_field + f, thread)));
    return s;
  }

  // A thread's state: those of its lanes, merged.
  State state_of_thread(const GpuReduce& r) {
    State s = settle(one_, r, get_state(r, 0));
    for (int v = 1; v < g_.vector; ++v) s = merge(one_, r, s, settle(one_, r, get_state(r, v)));
    return s;
  }

  // Merges the threads' states into thread 0's shared slot, pairwise: those of a warp without
  // shared memory.
  void combine_block() {
    std::vector<State> all;
    for (const GpuReduce& r : g_.reduces) all.push_back(state_of_thread(r));
    combine(all);
  }
  void combine(const std::vector<State>& threads) {
    for (size_t n = 0; n < threads.size(); ++n) share(g_.reduces[n], tid_, threads[n]);
    barrier();
    for (int half = kGpuThreads / 2; half >= kWarp; half /= 2) {
      branch(b_.CreateICmpSLT(tid_, b_.getInt64(half)), [&] {
        for (const GpuReduce& r : g_.reduces)
          share(r, tid_,
                merge(one_, r, shared_state(r, tid_),
                      shared_state(r, b_.CreateAdd(tid_, b_.getInt64(half)))));
      });
      barrier();
    }
    branch(b_.CreateICmpSLT(tid_, b_.getInt64(kWarp)), [&] {
      std::vector<State> all;
      for (const GpuReduce& r : g_.reduces) all.push_back(shared_state(r, tid_));
      combine_warp(all);
      for (size_t n = 0; n < all.size(); ++n) share(g_.reduces[n], tid_, all[n]);
    });
    barrier();
  }
  // Merges the states of a warp's lanes into those of lane 0, pairwise.
  void combine_warp(std::vector<State>& all) {
    for (int half = kWarp / 2; half >= 1; half /= 2)
      for (size_t n = 0; n < all.size(); ++n) {
        State other;
        for (V v : all[n]) other.push_back(shuffled_down(v, half));
        all[n] = merge(one_, g_.reduces[n], all[n], other);
      }
  }

  void store_result(int n, V result, V col, const State& state) {
    const GpuReduce& r = g_.reduces[n];
    int w = g_.word_reduce(n);
    V address = word(w), row = b_.CreateMul(result, word(g_.word_sequential()));
    for (int d = k_.rank - 2; d >= 0; --d) {
      V index = row;
      if (d > 0) std::tie(row, index) = divide(row, word(k_.param_shape(d)));
      address = b_.CreateAdd(address, b_.CreateMul(index, word(w + 1 + d)));
    }
    if (col) address = b_.CreateAdd(address, b_.CreateMul(col, word(w + k_.rank)));
    V ddof = b_.CreateBitCast(word(w + 1 + k_.rank), b_.getDoubleTy());
    State out = finish(one_, r, state, ddof);
    V p = pointer(address);
    store_field(out[0], p);
    if (out.size() > 1)
      store_field(out[1], b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(itemsize(real_of(r.out)))));
  }

  // Reductions over whole rows of points: results along the grid's y, blocks of one result along x.
  void strip_mined() {
    V results = word(g_.word_rows()), count = word(g_.word_points()),
      cols = word(k_.param_shape(k_.rank - 1));
    V n = b_.getInt64(g_.vector);
    V first = b_.CreateMul(b_.CreateAdd(b_.CreateMul(block_x_, b_.getInt64(kGpuThreads)), tid_), n);
    V step = b_.CreateMul(grid_x_, b_.getInt64(kGpuThreads * g_.vector));
    loop(block_y_, results, grid_y_, [&](V result) {
      reset_state();
      V base = b_.CreateMul(result, word(g_.word_sequential()));
      // Several steps at a time where nothing can branch: their loads are in flight together.
      V start = first;
      Row only = k_.rank == 1 ? enter_row(b_.getInt64(0)) : Row{};
      auto counted = split_ ? std::vector<char>{} : counts();
      int unrolled = k_.body.size() > 48 ? 1 : k_.acc_fields.size() * g_.vector <= 4 ? 4 : 2;
      if (k_.rank == 1 && k_.boxes == 0 && !counted.empty()) {
        start = steady(only, first, step, count, counted);
      } else if (k_.rank == 1 && k_.boxes == 0) {
        V far =
            b_.CreateAdd(b_.CreateMul(step, b_.getInt64(unrolled - 1)), b_.getInt64(g_.vector - 1));
        V limit = b_.CreateSub(count, far);
        V stride = b_.CreateMul(step, b_.getInt64(unrolled));
        start = loop(first, limit, stride, [&](V element) {
          for (int t = 0; t < unrolled; ++t)
            whole_vector(only, b_.CreateAdd(element, b_.CreateMul(step, b_.getInt64(t))));
        });
      }
      V row_at = nullptr, col_at = nullptr, rows_on = nullptr, cols_on = nullptr;
      if (k_.rank > 1) {
        std::tie(rows_on, cols_on) = divide(step, cols);
        auto [row, col] = divide(first, cols);
        row_at = slot(row), col_at = slot(col);
      }
      loop(start, count, step, [&](V element) {
        if (k_.rank == 1) {
          points(only, element, count);
          return;
        }
        // The point's row and column, and already those of the next iteration.
        V row = b_.CreateLoad(b_.getInt64Ty(), row_at),
          col = b_.CreateLoad(b_.getInt64Ty(), col_at);
        V next = b_.CreateAdd(col, cols_on), over = b_.CreateICmpSGE(next, cols);
        b_.CreateStore(b_.CreateSelect(over, b_.CreateSub(next, cols), next), col_at);
        b_.CreateStore(b_.CreateAdd(b_.CreateAdd(row, rows_on), zext(over)), row_at);
        V same_row = b_.CreateICmpSLE(b_.CreateAdd(col, n), cols);
        V at = b_.CreateAdd(base, row);
        branch(
            same_row, [&, r = at, c = col] { points(enter_row(r), c, cols); },
            [&] {
              for (int v = 0; v < g_.vector; ++v) {
                V here = b_.CreateAdd(element, b_.getInt64(v));
                branch(b_.CreateICmpSLT(here, count), [&] {
                  auto [r, c] = divide(here, cols);
                  one_point(enter_row(b_.CreateAdd(base, r)), c, v);
                });
              }
            });
      });
      combine_block();
      if (g_.form == GpuForm::ReduceRows) {
        branch(b_.CreateICmpEQ(tid_, b_.getInt64(0)), [&] {
          for (size_t r = 0; r < g_.reduces.size(); ++r)
            store_result(static_cast<int>(r), result, nullptr, shared_state(g_.reduces[r], tid_));
        });
        barrier();
      } else {
        across_blocks();
      }
    });
  }

  // A warp for each row of at most one vector for each of a block's threads: lane l does the work
  // of threads l, l + 32, …, and states are merged in the order in which the block would.
  void warps() {
    V results = word(g_.word_rows()), count = word(g_.word_points());
    constexpr int kWarps = kGpuThreads / kWarp;
    V lane = b_.CreateAnd(tid_, b_.getInt64(kWarp - 1)), warp = b_.CreateLShr(tid_, 5);
    V first = b_.CreateAdd(b_.CreateMul(block_y_, b_.getInt64(kWarps)), warp);
    loop(first, results, b_.CreateMul(grid_y_, b_.getInt64(kWarps)), [&](V result) {
      Row row = enter_row(result);
      std::vector<State> all = merged_threads(row, lane, count, 0, 1);
      combine_warp(all);
      branch(b_.CreateICmpEQ(lane, b_.getInt64(0)), [&] {
        for (size_t n = 0; n < all.size(); ++n)
          store_result(static_cast<int>(n), result, nullptr, all[n]);
      });
    });
  }
  // The states of threads lane + 32 (at + k apart), merged pairwise.
  std::vector<State> merged_threads(const Row& row, V lane, V count, int at, int apart) {
    if (apart < kGpuThreads / 32) {
      std::vector<State> all = merged_threads(row, lane, count, at, 2 * apart);
      const std::vector<State> others = merged_threads(row, lane, count, at + apart, 2 * apart);
      for (size_t n = 0; n < all.size(); ++n)
        all[n] = merge(one_, g_.reduces[n], all[n], others[n]);
      return all;
    }
    reset_state();
    V col = b_.CreateMul(b_.CreateAdd(lane, b_.getInt64(32 * at)), b_.getInt64(g_.vector));
    branch(b_.CreateICmpSLT(col, count), [&] { points(row, col, count); });
    std::vector<State> all;
    for (const GpuReduce& r : g_.reduces) all.push_back(state_of_thread(r));
    return all;
  }
  // That of the lane so many further on.
  V shuffled_down(V v, int lanes) {
    llvm::Type* const type = v->getType();
    const unsigned bits = type->getScalarSizeInBits();
    V word = b_.CreateBitCast(v, b_.getIntNTy(bits));
    auto moved = [&](V part) -> V {
      return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_down_i32, {},
                                {b_.getInt32(-1), part, b_.getInt32(lanes), b_.getInt32(31)});
    };
    if (bits <= 32) {
      word = b_.CreateTrunc(moved(b_.CreateZExt(word, b_.getInt32Ty())), b_.getIntNTy(bits));
    } else {
      V low = b_.CreateTrunc(word, b_.getInt32Ty());
      V high = b_.CreateTrunc(b_.CreateLShr(word, 32), b_.getInt32Ty());
      word = b_.CreateOr(zext(moved(low)), b_.CreateShl(zext(moved(high)), 32));
    }
    return b_.CreateBitCast(word, type);
  }

  struct Partials {
    V counter, slots;
  };
  Partials partials() {
    V at = word(g_.word_partials());
    return {pointer(at), pointer(b_.CreateAdd(at, b_.getInt64(16)))};
  }
  V partial(const Partials& p, V block, size_t field) {
    V i = b_.CreateAdd(b_.CreateMul(block, b_.getInt64(static_cast<int64_t>(fields_.size()))),
                       b_.getInt64(static_cast<int64_t>(field)));
    return b_.CreateGEP(b_.getInt64Ty(), p.slots, i);
  }
  // Leaves thread 0's shared state as that of a block.
  void leave(const Partials& p, V block) {
    for (const GpuReduce& r : g_.reduces) {
      State s = shared_state(r, tid_);
      for (int f = 0; f < r.fields; ++f) store_field(s[f], partial(p, block, r.first_field + f));
    }
  }

  // Whole vectors of one row in a body that counts every point: the first point of a lane apart
  // from those that need not ask whether they are. Gives the first point not done.
  V steady(const Row& row, V first, V step, V count, const std::vector<char>& counted) {
    int unrolled = k_.body.size() > 48 ? 1 : k_.acc_fields.size() <= 4 ? 6 : 2;
    V far = b_.CreateAdd(b_.CreateMul(step, b_.getInt64(unrolled - 1)), b_.getInt64(g_.vector - 1));
    V limit = b_.CreateSub(count, far), stride = b_.CreateMul(step, b_.getInt64(unrolled));
    V some = b_.CreateICmpSLT(first, limit);
    branch(some, [&] { whole_vector(row, first); });
    counted_ = counted;
    V from = b_.CreateSelect(some, b_.CreateAdd(first, step), first);
    V end = loop(from, limit, stride, [&](V element) {
      for (int t = 0; t < unrolled; ++t)
        whole_vector(row, b_.CreateAdd(element, b_.CreateMul(step, b_.getInt64(t))));
    });
    set_counts(b_.CreateUDiv(b_.CreateSub(end, first), step));
    counted_.clear();
    return end;
  }

  // Each block leaves its state; the last one to finish merges them in block order. The counter
  // returns to zero.
  void across_blocks() {
    Partials p = partials();
    branch(b_.CreateICmpEQ(tid_, b_.getInt64(0)), [&] { leave(p, block_x_); });
    finish_blocks(p, grid_x_);
  }
  void finish_blocks(const Partials& p, V states) {
    auto* flag =
        new llvm::GlobalVariable(m_, b_.getInt32Ty(), false, llvm::GlobalValue::InternalLinkage,
                                 llvm::UndefValue::get(b_.getInt32Ty()), "is_last", nullptr,
                                 llvm::GlobalValue::NotThreadLocal, 3);
    V first = b_.CreateICmpEQ(tid_, b_.getInt64(0));
    if (g_.strip > 1) {
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
      barrier();
      first = b_.CreateICmpEQ(b_.CreateOr(tid_, tid_y_), b_.getInt64(0));
    }
    branch(first, [&] {
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
      V old = b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, p.counter, b_.getInt32(1),
                                 llvm::MaybeAlign(4), llvm::AtomicOrdering::Monotonic);
      V last = b_.CreateICmpEQ(zext(old), b_.CreateSub(grid_x_, b_.getInt64(1)));
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
      b_.CreateStore(b_.CreateZExt(last, b_.getInt32Ty()), flag);
    });
    barrier();
    V last = b_.CreateICmpNE(b_.CreateLoad(b_.getInt32Ty(), flag), b_.getInt32(0));
    branch(last, [&] {
      reset_state();
      loop(tid_, states, b_.getInt64(kGpuThreads), [&](V other) {
        for (const GpuReduce& r : g_.reduces) {
          State s;
          auto types = reduction_fields(r.kind, r.in);
          for (int f = 0; f < r.fields; ++f)
            s.push_back(load_field(types[f], partial(p, other, r.first_field + f), true));
          set_state(r, 0, merge(one_, r, get_state(r, 0), s));
        }
      });
      std::vector<State> all;
      for (const GpuReduce& r : g_.reduces) all.push_back(get_state(r, 0));
      combine(all);
      branch(first, [&] {
        for (size_t r = 0; r < g_.reduces.size(); ++r)
          store_result(static_cast<int>(r), b_.getInt64(0), nullptr,
                       shared_state(g_.reduces[r], tid_));
        b_.CreateStore(b_.getInt32(0), p.counter);
      });
    });
  }

  // A vector not wholly inside the boxes, all its reads before its first store.
  void edge(const Row& row, V col) {
    std::vector<std::vector<V>> in(k_.boxes);  // by box and lane
    Point p = row.many;
    p.col = col;
    for (int x = 0; x < k_.boxes; ++x) {
      V all = llvm::PoisonValue::get(many_.wide(b_.getInt1Ty()));
      for (int v = 0; v < g_.vector; ++v) {
        V c = b_.CreateAdd(col, b_.getInt64(v));
        in[x].push_back(in_box(row.one, x, c, c));
        all = b_.CreateInsertElement(all, in[x][v], v);
      }
      p.boxes.push_back(all);
    }
    GpuWindows::Elements window;
    windows_.fill_enabled(
        window, row.one.rows, row_stride(), col, [&](int x, int v) { return in[x][v]; },
        partials().slots);
    windows_.use(p, window, row.one.rows, row_stride(), col, 0);
    std::vector<V> held;
    for (size_t f = 0; f < fields_.size(); ++f) held.push_back(load_fields(f));
    p.acc_values = &held;
    Body(many_, k_).emit(p);
    for (size_t f = 0; f < fields_.size(); ++f) store_fields(f, held[f]);
  }

  // One result, from rows whose neighbours are read: a block does the work of `strip` blocks of
  // places(), those that lie below one another. So the order of the sum is the same, and what rows
  // share is fetched once. Rows are whole blocks long (the host sees to it).
  void strips() {
    V rows = word(g_.word_sequential()), cols = word(k_.param_shape(1));
    V each = b_.getInt64(g_.strip), width = b_.getInt64(kGpuThreads * g_.vector);
    V across = divide(cols, width).first;
    auto [group, part] = divide(block_x_, across);
    V col = b_.CreateAdd(b_.CreateMul(part, width), b_.CreateMul(tid_, b_.getInt64(g_.vector)));
    V last = b_.CreateAdd(col, b_.getInt64(g_.vector - 1));
    V step = divide(b_.CreateMul(grid_x_, each), across).first;
    reset_state();
    loop(b_.CreateAdd(b_.CreateMul(group, each), tid_y_), rows, step, [&](V row) {
      Row at = enter_row(row);
      V whole = b_.getTrue();
      for (int x = 0; x < k_.boxes; ++x) whole = b_.CreateAnd(whole, in_box(at.one, x, col, last));
      // A warp goes one way: two would wait for memory one after the other.
      whole = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_all_sync, {}, {b_.getInt32(-1), whole});
      branch(whole, [&] { whole_vector(at, col); }, [&] { edge(at, col); });
    });
    combine_block();
    Partials p = partials();
    V first = b_.CreateAdd(b_.CreateMul(group, b_.CreateMul(across, each)), part);
    branch(b_.CreateICmpEQ(tid_, b_.getInt64(0)),
           [&] { leave(p, b_.CreateAdd(first, b_.CreateMul(across, tid_y_))); });
    finish_blocks(p, b_.CreateMul(grid_x_, each));
  }

  // The innermost dimension is kept: x threads along it, y threads share the rows of a result.
  void columns() {
    V results = word(g_.word_rows()), rows = word(g_.word_sequential()),
      cols = word(k_.param_shape(k_.rank - 1));
    V col0 = b_.CreateAdd(b_.CreateMul(block_x_, ntid_), tid_);
    V thread = b_.CreateAdd(b_.CreateMul(tid_y_, ntid_), tid_);
    V width = b_.CreateMul(grid_x_, ntid_);
    V rounds = b_.CreateUDiv(b_.CreateAdd(cols, b_.CreateSub(width, b_.getInt64(1))), width);
    loop(block_y_, results, grid_y_, [&](V result) {
      loop(b_.getInt64(0), rounds, b_.getInt64(1), [&](V round) {
        V col = b_.CreateAdd(col0, b_.CreateMul(round, width));
        V inside = b_.CreateICmpSLT(col, cols);
        reset_state();
        V base = b_.CreateMul(result, rows);
        V limit = b_.CreateSelect(inside, rows, b_.getInt64(0));
        // Several rows at a time: their loads are in flight together.
        constexpr int64_t kUnrolled = 8;
        auto below = [&](V row, int64_t n) {
          return b_.CreateAdd(row, b_.CreateMul(ntid_y_, b_.getInt64(n)));
        };
        auto point = [&](V row) { one_point(enter_row(b_.CreateAdd(base, row)), col, 0); };
        V start = tid_y_;
        if (k_.body.size() <= 48) {
          V full = b_.CreateSub(limit, b_.CreateMul(ntid_y_, b_.getInt64(kUnrolled - 1)));
          start = loop(tid_y_, full, b_.CreateMul(ntid_y_, b_.getInt64(kUnrolled)), [&](V row) {
            for (int64_t n = 0; n < kUnrolled; ++n) point(below(row, n));
          });
        }
        loop(start, limit, ntid_y_, point);
        for (const GpuReduce& r : g_.reduces) share(r, thread, settle(one_, r, get_state(r, 0)));
        barrier();
        branch(b_.CreateAnd(inside, b_.CreateICmpEQ(tid_y_, b_.getInt64(0))), [&] {
          for (size_t n = 0; n < g_.reduces.size(); ++n) {
            const GpuReduce& r = g_.reduces[n];
            share(r, tid_, shared_state(r, tid_));
            loop(b_.getInt64(1), ntid_y_, b_.getInt64(1), [&](V y) {
              V other = b_.CreateAdd(b_.CreateMul(y, ntid_), tid_);
              share(r, tid_, merge(one_, r, shared_state(r, tid_), shared_state(r, other)));
            });
            store_result(static_cast<int>(n), result, col, shared_state(r, tid_));
          }
        });
        barrier();
      });
    });
  }

 private:
  llvm::GlobalVariable* shared_ = nullptr;
};

}  // namespace numbus::compile
