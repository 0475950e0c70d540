// Fourier transforms on a CPU by the loops of NumPy's own pocketfft, many lines on many threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/float_flags.h"
#include "device/cpu/thread_pool.h"
#include "vendor/fft.h"

namespace numbus::vendor {
namespace {

struct Loop {
  FftLoop run = nullptr;
  void* data = nullptr;
};
// By kind and precision: float64, float32.
constexpr size_t kKinds = static_cast<size_t>(FftKind::ToReal) + 1;
std::array<std::array<Loop, 2>, kKinds> loops;

Loop& loop_of(FftKind kind, DType real) {
  return loops[static_cast<size_t>(kind)][real == DType::F32 ? 1 : 0];
}

// Strided lines are brought into memory of this many bytes at a time, as NumPy's loop makes its
// tables anew in each call, and elements beside each other belong to different lines.
constexpr int64_t kScratchBytes = int64_t{1} << 20;
constexpr int64_t kMostLines = 64, kFewLines = 16;
constexpr int64_t kCacheLine = 64;
// So many lines are done again at most to see what they met.
constexpr int64_t kMostLooks = 64;
// A chunk of less work than that is not worth another thread: elements.
constexpr int64_t kLeastChunk = int64_t{1} << 13;

// An axis over lines: its extent, and the steps in bytes of the operand and of the result.
struct Axis {
  int64_t extent, in, out;
};

// The axes before the last, merged where both sides allow that, of large steps of the result first.
std::vector<Axis> axes_of(const Layout& in, const Layout& out) {
  std::vector<Axis> axes;
  for (int d = 0; d + 1 < in.ndim(); ++d)
    if (in.shape(d) > 1) axes.push_back({in.shape(d), in.stride(d), out.stride(d)});
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.out) > std::abs(b.out); });
  std::vector<Axis> merged;
  for (const Axis& a : axes) {
    if (!merged.empty() && merged.back().in == a.in * a.extent &&
        merged.back().out == a.out * a.extent)
      merged.back() = {merged.back().extent * a.extent, a.in, a.out};
    else
      merged.push_back(a);
  }
  return merged;
}

// Elements of `parts` numbers each, whose type in memory may be another one than in the scratch.
template <class From, class To>
void gather(const char* const* lines, int64_t count, int64_t stride, int64_t n, int parts,
            char* to) {
  auto* made = reinterpret_cast<To*>(to);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < count; ++k)
      for (int p = 0; p < parts; ++p) {
        From x;
        std::memcpy(&x, lines[k] + i * stride + p * int64_t{sizeof(From)}, sizeof x);
        made[(k * n + i) * parts + p] = static_cast<To>(x);
      }
}

template <class From, class To>
void scatter(const char* from, int64_t n, int parts, char* const* lines, int64_t count,
             int64_t stride) {
  const auto* read = reinterpret_cast<const From*>(from);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < count; ++k)
      for (int p = 0; p < parts; ++p) {
        const To x = static_cast<To>(read[(k * n + i) * parts + p]);
        std::memcpy(lines[k] + i * stride + p * int64_t{sizeof(To)}, &x, sizeof x);
      }
}

class Lines {
 public:
  Lines(const Transform& t, FftScale scale, bool wide, const char* in, char* out)
      : in_(in),
        out_(out),
        axes_(axes_of(*t.in, *t.out)),
        points_in_(t.in->shape(t.in->ndim() - 1)),
        points_out_(t.out->shape(t.out->ndim() - 1)),
        in_item_(itemsize(t.in_type)),
        out_item_(itemsize(t.out_type)),
        in_stride_(t.in->stride(t.in->ndim() - 1)),
        out_stride_(t.out->stride(t.out->ndim() - 1)) {
    const DType real = real_of(t.in_type);
    const int64_t points = is_complex(t.out_type) ? points_in_ : points_out_;
    narrow_ = real == DType::F32;
    converts_ = narrow_ && wide;
    loop_ = loop_of(kind_of(t), wide ? DType::F64 : real);
    if (!loop_.run)
      raise(ErrorKind::Runtime, "fft", "NumPy's loops are not known", "none",
            "a NumPy whose transforms are ufuncs");
    // As NumPy computes it, in the operand's precision.
    float_factor_ = factor(scale, static_cast<float>(points));
    factor_ =
        narrow_ ? static_cast<double>(float_factor_) : factor(scale, static_cast<double>(points));
    in_parts_ = is_complex(t.in_type) ? 2 : 1;
    out_parts_ = is_complex(t.out_type) ? 2 : 1;
    // An axis of one point may have any stride.
    if (points_in_ == 1) in_stride_ = in_item_;
    if (points_out_ == 1) out_stride_ = out_item_;
    for (const Axis& a : axes_) count_ *= a.extent;
  }

