// Units of about 16,384 points; reductions keep one state per unit and merge them in a fixed order.
#include "lazy/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/float_flags.h"
#include "compile/leave.h"
#include "device/cpu/thread_pool.h"
#include "device/null/null_device.h"
#include "lazy/as_gpu.h"
#include "lazy/examine.h"
#include "lazy/fold_cpu.h"
#include "lazy/move_cpu.h"
#include "lazy/reduce.h"

namespace numbus {
namespace {

// Casts of so few elements to integers are looked at again for the sake of warnings: compiled ones
// set no flags for numbers out of range.
constexpr int64_t kFewCast = 4096;

using Clock = std::chrono::steady_clock;
using ir::kUnitPoints;

size_t state_bytes(const ir::Kernel& k, int width) {
  size_t n = 0;
  for (DType t : k.acc_fields) n += static_cast<size_t>(width) * itemsize(t);
  return n;
}

// Calls f(reduce step, number, its part of the state).
template <class F>
void for_reduces(KernelStep& step, char* state, int width, F&& f) {
  for (size_t r = 0; r < step.reduces.size(); ++r) {
    char* at = state;
    for (int field = 0; field < step.reduces[r].first_field; ++field)
      at += static_cast<size_t>(width) * itemsize(step.code->ir.acc_fields[field]);
    f(step.reduces[r], r, at);
  }
}

// Whether what a step searches is found without its kernel, whatever the elements.
bool finds_all(const KernelStep& step) {
  return step.searches && needs_position(step.reduces[0].kind);
}

struct Launch {
  KernelStep& step;
  bool native;  // from now on
  char* const* results;
  int width;
  size_t bytes;
  bool moved = false;  // by move_points
  // Whether all of the code that runs tells of numbers that are infinite or none.
  const bool tests = native && !moved && step.code->ir.tests;
  std::atomic<unsigned> raised{0};  // flags of floating-point errors, of all threads
  std::atomic<bool> special{false};
  std::atomic<int64_t> told{0};  // by the kernel's code
  const ReduceSet& states = reduce_set();

  void call(int64_t r0, int64_t r1, int64_t c0, int64_t c1, char* acc, int64_t origin = 0) {
    if (r0 >= r1 || c0 >= c1) return;
    auto run = [&] {
      step.code->native(step.params.data(), r0, r1, c0, c1, acc, origin);
      return 0;
    };
    // Points whose loops may go round for ever look at the word of interrupts themselves.
    if (native && step.loops) {
      if (compile::interruptible(run) == compile::kInterrupted) interrupt::raise_interrupted();
    } else if (native) {
      run();
    } else {
      step.code->program->run(step.params.data(), r0, r1, c0, c1, acc, origin);
    }
  }

  // Work whose flags are read, if anybody is to be warned.
  template <class F>
  void noted(F&& work) {
    if (!step.watched) return work();
    const flags::Apart apart;
    work();
    if (const unsigned now = flags::raised()) raised.fetch_or(now, std::memory_order_relaxed);
  }

  template <class F>
  void units(int64_t n, int64_t grain, F&& work) {
    auto body = [&](int64_t begin, int64_t end) { noted([&] { work(begin, end); }); };
    constexpr int64_t kGrains = 64;  // between two looks at what interrupts
    const bool alone = n <= grain || step.ordered;
    int64_t first = 0;
    // The interpreter's buffers belong to one thread. What is left when the code has been compiled
    // is for all.
    while (first < n && (!native || alone)) {
      if (first && interrupt::wanted()) interrupt::raise_interrupted();
      const int64_t end = std::min(n, first + (step.code->compiling ? 1 : kGrains) * grain);
      body(first, end);
      first = end;
      if (step.code->compiling) native = compiled(Runtime::get(), *step.code, 0);
    }
    if (first == n) return;
    auto part = [&](int64_t begin, int64_t end, int) {
      if (begin > 0) return body(first + begin, first + end);
      using Clock = std::chrono::steady_clock;
      const auto start = Clock::now();
      body(first, first + end);
      const std::chrono::nanoseconds taken = Clock::now() - start;
      step.code->unit_ns.store(std::max<int64_t>(taken.count() / end, 1),
                               std::memory_order_relaxed);
    };
    // Of points whose loops do not run equally often, the first unit says nothing of the others.
    const int64_t each = step.loops ? 0 : step.code->unit_ns.load(std::memory_order_relaxed);
    parallel_for_each(n - first, grain, part, each * (n - first));
  }

