// Scans on the CPU: along lines by code with the state in registers, across lines by vector code
// that reads the row before. Until it is compiled, loops of the interpreter's do the same.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "base/interrupt.h"
#include "device/cpu/thread_pool.h"
#include "interp/blocks.h"
#include "interp/loops.h"
#include "lazy/entries.h"
#include "lazy/executor.h"
#include "lazy/fold_cpu.h"
#include "lazy/scan.h"

namespace numbus {
namespace {

constexpr int64_t kUnitPoints = 16384;
constexpr int64_t kCutPoints = 1 << 15;  // of a long line: two passes find it in the cache
constexpr int kStateBytes = 16;
constexpr int64_t kWideRow = 64;
// Nanoseconds of interpreting that are worth compiling.
constexpr int64_t kEnough = 2'000'000;
constexpr int64_t kStreamingBytes = 64 << 20;

// What a step's scan needs from run to run.
struct CpuScan {
  std::shared_ptr<KernelCode> rows;
  compile::NativeFunction lines = nullptr, totals = nullptr, prefixes = nullptr;
  int runs = 0;  // before anything was compiled
  std::shared_ptr<CompilingKernel> compiling;
  int64_t interpreted_ns = 0;
};

// Lines scanned by a loop of the interpreter's, from elements of `in`.
struct LineLoop {
  interp::ScanLoop scan = nullptr;
  interp::Loop cast = nullptr;  // where the operand has another type
  DType in, type;

  LineLoop(Op op, DType from, DType to) : in(from), type(to) {
    if (is_complex(from) || is_complex(to) || is_half(from) || is_half(to)) return;
    if (from != to) cast = interp::loops().cast(from, to);
    if (from == to || cast) scan = interp::loops().scan(op, to);
  }

  // As code of compile_native_scan().
  void run(const int64_t* words, int64_t begin, int64_t end, int64_t from, int64_t to, char* state,
           int64_t resume) const {
    if (from >= to) return;
    for (int64_t line = begin; line < end; ++line) {
      char* read = reinterpret_cast<char*>(words[0] + line * words[1] + from * words[2]);
      char* write = reinterpret_cast<char*>(words[3] + line * words[4] + from * words[5]);
      const char* before = resume ? state : nullptr;
      if (cast)
        converted(read, words[2], write, words[5], before, to - from);
      else
        scan(write, words[5], read, words[2], before, to - from);
      std::memcpy(state, write + (to - from - 1) * words[5], itemsize(type));
    }
  }

 private:
  void converted(char* read, int64_t read_stride, char* write, int64_t write_stride,
                 const char* before, int64_t count) const {
    constexpr int64_t kBlock = 256;
    alignas(64) char given[kBlock * 8], wide[kBlock * 8];
    for (int64_t n; count > 0; count -= n) {
      n = std::min(count, kBlock);
      interp::move<true>(itemsize(in), read, read_stride, given, n);
      if (in == DType::Bool) interp::normalise(given, given, n);
      cast(wide, given, nullptr, nullptr, n);
      scan(write, write_stride, wide, itemsize(type), before, n);
      read += n * read_stride;
      write += n * write_stride;
      before = write - write_stride;
    }
  }
};

class Scan {
 public:
  Scan(Runtime& rt, KernelStep& step)
      : rt_(rt),
        step_(step),
        call_(*step.call),
        in_(*call_.layouts[0]),
        out_(*call_.layouts[1]),
        in_type_(step.patches[0].dtype),
        loop_(call_.op, in_type_, call_.type) {
    // What the code depends on of how the operands lie.
    std::string key = streams() ? "cpu past caches" : "cpu";
    for (const Layout* l : {&in_, &out_})
      for (int d = 0; d < 3; ++d) {
        key += l->stride(d) == l->itemsize() ? 'd' : l->stride(d) == 0 ? '0' : 's';
        key += l->shape(d) == 1 ? '1' : 'n';
      }
    key += along_lines() ? '|' : '-';
    code_ = static_cast<CpuScan*>(step.device_code->find(key));
    if (!code_) {
      auto made = std::make_shared<CpuScan>();
      code_ = made.get();
      step.device_code->emplace_back(std::move(key), std::move(made));
    }
  }