  void run() const {
    const int64_t points = std::max(points_in_, points_out_);
    const int64_t least = std::max<int64_t>(1, kLeastChunk / points);
    int64_t grain = std::max(least, (count_ + 4 * num_threads() - 1) / (4 * num_threads()));
    if (count_ >= 2 * kFewLines * num_threads()) grain = std::max(grain, kFewLines);
    parallel_for_each(count_, grain, [&](int64_t begin, int64_t end, int) { part(begin, end); });
  }

  // The flags of lines whose results are special.
  unsigned flags() {
    const auto read = room(in_line()), made = room(out_line());
    unsigned met = 0;
    int64_t looks = 0;
    for (int64_t line = 0; line < count_ && looks < kMostLooks; ++line) {
      const char* from = at(in_, line, &Axis::in);
      char* result = at(out_, line, &Axis::out);
      if (!(narrow_ ? any_special<float>(result) : any_special<double>(result))) continue;
      ++looks;
      numbus::flags::Apart apart;
      bring(&from, 1, read.get());
      call(read.get(), 0, made.get(), 0, 1);
      if (converts_) {  // what does not fit into the result's type, too
        const auto* x = reinterpret_cast<const double*>(made.get());
        for (int64_t i = 0; i < points_out_ * out_parts_; ++i) {
          volatile auto rounded = static_cast<float>(x[i]);
          (void)rounded;
        }
      }
      met |= numbus::flags::raised();
    }
    return met;
  }

  // The lines [begin, end).
  void part(int64_t begin, int64_t end) const {
    const int64_t inner = axes_.empty() ? 1 : axes_.back().extent;
    while (begin < end) {
      const int64_t in_row = std::min(end - begin, inner - begin % inner);
      // Lines of one row are evenly spaced.
      const bool even = in_row == end - begin || in_row >= kFewLines;
      const bool in_direct = even && !converts_ && in_stride_ == in_item_;
      const bool out_direct = even && !converts_ && out_stride_ == out_item_;
      if (in_direct && out_direct) {
        call(at(in_, begin, &Axis::in), step(&Axis::in), at(out_, begin, &Axis::out),
             step(&Axis::out), in_row);
        begin += in_row;
        continue;
      }
      const int64_t line = std::max(in_line(), out_line());
      const int64_t room = std::clamp(kScratchBytes / line, kCacheLine / in_item_, kMostLines);
      const int64_t count = std::min(room, in_direct || out_direct ? in_row : end - begin);
      block(begin, count, in_direct, out_direct);
      begin += count;
    }
  }

 private:
  static std::unique_ptr<char[]> room(int64_t bytes) {
    return std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
  }

  template <class T>
  static T factor(FftScale scale, T points) {
    switch (scale) {
      case FftScale::None: return 1;
      case FftScale::Points: return 1 / points;
      default: return 1 / std::sqrt(points);
    }
  }

  template <class Char>
  Char* at(Char* base, int64_t line, int64_t Axis::* step) const {
    for (size_t d = axes_.size(); d-- > 0;) {
      base += line % axes_[d].extent * (axes_[d].*step);
      line /= axes_[d].extent;
    }
    return base;
  }
  int64_t step(int64_t Axis::* step) const { return axes_.empty() ? 0 : axes_.back().*step; }

  template <class T>
  bool any_special(const char* line) const {
    for (int64_t i = 0; i < points_out_; ++i)
      for (int p = 0; p < out_parts_; ++p) {
        T x;
        std::memcpy(&x, line + i * out_stride_ + p * int64_t{sizeof(T)}, sizeof x);
        if (!std::isfinite(x)) return true;
      }
    return false;
  }