  // Rows and columns of unit u when the domain is cut into pieces of `points`.
  struct Cut {
    int64_t rows, cols, points, per_row, rows_per_unit, units;
    Cut(int64_t rows, int64_t cols, int64_t points) : rows(rows), cols(cols), points(points) {
      per_row = cols > points ? (cols + points - 1) / points : 1;
      rows_per_unit = per_row > 1 ? 1 : std::max<int64_t>(1, points / std::max<int64_t>(cols, 1));
      units = per_row > 1 ? rows * per_row : (rows + rows_per_unit - 1) / rows_per_unit;
    }
    void of(int64_t u, int64_t& r0, int64_t& r1, int64_t& c0, int64_t& c1) const {
      r0 = u / per_row * rows_per_unit;
      r1 = std::min(rows, r0 + rows_per_unit);
      c0 = u % per_row * points;
      c1 = per_row > 1 ? std::min(cols, c0 + points) : cols;
    }
  };

  void map() {
    // Points whose loops run often, and not equally often, are shared out in small pieces.
    Cut cut(step.rows, step.cols, step.loops ? kUnitPoints / 16 : kUnitPoints);
    units(cut.units, 1, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; ++u) {
        int64_t r0, r1, c0, c1;
        cut.of(u, r0, r1, c0, c1);
        if (moved)
          move_points(step, r0, r1, c0, c1);
        else
          call(r0, r1, c0, c1, nullptr);
        if (step.watched && step.tested && looks_at(u, cut.units) &&
            !special.load(std::memory_order_relaxed))
          look_for_special(r0, r1, c0, c1);
      }
    });
  }

  // Where compiled code does not tell of all results, of many units each 16th is looked at: they
  // come back from memory, which costs nothing beside the interpreter.
  bool looks_at(int64_t unit, int64_t units) const {
    return units <= 4 || unit % 16 == 0 || !native;
  }

  // While what these points have stored is still in the cache.
  void look_for_special(int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    const ir::Kernel& k = step.code->ir;
    for (size_t a = 0; a < k.args.size(); ++a) {
      const DType t = k.args[a].dtype;
      // Of few elements a second look now and then costs less.
      const bool lowest =
          step.casts && step.rows * step.cols > kFewCast && (t == DType::I32 || t == DType::I64);
      if (!k.args[a].written || (!is_inexact(t) && !lowest)) continue;
      const int64_t inner = step.params[k.param_arg(static_cast<int>(a)) + k.rank];
      const bool dense = inner == itemsize(t);
      // The code has looked itself.
      if (tests && !lowest && !is_half(t)) continue;
      for (int64_t r = r0; r < r1; ++r) {
        const char* row = row_at(r, static_cast<int>(a));
        auto special_at = [&](int64_t c, int64_t n) {
          const char* at = row + c * inner;
          return lowest ? float_errors::any_lowest(t, at, n)
                        : float_errors::any_special({t, at}, n);
        };
        bool found = dense && special_at(c0, c1 - c0);
        for (int64_t c = c0; !dense && c < c1 && !found; ++c) found = special_at(c, 1);
        if (found) return special.store(true, std::memory_order_relaxed);
      }
    }
  }

  // Of a kernel that reduces: what it stores beside that.
  void look_at_stored() {
    const ir::Kernel& k = step.code->ir;
    if (std::none_of(k.args.begin(), k.args.end(), [](const auto& a) { return a.written; })) return;
    const Cut cut(step.rows, step.cols, kUnitPoints);
    for (int64_t u = 0; u < cut.units && !special.load(); ++u) {
      if (!looks_at(u, cut.units)) continue;
      int64_t r0, r1, c0, c1;
      cut.of(u, r0, r1, c0, c1);
      look_for_special(r0, r1, c0, c1);
    }
  }

  void init(char* state) {
    for_reduces(step, state, width, [&](const ReduceStep& r, size_t, char* at) {
      states.init_state(r.kind, r.in, at, width);
    });
  }