  void run() {
    bool along = along_lines();
    int dim = along && out_.shape(2) == 1 ? 0 : 2;  // the lines that rows run over
    if (along && (loop_.scan ? ready() || rt_.mode != Mode::Interp
                             : worth_compiling(rt_, code_->lines, step_.points, code_->runs)))
      return lines();
    if (!code_->rows) code_->rows = fold_rows(call_.op, in_type_, call_.type, in_, out_, dim);
    KernelCode& code = *code_->rows;
    // A row's loop costs far more than an element.
    const bool wide = !along && out_.shape(dim) >= kWideRow;
    const bool native =
        !along && (wide ? compiled(rt_, code, step_.points * std::ssize(code.ir.body))
                        : worth_compiling(rt_, code.native, step_.points, code_->runs));
    const int64_t begin = nanoseconds();
    rows(dim, native);
    if (native) return;
    ++rt_.stats.interpreted;
    if (wide) code.interpreted_ns += nanoseconds() - begin;
  }

 private:
  // Lines lie along memory where neighbouring lines do not.
  bool along_lines() const {
    return out_.shape(2) == 1 || std::abs(out_.stride(1)) <= std::abs(out_.stride(2));
  }
  bool streams() const { return dense(out_) && out_.size() * out_.itemsize() >= kStreamingBytes; }
  bool dense(const Layout& l) const { return l.stride(1) == l.itemsize() || l.shape(1) == 1; }
  char* at(const Layout& l, int n, int64_t outer, int64_t inner) const {
    return reinterpret_cast<char*>(step_.params[n]) + outer * l.stride(0) + inner * l.stride(2);
  }

  static int64_t nanoseconds() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }

  // Along lines -----------------------------------------------------------------------------------
  // Whether the code for lines is there. The interpreter's loops are nearly as quick, so that it is
  // compiled for what takes some milliseconds, on a thread where that can be.
  bool ready() {
    if (!rt_.may_compile()) return false;
    if (code_->lines) return true;
    if (code_->compiling && code_->compiling->ended())
      code_->lines = counted(rt_, std::exchange(code_->compiling, nullptr)->take());
    const bool wanted = rt_.mode == Mode::Compiled;
    if (code_->lines || (!wanted && code_->interpreted_ns < kEnough)) return code_->lines;
    if (wanted) code_->compiling.reset();
    if (code_->compiling) return false;
    auto compile = [code = code()] { return compile::compile_native_scan(code); };
    if (!wanted) code_->compiling = compile_beside(compile);
    if (!code_->compiling) code_->lines = counted(rt_, compile());
    return code_->lines;
  }
  compile::ScanCode code() const {
    auto made = compile::scan_code(call_.op, in_type_, call_.type, dense(in_), dense(out_));
    made.streaming = streams();
    return made;
  }

  void lines() {
    const bool interpreted = loop_.scan && !code_->lines;
    const int64_t began = nanoseconds();
    scan_lines(interpreted);
    if (!interpreted) return;
    code_->interpreted_ns += nanoseconds() - began;
    ++rt_.stats.interpreted;
  }

  void scan_lines(bool interpreted) {
    int64_t outer = out_.shape(0), n = out_.shape(1), inner = out_.shape(2), count = outer * inner;
    // Making the bodies takes longer than a short scan.
    if (!interpreted && !code_->lines)
      code_->lines = counted(rt_, compile::compile_native_scan(code()));
    auto part = [&](const int64_t* words, int64_t begin, int64_t end, int64_t from, int64_t to,
                    char* state, int64_t resume) {
      if (interpreted)
        loop_.run(words, begin, end, from, to, state, resume);
      else
        code_->lines(words, begin, end, from, to, state, resume);
    };
    int threads = thread_pool().num_threads();
    if (!interpreted && count < threads && n >= 4 * kCutPoints &&
        order_free(call_.op, call_.type)) {
      if (!code_->totals) prepare_cuts(code());
      for (int64_t l = 0; l < count; ++l) cut_line(l / inner, l % inner);
      return;
    }
    int64_t grain = std::max<int64_t>(1, kUnitPoints / n);
    auto some = [&](int64_t begin, int64_t end) {
      char state[kStateBytes];
      for (int64_t l = begin; l < end;) {
        // Lines of one outer index in one call.
        int64_t o = l / inner, i = l % inner, stop = std::min(inner, i + end - l);
        int64_t words[6] = {address(in_, 0, o, 0),  in_.stride(2),  in_.stride(1),
                            address(out_, 1, o, 0), out_.stride(2), out_.stride(1)};
        if (inner == 1) {
          words[0] = address(in_, 0, 0, 0), words[1] = in_.stride(0);
          words[3] = address(out_, 1, 0, 0), words[4] = out_.stride(0);
          i = l, stop = end;
        }
        if (n <= kFoldPart) part(words, i, stop, 0, n, state, 0);
        for (int64_t k = i; n > kFoldPart && k < stop; ++k)
          for (int64_t from = 0; from < n; from += kFoldPart) {
            if (interrupt::wanted()) interrupt::raise_interrupted();
            part(words, k, k + 1, from, std::min(n, from + kFoldPart), state, from > 0);
          }
        l += stop - i;
      }
    };
    if (count <= grain) return some(0, count);
    parallel_for_each(count, grain, [&](int64_t begin, int64_t end, int) { some(begin, end); });
  }
  int64_t address(const Layout& l, int n, int64_t outer, int64_t inner) const {
    return reinterpret_cast<int64_t>(at(l, n, outer, inner));
  }

