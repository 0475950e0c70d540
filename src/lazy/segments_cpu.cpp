// Folds of segments on the CPU: along lines by code with the state in registers, or in the lanes of
// a reduction; across lines by vector code that folds row after row.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "base/interrupt.h"
#include "device/cpu/thread_pool.h"
#include "lazy/entries.h"
#include "lazy/fold_cpu.h"
#include "lazy/reduce.h"
#include "passes/expand.h"
#include "passes/pipeline.h"

namespace numbus {
namespace {

using ir::kUnitPoints;

// What a step's folds need from run to run.
struct Code {
  std::shared_ptr<KernelCode> rows, lanes;
  compile::NativeFunction totals = nullptr;
  int runs = 0;  // before anything was compiled
};

// A fold in lanes: the kernel that steps the state of the reduction with elements of a line.
std::shared_ptr<KernelCode> lanes_of(Reduction kind, DType in, DType type, bool contiguous) {
  ir::Kernel k;
  k.acc = ir::Acc::Lanes;
  k.acc_fields = reduction_fields(kind, type);
  k.args.push_back({in, contiguous ? ir::Inner::Contiguous : ir::Inner::Strided, false, false});
  ir::Builder b(k);
  const ir::Val x = b.emit(Op::load, in, ir::kNone, ir::kNone, ir::kNone, 0);
  emit_reduction_step(b, kind, 0, convert(b, x, type), ir::kNone, ir::kNone);
  lower(k);
  ir::verify(k);
  return kernel_code(std::move(k));
}

class Folds {
 public:
  Folds(Runtime& rt, KernelStep& step)
      : rt_(rt),
        step_(step),
        call_(*step.call),
        in_(call_.in(0)),
        out_(call_.out()),
        begins_(reinterpret_cast<const int64_t*>(address(step, 1))),
        segments_(out_.shape(1)),
        ends_(begins_ + segments_),
        kind_(reduction_by(call_.op)) {
    const bool wraps = is_integer(call_.type) && call_.types[0] == call_.type;
    if (call_.op == Op::subtract && wraps) kind_ = Reduction::Sum;
    for (int64_t s = 0; s < segments_; ++s) {
      elements_ += length(s);
      longest_ = std::max(longest_, length(s));
    }
    std::string key = "cpu";
    for (const Layout* l : {&in_, &out_})
      for (int d = 0; d < 3; ++d) {
        key += l->stride(d) == l->itemsize() ? 'd' : l->stride(d) == 0 ? '0' : 's';
        key += l->shape(d) == 1 ? '1' : 'n';
      }
    key += along_lines() ? '|' : '-';
    code_ = static_cast<Code*>(step.device_code->find(key));
    if (!code_) {
      auto made = std::make_shared<Code>();
      code_ = made.get();
      step.device_code->emplace_back(std::move(key), std::move(made));
    }
  }

  void run() {
    const bool along = along_lines();
    const int dim = along && out_.shape(2) == 1 ? 0 : 2;  // the lines that rows run over
    const int64_t points = elements_ * out_.shape(0) * out_.shape(2);
    const bool known = code_->totals || (code_->rows && code_->rows->native);
    const bool native = worth_compiling(rt_, known, points, code_->runs);
    if (native && along) return lines(points);
    if (!code_->rows) code_->rows = fold_rows(call_.op, call_.types[0], call_.type, in_, out_, dim);
    if (native)
      compile_fold_rows(rt_, *code_->rows);
    else
      ++rt_.stats.interpreted;
    rows(dim, native, points);
  }

 private:
  static constexpr int64_t kFewColumns = 16;
  static constexpr size_t kStateBytes = 16;

  int64_t length(int64_t s) const { return ends_[s] - begins_[s]; }
  // Few columns are not worth a row's loop.
  bool along_lines() const {
    return in_.shape(2) < kFewColumns || std::abs(in_.stride(1)) <= std::abs(in_.stride(2));
  }

  // Along lines -----------------------------------------------------------------------------------
  void lines(int64_t points) {
    const bool dense = in_.stride(1) == in_.itemsize();
    if (!code_->totals) {
      auto code = compile::scan_code(call_.op, call_.types[0], call_.type, dense, true);
      code.stores = false;
      code.in_order = !order_free(call_.op, call_.type);
      code_->totals = counted(rt_, compile::compile_native_scan(code));
    }
    if (kind_ && longest_ > ir::kShortRow) {
      if (!code_->lanes) code_->lanes = lanes_of(*kind_, call_.types[0], call_.type, dense);
      compile_fold_rows(rt_, *code_->lanes);  // again where it failed before
    }
    const int64_t inner = out_.shape(2), count = out_.shape(0) * segments_ * inner;
    // Segments for all threads are cut into units, the others are shared out as they are.
    constexpr int64_t kShared = 8 * kUnitPoints;
    const bool shares = kind_ && longest_ > kShared;
    auto some = [&](int64_t begin, int64_t end, bool long_ones) {
      int64_t o = begin / inner / segments_, s = begin / inner % segments_, i = begin % inner;
      for (int64_t p = begin; p < end; ++p) {
        if (!shares || (length(s) > kShared) == long_ones) fold(o, s, i, long_ones);
        if (++i < inner) continue;
        i = 0;
        if (++s == segments_) s = 0, ++o;
      }
    };
    if (shares) some(0, count, true);
    const int64_t each = std::max<int64_t>(1, points / count);
    const int64_t grain = std::max<int64_t>(1, kUnitPoints / each);
    if (count <= grain) return some(0, count, false);
    parallel_for_each(count, grain, [&](int64_t a, int64_t b, int) { some(a, b, false); });
  }