  // The address of a row of an argument.
  const char* row_at(int64_t row, int arg = 0) const {
    const ir::Kernel& k = step.code->ir;
    const int64_t* words = step.params.data() + k.param_arg(arg);
    const char* at = reinterpret_cast<const char*>(words[0]);
    for (int d = k.rank - 2; d > 0; --d) {
      const int64_t extent = step.params[k.param_shape(d)];
      at += row % extent * words[1 + d];
      row /= extent;
    }
    return k.rank > 1 ? at + row * words[1] : at;
  }

  // The compact state of points [from, to), counted from row `origin`, of a step that searches;
  // false where they are of several rows, or depend on the kernel's order.
  bool find(int64_t origin, int64_t from, int64_t to, char* compact) const {
    const ReduceStep& r = step.reduces[0];
    const int64_t row = from / step.cols, col = from % step.cols;
    return row == (to - 1) / step.cols &&
           states.extreme_finder(r.kind, r.in)(r.in, row_at(origin + row) + col * itemsize(r.in),
                                               to - from, from, compact);
  }

  // Runs the points [from, to) in row-major order counted from row `origin`, from a fresh state,
  // and leaves one compact state per reduction. Units are runs of points, so that they do not
  // depend on how rows are cut. `row`: how many points the whole reduction has.
  void reduce_unit(int64_t origin, int64_t from, int64_t to, int64_t row, char* state,
                   char* compact) {
    if (step.searches && find(origin, from, to, compact)) return;
    init(state);
    int64_t n = step.cols, r0 = from / n, r1 = to / n, c0 = from % n, c1 = to % n;
    if (r0 == r1) {
      call(origin + r0, origin + r0 + 1, c0, c1, state, origin);
    } else {
      if (c0) call(origin + r0, origin + r0 + 1, c0, n, state, origin), ++r0;
      call(origin + r0, origin + r1, 0, n, state, origin);
      if (c1) call(origin + r1, origin + r1 + 1, 0, c1, state, origin);
    }
    for_reduces(step, state, width, [&](const ReduceStep& r, size_t n, char* at) {
      states.merge_lanes(r.kind, r.in, at, row);
      states.extract_state(r.kind, r.in, at, width, 0, compact + n * kCompactBytes);
    });
  }

  void combine(std::vector<char>& all, int64_t units) {
    size_t each = step.reduces.size() * kCompactBytes;
    for (size_t n = 0; n < step.reduces.size(); ++n)
      states.merge_units(step.reduces[n].kind, step.reduces[n].in, all.data() + n * kCompactBytes,
                         units, each);
  }

  void reduce_all() {
    size_t each = step.reduces.size() * kCompactBytes;
    // What ends at the first element that decides is not shared out.
    const bool early = finds_all(step) && step.reduces[0].in == DType::Bool;
    const int64_t points = early ? step.points : kUnitPoints;
    int64_t n = (step.points + points - 1) / points;
    std::vector<char> all(static_cast<size_t>(n) * each);
    units(n, 1, [&](int64_t begin, int64_t end) {
      std::unique_ptr<char[]> state(new char[bytes + 64]);
      char* acc = aligned(state.get());
      for (int64_t u = begin; u < end; ++u) {
        reduce_unit(0, u * points, std::min(step.points, (u + 1) * points), step.points, acc,
                    all.data() + u * each);
      }
    });
    noted([&] {
      combine(all, n);
      for (size_t r = 0; r < step.reduces.size(); ++r)
        states.finish_state(step.reduces[r].kind, step.reduces[r].in,
                            all.data() + r * kCompactBytes, step.reduces[r].ddof,
                            step.reduces[r].out, results[r]);
    });
  }

  char* result_at(const ReduceStep& r, size_t n, int64_t kept_row, int64_t col) {
    // Kept rows run over the outer dimensions along which the result moves.
    char* at = results[n] + col * r.strides.back();
    const ir::Kernel& k = step.code->ir;
    int64_t row = kept_row * step.sequential;
    for (int d = k.rank - 2; d > 0; --d) {
      int64_t extent = step.params[k.param_shape(d)];
      at += row % extent * r.strides[d];
      row /= extent;
    }
    return k.rank > 1 ? at + row * r.strides[0] : at;
  }