  void prepare_cuts(compile::ScanCode code) {
    code.stores = code.in_order = false;
    auto between = compile::scan_code(call_.op, call_.type, call_.type, true, true);
    // `totals` says that both are there: it comes last, as a compilation may fail.
    code_->prefixes = counted(rt_, compile::compile_native_scan(between));
    code_->totals = counted(rt_, compile::compile_native_scan(code));
  }

  // A few units a thread at a time: their totals, the state before each, and then the elements,
  // which are in the cache by now.
  void cut_line(int64_t o, int64_t i) {
    int64_t n = out_.shape(1), units = (n + kCutPoints - 1) / kCutPoints;
    int64_t round = 4 * thread_pool().num_threads();
    int64_t words[6] = {address(in_, 0, o, i),  0, in_.stride(1),
                        address(out_, 1, o, i), 0, out_.stride(1)};
    int size = itemsize(call_.type);
    std::vector<char> totals(static_cast<size_t>(round + 1) * size + kStateBytes);
    char* before = totals.data();  // the state that the round begins with, then its units' totals
    for (int64_t first = 0; first < units; first += round) {
      int64_t last = std::min(units, first + round);
      auto range = [&](int64_t u) {
        return std::pair{u * kCutPoints, std::min(n, (u + 1) * kCutPoints)};
      };
      parallel_for_each(last - first, 1, [&](int64_t begin, int64_t end, int) {
        char state[kStateBytes];
        for (int64_t u = begin; u < end; ++u) {
          auto [from, to] = range(first + u);
          code_->totals(words, 0, 1, from, to, state, 0);
          std::memcpy(before + (u + 1) * size, state, size);
        }
      });
      int64_t skip = first == 0;  // nothing stands before the line
      int64_t where = reinterpret_cast<int64_t>(before);
      int64_t inner[6] = {where, 0, size, where, 0, size};
      char state[kStateBytes];
      code_->prefixes(inner, 0, 1, skip, last - first + 1, state, 0);
      parallel_for_each(last - first, 1, [&](int64_t begin, int64_t end, int) {
        char held[kStateBytes];
        for (int64_t u = begin; u < end; ++u) {
          auto [from, to] = range(first + u);
          std::memcpy(held, before + u * size, size);
          code_->lines(words, 0, 1, from, to, held, first + u > 0);
        }
      });
      std::memmove(before, before + (last - first) * size, size);
    }
  }

  // Across lines ----------------------------------------------------------------------------------
  // One row of elements along the axis after the other: out[p] = op(out[p - 1], in[p]).
  void rows(int dim, bool native) {
    KernelCode& code = *code_->rows;
    if (native) compile_fold_rows(rt_, code);
    int other = 2 - dim;
    int64_t n = out_.shape(1), columns = out_.shape(dim), sets = out_.shape(other);
    auto sweep = [&](int64_t set, int64_t from, int64_t to) {
      int64_t row = step_.params[1] + set * out_.stride(other);
      run_fold_rows(code, native, {n, columns, from, to},
                    {{{row - out_.stride(1), out_.stride(1), out_.stride(dim)},
                      {step_.params[0] + set * in_.stride(other), in_.stride(1), in_.stride(dim)},
                      {row, out_.stride(1), out_.stride(dim)}}});
    };
    if (!native || step_.points <= 2 * kUnitPoints) {
      for (int64_t s = 0; s < sets; ++s) sweep(s, 0, columns);
      return;
    }
    // Narrow enough that the row before is still in the first-level cache, and for all threads.
    int64_t share = (columns + thread_pool().num_threads() - 1) / thread_pool().num_threads();
    int64_t width = std::clamp<int64_t>((share + 63) / 64 * 64, 64, 512);
    int64_t tiles = (columns + width - 1) / width;
    parallel_for_each(sets * tiles, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t u = begin; u < end; ++u) {
        int64_t from = u % tiles * width;
        sweep(u / tiles, from, std::min(columns, from + width));
      }
    });
  }

  Runtime& rt_;
  KernelStep& step_;
  const CallStep& call_;
  const Layout &in_, &out_;
  DType in_type_;
  const LineLoop loop_;
  CpuScan* code_ = nullptr;
};

}  // namespace

void scan_cpu(Runtime& runtime, Device&, KernelStep& step) { Scan(runtime, step).run(); }

}  // namespace numbus