  // One segment of one line. together: by all threads.
  void fold(int64_t o, int64_t s, int64_t i, bool together) const {
    const int64_t n = length(s);
    const int64_t from =
        step_.params[0] + o * in_.stride(0) + begins_[s] * in_.stride(1) + i * in_.stride(2);
    char* to = address(step_, 2) + o * out_.stride(0) + s * out_.stride(1) + i * out_.stride(2);
    if (kind_ && n > ir::kShortRow) {
      if (call_.op != Op::subtract) return in_lanes(from, n, to, together);
      // The first element less the sum of the others.
      const auto bytes = static_cast<size_t>(itemsize(call_.type));
      char pair[kStateBytes];
      std::memcpy(pair, reinterpret_cast<const char*>(from), bytes);
      in_lanes(from + in_.stride(1), n - 1, pair + bytes, together);
      return in_order(reinterpret_cast<int64_t>(pair), static_cast<int64_t>(bytes), 2, to);
    }
    in_order(from, in_.stride(1), n, to);
  }

  void in_order(int64_t from, int64_t stride, int64_t n, char* to) const {
    int64_t words[6] = {from, 0, stride, 0, 0, 0};
    char state[kStateBytes];
    // Vectors of elements in any order begin anew with each call, and end soon.
    const int64_t part = order_free(call_.op, call_.type) ? n : std::min(n, kFoldPart);
    code_->totals(words, 0, 1, 0, part, state, 0);
    for (int64_t at = part; at < n; at += part) {
      if (interrupt::wanted()) interrupt::raise_interrupted();
      code_->totals(words, 0, 1, at, std::min(n, at + part), state, 1);
    }
    const int size = itemsize(real_of(call_.type));
    copy_number(to, state, size);
    if (is_complex(call_.type)) copy_number(to + size, state + kStateBytes / 2, size);
  }

  // A copy of a size that the compiler does not know takes longer than a short segment.
  static void copy_number(char* to, const char* from, int size) {
    switch (size) {
      case 1: *to = *from; break;
      case 2: std::memcpy(to, from, 2); break;
      case 4: std::memcpy(to, from, 4); break;
      default: std::memcpy(to, from, 8);
    }
  }

  // The state in lanes and units, as that of a reduction of the segment alone.
  void in_lanes(int64_t from, int64_t n, char* to, bool together) const {
    constexpr size_t kMost = 2 * sizeof(double) * ir::kLanes;
    const KernelCode& code = *code_->lanes;
    const int64_t units = (n + kUnitPoints - 1) / kUnitPoints;
    char one[kCompactBytes];
    std::vector<char> many(units > 1 ? static_cast<size_t>(units) * kCompactBytes : 0);
    char* states = units > 1 ? many.data() : one;
    int64_t words[3] = {n, from, in_.stride(1)};
    auto some = [&](int64_t begin, int64_t end) {
      alignas(64) char lanes[kMost];
      for (int64_t u = begin; u < end; ++u) {
        reduce_set().init_state(*kind_, call_.type, lanes, ir::kLanes);
        code.native(words, 0, 1, u * kUnitPoints, std::min(n, (u + 1) * kUnitPoints), lanes, 0);
        reduce_set().merge_lanes(*kind_, call_.type, lanes, n);
        reduce_set().extract_state(*kind_, call_.type, lanes, ir::kLanes, 0,
                                   states + u * kCompactBytes);
      }
    };
    if (together)
      parallel_for_each(units, 1, [&](int64_t begin, int64_t end, int) { some(begin, end); });
    else
      some(0, units);
    reduce_set().merge_units(*kind_, call_.type, states, units, kCompactBytes);
    reduce_set().finish_state(*kind_, call_.type, states, 0, call_.type, to);
  }

  // Across lines ----------------------------------------------------------------------------------
  void rows(int dim, bool native, int64_t points) const {
    const int other = 2 - dim;
    const int64_t columns = out_.shape(dim), sets = out_.shape(other);
    auto sweep = [&](int64_t set, int64_t s, int64_t from, int64_t to) {
      const int64_t row = step_.params[2] + set * out_.stride(other) + s * out_.stride(1);
      const int64_t first = step_.params[0] + set * in_.stride(other) + begins_[s] * in_.stride(1);
      run_fold_rows(*code_->rows, native, {length(s), columns, from, to},
                    {{{row, 0, out_.stride(dim)},
                      {first, in_.stride(1), in_.stride(dim)},
                      {row, 0, out_.stride(dim)}}});
    };
    if (!native || points <= 2 * kUnitPoints) {
      for (int64_t set = 0; set < sets; ++set)
        for (int64_t s = 0; s < segments_; ++s) sweep(set, s, 0, columns);
      return;
    }
    // Narrow enough that the result's row stays in the first-level cache, and for all threads.
    constexpr int64_t kWidth = 512;
    const int64_t tiles = (columns + kWidth - 1) / kWidth;
    parallel_for_each(sets * segments_ * tiles, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t u = begin; u < end; ++u) {
        const int64_t from = u % tiles * kWidth;
        sweep(u / tiles / segments_, u / tiles % segments_, from, std::min(columns, from + kWidth));
      }
    });
  }

  Runtime& rt_;
  KernelStep& step_;
  const CallStep& call_;
  const Layout &in_, &out_;
  const int64_t* begins_;
  int64_t segments_;
  const int64_t* ends_;
  std::optional<Reduction> kind_;  // what folds long segments in lanes
  int64_t elements_ = 0, longest_ = 0;
  Code* code_ = nullptr;
};

}  // namespace

void reduceat_cpu(Runtime& runtime, Device&, KernelStep& step) { Folds(runtime, step).run(); }

}  // namespace numbus