  // Results [begin, end) whose rows are no longer than a unit. acc, fresh: memory for a state each.
  void short_rows(int64_t begin, int64_t end, int64_t points, char* acc, char* fresh) {
    std::vector<FinishRow> finish;
    for (const ReduceStep& r : step.reduces) finish.push_back(states.row_finisher(r.kind, r.in));
    FindExtreme find = nullptr;
    if (step.searches && step.sequential == 1)
      find = states.extreme_finder(step.reduces[0].kind, step.reduces[0].in);
    alignas(8) char found[kCompactBytes];
    init(fresh);
    for (int64_t p = begin; p < end; ++p) {
      if (find && find(step.reduces[0].in, row_at(p), points, 0, found)) {
        const ReduceStep& r = step.reduces[0];
        states.finish_state(r.kind, r.in, found, r.ddof, r.out, result_at(r, 0, p, 0));
        continue;
      }
      const int64_t first = p * step.sequential;
      std::memcpy(acc, fresh, bytes);
      call(first, first + step.sequential, 0, step.cols, acc, first);
      for_reduces(step, acc, width, [&](const ReduceStep& r, size_t n, char* at) {
        finish[n](r.in, at, points, r.ddof, r.out, result_at(r, n, p, 0));
      });
    }
  }

  void reduce_rows() {  // the innermost dimension is reduced
    int64_t kept = step.rows / step.sequential;
    int64_t grain =
        std::max<int64_t>(1, kUnitPoints / std::max<int64_t>(1, step.sequential * step.cols));
    int64_t points = step.sequential * step.cols, parts = (points + kUnitPoints - 1) / kUnitPoints;
    size_t each = step.reduces.size() * kCompactBytes;
    units(kept, grain, [&](int64_t begin, int64_t end) {
      const size_t apart = (bytes + 63) & ~size_t{63};
      std::unique_ptr<char[]> state(new char[2 * apart + 64]);
      char *acc = aligned(state.get()), *fresh = acc + apart;
      if (parts == 1) return short_rows(begin, end, points, acc, fresh);
      std::vector<char> all(static_cast<size_t>(parts) * each);
      for (int64_t p = begin; p < end; ++p) {
        for (int64_t u = 0; u < parts; ++u)
          reduce_unit(p * step.sequential, u * kUnitPoints, std::min(points, (u + 1) * kUnitPoints),
                      points, acc, all.data() + u * each);
        combine(all, parts);
        for (size_t r = 0; r < step.reduces.size(); ++r)
          states.finish_state(step.reduces[r].kind, step.reduces[r].in,
                              all.data() + r * kCompactBytes, step.reduces[r].ddof,
                              step.reduces[r].out, result_at(step.reduces[r], r, p, 0));
      }
    });
  }

  void reduce_columns() {  // the innermost dimension is kept
    int64_t tiles = (step.cols + ir::kColumns - 1) / ir::kColumns;
    int64_t kept = step.rows / std::max<int64_t>(1, step.sequential);
    if (step.sequential == 0) {
      kept = 1;
      for (int d = 0; d + 1 < step.code->ir.rank; ++d) kept *= std::max<int64_t>(1, step.params[d]);
    }
    units(kept * tiles, 1, [&](int64_t begin, int64_t end) {
      std::unique_ptr<char[]> state(new char[bytes + 64]);
      char* acc = aligned(state.get());
      for (int64_t u = begin; u < end; ++u) {
        int64_t p = u / tiles, c0 = u % tiles * ir::kColumns,
                c1 = std::min(step.cols, c0 + ir::kColumns);
        init(acc);
        call(p * step.sequential, (p + 1) * step.sequential, c0, c1, acc, p * step.sequential);
        for_reduces(step, acc, width, [&](const ReduceStep& r, size_t n, char* at) {
          states.finish_columns(r.kind, r.in, at, width, c1 - c0, r.ddof, r.out,
                                result_at(r, n, p, c0), r.strides.back());
        });
      }
    });
  }

  static char* aligned(char* p) {
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(p) + 63) & ~uintptr_t(63));
  }
};

// In steps of single points.
int64_t work_of(const KernelStep& step) {
  constexpr int64_t kGuess = 50;  // iterations of a loop that a function has
  return step.points * step.iterations * std::ssize(step.code->ir.body) * (step.loops ? kGuess : 1);
}

bool use_native(Runtime& rt, KernelCode& code, const KernelStep& step) {
  if (step.serial || (step.points <= 1 && !step.loops)) return false;
  // Interrupts are looked for inside of loops by compiled code alone.
  return compiled(rt, code, work_of(step), step.loops);
}