  // As the loop takes them.
  int64_t in_size() const { return in_item_ * (converts_ ? 2 : 1); }
  int64_t out_size() const { return out_item_ * (converts_ ? 2 : 1); }
  int64_t in_line() const { return points_in_ * in_size(); }
  int64_t out_line() const { return points_out_ * out_size(); }

  void bring(const char* const* lines, int64_t count, char* to) const {
    if (converts_)
      gather<float, double>(lines, count, in_stride_, points_in_, in_parts_, to);
    else if (narrow_)
      gather<float, float>(lines, count, in_stride_, points_in_, in_parts_, to);
    else
      gather<double, double>(lines, count, in_stride_, points_in_, in_parts_, to);
  }
  void put(const char* from, char* const* lines, int64_t count) const {
    if (converts_)
      scatter<double, float>(from, points_out_, out_parts_, lines, count, out_stride_);
    else if (narrow_)
      scatter<float, float>(from, points_out_, out_parts_, lines, count, out_stride_);
    else
      scatter<double, double>(from, points_out_, out_parts_, lines, count, out_stride_);
  }

  void call(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count) const {
    const void* by = narrow_ && !converts_ ? static_cast<const void*>(&float_factor_) : &factor_;
    char* args[] = {const_cast<char*>(in), static_cast<char*>(const_cast<void*>(by)), out};
    const intptr_t extents[] = {count, points_in_, points_out_};
    const intptr_t strides[] = {in_step, 0, out_step, in_size(), out_size()};
    loop_.run(args, extents, strides, loop_.data);
  }

  // `count` lines from `begin` on, by way of memory where a side is not direct.
  void block(int64_t begin, int64_t count, bool in_direct, bool out_direct) const {
    const auto read = room(in_direct ? 0 : count * in_line());
    const auto made = room(out_direct ? 0 : count * out_line());
    std::array<const char*, kMostLines> from;
    std::array<char*, kMostLines> to;
    for (int64_t k = 0; k < count; ++k) {
      from[static_cast<size_t>(k)] = at(in_, begin + k, &Axis::in);
      to[static_cast<size_t>(k)] = at(out_, begin + k, &Axis::out);
    }
    if (!in_direct) bring(from.data(), count, read.get());
    call(in_direct ? from[0] : read.get(), in_direct ? step(&Axis::in) : in_line(),
         out_direct ? to[0] : made.get(), out_direct ? step(&Axis::out) : out_line(), count);
    if (!out_direct) put(made.get(), to.data(), count);
  }

  const char* in_;
  char* out_;
  std::vector<Axis> axes_;
  int64_t count_ = 1;
  int64_t points_in_, points_out_;
  int64_t in_item_, out_item_;
  int64_t in_stride_, out_stride_;
  Loop loop_;
  int in_parts_ = 1, out_parts_ = 1;
  bool narrow_ = false, converts_ = false;  // float32; done in float64 all the same
  float float_factor_ = 1;
  double factor_ = 1;
};

}  // namespace

FftKind kind_of(const Transform& t) {
  if (!is_complex(t.out_type)) return FftKind::ToReal;
  if (is_complex(t.in_type)) return t.inverse ? FftKind::Inverse : FftKind::Forward;
  return t.in->shape(t.in->ndim() - 1) % 2 ? FftKind::RealOdd : FftKind::RealEven;
}

void set_fft_loop(FftKind kind, DType real, FftLoop loop, void* data) {
  loop_of(kind, real) = {loop, data};
}

bool has_fft_loops() {
  return std::all_of(loops.begin(), loops.end(),
                     [](const auto& of) { return of[0].run && of[1].run; });
}

void fft_cpu(const Transform& t, FftScale scale, bool wide, const char* in, char* out) {
  Lines(t, scale, wide, in, out).run();
}

unsigned fft_flags(const Transform& t, FftScale scale, bool wide, const char* in, const char* out) {
  return Lines(t, scale, wide, in, const_cast<char*>(out)).flags();
}

}  // namespace numbus::vendor