class CpuExecutor : public Executor {
 public:
  std::unique_ptr<LateWords> late_words(Device& device, size_t words) override {
    if (!late::on_hosts || device.host_readable()) return nullptr;
    return host_late_words(words);
  }
  std::unique_ptr<Replay> make_replay(Device& device) override {
    if (!late::on_hosts || device.host_readable()) return nullptr;
    return host_replay(device);
  }

  void run(Runtime& rt, Device&, KernelStep& step) override {
    const bool moved = moves(step);
    bool native = moved || finds_all(step) || use_native(rt, *step.code, step);
    if (!native) ++rt.stats.interpreted;
    const ir::Kernel& k = step.code->ir;
    std::fill(step.report.begin(), step.report.end(), 0);
    if (k.checks) step.params[k.param_report()] = reinterpret_cast<int64_t>(step.report.data());
    int width = k.acc == ir::Acc::Columns ? ir::kColumns : ir::kLanes;
    Launch l{step, native, step.results.data(), width, state_bytes(k, width), moved};
    // About a millisecond of work and more.
    WithoutPython others(native && work_of(step) >= 4'000'000);
    Clock::time_point begin;
    if (!native) begin = Clock::now();
    if (k.tests) step.params[k.param_special()] = reinterpret_cast<int64_t>(&l.told);
    struct Late {
      KernelStep& step;
      ~Late() {
        if (step.late) std::copy(step.report.begin(), step.report.end(), step.late);
      }
    } const late{step};
    if (step.reduces.empty())
      l.map();
    else if (k.acc == ir::Acc::Columns)
      l.reduce_columns();
    else if (step.keeps)
      l.reduce_rows();
    else
      l.reduce_all();
    if (!step.reduces.empty() && step.watched && step.tested) l.look_at_stored();
    step.raised = l.raised.load();
    step.special = l.special.load() || l.told.load();
    step.unsure = step.casts && (!native || step.rows * step.cols <= kFewCast);
    if (!native)
      step.code->interpreted_ns +=
          std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  }
  void call(Runtime& rt, Device& device, KernelStep& step) override {
    // What applies an operation counts what it compiles, which needs the lock.
    bool long_one = step.flops >= 4'000'000 || step.bytes >= 4 << 20;
    WithoutPython others(long_one && !applies(step.call->routine));
    Executor::call(rt, device, step);
  }
};

class NullExecutor : public Executor {
 public:
  void run(Runtime&, Device&, KernelStep& step) override {
    if (!step.tail) null_device_counts().launch(step.bytes, 0);
  }
  void call(Runtime&, Device&, KernelStep& step) override {
    null_device_counts().launch(step.bytes, 0);
  }
};

}  // namespace

bool install(Runtime& rt, KernelCode& code, compile::Compiled c) {
  if (!c.function) return false;
  code.native = counted(rt, c);
  code.native_memory = std::move(c.memory);
  code.compiling.reset();
  return true;
}

bool compiled(Runtime& rt, KernelCode& code, int64_t work, bool waits) {
  if (!rt.may_compile()) return false;
  if (code.native) return true;
  const bool wanted = rt.mode == Mode::Compiled;
  if (code.compiling && code.compiling->ended()) {
    if (install(rt, code, std::exchange(code.compiling, nullptr)->take())) return true;
  } else if (code.compiling && !wanted && !waits) {
    return false;
  }
  // Compiling costs some ten milliseconds: worth it for one large run, or for small ones that add
  // up to as much; to a few, where a thread compiles.
  const int64_t enough = !waits && compiles_beside() ? 2'000'000 : 8'000'000;
  if (!wanted && work < kWorthCompiling && code.interpreted_ns < enough) return false;
  if (!std::exchange(code.looked_on_disk, true) && install(rt, code, compile::load_native(code.ir)))
    return true;
  if (!wanted && !waits) {
    code.compiling = compile_beside([ir = code.ir] { return compile::compile_native(ir); });
    if (code.compiling) return false;
  }
  return install(rt, code, compile::compile_native(code.ir));
}

Executor& executor_of(Device& device) {
  static CpuExecutor cpu;
  static NullExecutor null;
  if (device.runs_on_host()) return cpu;
  if (device.counts_only()) return null;
  return gpu_executor();
}

}  // namespace numbus
