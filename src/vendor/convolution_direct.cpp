// Convolutions on the CPU without products of matrices.
//
// The channels of an image are laid out with the zeros around them, the rows and columns that a
// stride meets together as one plane (all of one remainder by the stride), so that each tap of a
// filter reads at one distance from each position: sums over channels and taps are sums
// of such reads (vendor/convolve_direct.h), in the order of channels, then taps. Results that lie
// in the margin between two rows are computed, too, and left out.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "device/cpu/thread_pool.h"
#include "vendor/convolution_direct.h"
#include "vendor/convolve_direct.h"

namespace numbus::vendor {
namespace {

// What is summed, forward or backward: results from `channels` planes a group.
struct Sums {
  int64_t batch, groups, channels, results;  // channels and results of each group
  Convolution::Pair in, out, kernel, stride, padding, dilation;
};

// The derivative by the input is a convolution of the derivatives with the filters turned around.
Sums sums_of(const Convolution& c) {
  if (c.kind != Convolution::Input)
    return {c.batch, c.groups, c.in_each(), c.out_each(), c.in,
            c.out,   c.kernel, c.stride,    c.padding,    c.dilation};
  Sums s{c.batch, c.groups, c.out_each(), c.in_each(), c.out,
         c.in,    c.kernel, {1, 1},       {},          c.dilation};
  for (size_t d = 0; d < 2; ++d) s.padding[d] = c.dilation[d] * (c.kernel[d] - 1) - c.padding[d];
  return s;
}

// The channels of images as planes, and where the taps of filters find their operands in these.
template <class T>
class Planes {
 public:
  explicit Planes(const Sums& s) : s_(s) {
    for (size_t d = 0; d < 2; ++d) {
      const int64_t span = (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] + 1;
      extent_[d] = (span + s.stride[d] - 1) / s.stride[d];
    }
    of_channel_ = s.stride[0] * s.stride[1] * extent_[0] * extent_[1];
    for (int64_t kh = 0; kh < s.kernel[0]; ++kh)
      for (int64_t kw = 0; kw < s.kernel[1]; ++kw) {
        const int64_t a = kh * s.dilation[0], b = kw * s.dilation[1];
        taps_.push_back(plane(a, b) + a / s.stride[0] * extent_[1] + b / s.stride[1]);
      }
  }

  int64_t line() const { return extent_[1]; }  // positions between those of two rows
  int64_t of_channel() const { return of_channel_; }
  const std::vector<int64_t>& taps() const { return taps_; }
  // Memory for channels, zeros, of which strips read beyond the last plane.
  std::vector<T> room(int64_t channels, int64_t positions) const {
    return std::vector<T>(static_cast<size_t>(channels * of_channel_ + positions + kStrip));
  }

  // One channel, in memory that holds zeros or another channel.
  void lay_out(const T* image, T* own) const {
    const int64_t high = s_.stride[0], wide = s_.stride[1];
    const int64_t bottom = std::min(s_.in[0], high * extent_[0] - s_.padding[0]);
    const int64_t right = std::min(s_.in[1], wide * extent_[1] - s_.padding[1]);
    const int64_t left = std::max<int64_t>(0, -s_.padding[1]);
    for (int64_t r = std::max<int64_t>(0, -s_.padding[0]); r < bottom; ++r) {
      const int64_t at = r + s_.padding[0];
      const T* const from = image + r * s_.in[1];
      T* const row = own + plane(at, 0) + at / high * extent_[1];
      if (wide == 1) {
        for (int64_t k = left; k < right; ++k) row[k + s_.padding[1]] = from[k];
        continue;
      }
      for (int64_t k = left; k < right; ++k) {
        const int64_t to = k + s_.padding[1];
        row[plane(0, to) + to / wide] = from[k];
      }
    }
  }

 private:
  // Where the plane of a row's and a column's remainders begins.
  int64_t plane(int64_t row, int64_t column) const {
    return (row % s_.stride[0] * s_.stride[1] + column % s_.stride[1]) * extent_[0] * extent_[1];
  }

  const Sums& s_;
  Convolution::Pair extent_{};
  int64_t of_channel_ = 0;
  std::vector<int64_t> taps_;
};

int64_t up_to_strips(int64_t positions) { return (positions + kStrip - 1) / kStrip * kStrip; }

template <class T>
const DirectLoops<T>& loops() {
  if constexpr (sizeof(T) == 8)
    return direct_sums().doubles;
  else
    return direct_sums().floats;
}

// Units of a chunk, for which memory is made once.
int64_t grain(int64_t units) { return std::clamp<int64_t>(units / (8 * num_threads()), 1, 64); }

constexpr int64_t kTile = 1024;          // positions at a time
constexpr int64_t kTileBytes = 1 << 19;  // of the planes that these read

// Results, or derivatives by the input.
template <class T>
class Direct {
 public:
  Direct(const Convolution& c, const T* x, const T* w, T* out)
      : s_(sums_of(c)), planes_(s_), x_(x), out_(out) {
    const int64_t row = planes_.line() * s_.stride[0] * s_.stride[1];
    const int64_t fit = kTileBytes / (s_.channels * row * static_cast<int64_t>(sizeof(T)));
    const int64_t wanted = std::min(kTile / planes_.line(), fit);
    rows_ = std::min(std::max({wanted, kStrip / planes_.line(), int64_t{1}}), s_.out[0]);
    line_ = up_to_strips(rows_ * planes_.line());
    for (int64_t ch = 0; ch < s_.channels; ++ch)
      for (const int64_t tap : planes_.taps()) offsets_.push_back(ch * planes_.of_channel() + tap);
    pack(c, w);
  }

  void run() {
    const int64_t images = s_.batch * s_.groups;
    if (images >= num_threads()) {
      parallel_for_each(images, grain(images), [&](int64_t begin, int64_t end, int) {
        std::vector<T> own = planes_.room(s_.channels, line_), sums = room();
        for (int64_t n = begin; n < end; ++n) {
          for (int64_t ch = 0; ch < s_.channels; ++ch) lay_out(n, ch, own.data());
          for (int64_t u = 0; u < units(); ++u) unit(n, u, own.data(), sums.data());
        }
      });
      return;
    }
    std::vector<T> shared = planes_.room(s_.channels, line_);
    for (int64_t n = 0; n < images; ++n) {
      parallel_for_each(s_.channels, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t ch = begin; ch < end; ++ch) lay_out(n, ch, shared.data());
      });
      parallel_for_each(units(), 1, [&](int64_t begin, int64_t end, int) {
        std::vector<T> sums = room();
        for (int64_t u = begin; u < end; ++u) unit(n, u, shared.data(), sums.data());
      });
    }
  }

 private:
  std::vector<T> room() const { return std::vector<T>(static_cast<size_t>(count(0) * line_)); }
  int64_t steps() const { return std::ssize(offsets_); }
  int64_t blocks() const { return (s_.results + kMostResults - 1) / kMostResults; }
  int64_t tiles() const { return (s_.out[0] + rows_ - 1) / rows_; }
  int64_t units() const { return blocks() * tiles(); }
  int count(int64_t block) const {
    return static_cast<int>(std::min<int64_t>(kMostResults, s_.results - block * kMostResults));
  }

  // The weights of a block of results side by side, step after step.
  void pack(const Convolution& c, const T* w) {
    const int64_t taps = c.taps();
    weights_.resize(static_cast<size_t>(s_.groups * s_.results * steps()));
    T* to = weights_.data();
    for (int64_t g = 0; g < s_.groups; ++g)
      for (int64_t block = 0; block < blocks(); ++block)
        for (int64_t ch = 0; ch < s_.channels; ++ch)
          for (int64_t tap = 0; tap < taps; ++tap)
            for (int k = 0; k < count(block); ++k) {
              const int64_t r = block * kMostResults + k;
              *to++ = c.kind == Convolution::Forward
                          ? w[((g * s_.results + r) * s_.channels + ch) * taps + tap]
                          : w[((g * s_.channels + ch) * s_.results + r) * taps + taps - 1 - tap];
            }
  }

  void lay_out(int64_t n, int64_t ch, T* planes) const {
    planes_.lay_out(x_ + (n * s_.channels + ch) * s_.in[0] * s_.in[1],
                    planes + ch * planes_.of_channel());
  }

  // A block of results at some rows.
  void unit(int64_t n, int64_t u, const T* planes, T* sums) const {
    const int64_t block = u % blocks(), first = u / blocks() * rows_, line = planes_.line();
    const int64_t rows = std::min(rows_, s_.out[0] - first), some = count(block);
    const T* const weights =
        weights_.data() + (n % s_.groups * s_.results + block * kMostResults) * steps();
    loops<T>().steps(planes + first * line, offsets_.data(), steps(), weights,
                     static_cast<int>(some), sums, line_, rows * line);
    for (int64_t k = 0; k < some; ++k) {
      const T* from = sums + k * line_;
      T* to = out_ + ((n * s_.results + block * kMostResults + k) * s_.out[0] + first) * s_.out[1];
      for (int64_t r = 0; r < rows; ++r, from += line, to += s_.out[1])
        for (int64_t p = 0; p < s_.out[1]; ++p) to[p] = from[p];
    }
  }

  const Sums s_;
  const Planes<T> planes_;
  const T* const x_;
  T* const out_;
  int64_t rows_ = 0, line_ = 0;
  std::vector<int64_t> offsets_;
  std::vector<T> weights_;
};

// Derivatives by the weights: each unit has some channels and some results, for all images. What
// lies between two rows is multiplied by zero, which makes NaN of what is infinite: sums that are
// not finite say nothing.
template <class T>
class DirectWeights {
 public:
  DirectWeights(const Convolution& c, const T* x, const T* y, T* out)
      : s_(sums_of(c)), planes_(s_), x_(x), y_(y), out_(out) {
    rows_ = std::clamp<int64_t>(kTile / planes_.line(), 1, s_.out[0]);
    line_ = up_to_strips(rows_ * planes_.line());
  }

  // Whether all sums are finite.
  bool run() {
    std::atomic<bool> finite = true;
    const int64_t units = s_.groups * channel_parts() * result_parts();
    parallel_for_each(units, grain(units), [&](int64_t begin, int64_t end, int) {
      std::vector<T> own = planes_.room(1, line_);
      std::vector<T> of(static_cast<size_t>(std::min(kResults, s_.results) * line_));
      std::vector<T> sums(static_cast<size_t>(kResults * kChannels * taps()));
      for (int64_t u = begin; u < end; ++u)
        if (!unit(u, own.data(), of.data(), sums.data())) finite = false;
    });
    return finite;
  }

 private:
  static constexpr int64_t kChannels = 16, kResults = 16;

  int64_t taps() const { return std::ssize(planes_.taps()); }
  int64_t channel_parts() const { return (s_.channels + kChannels - 1) / kChannels; }
  int64_t result_parts() const { return (s_.results + kResults - 1) / kResults; }

  bool unit(int64_t u, T* own, T* of, T* sums) const {
    const int64_t first_result = u % result_parts() * kResults;
    const int64_t first_channel = u / result_parts() % channel_parts() * kChannels;
    const int64_t g = u / result_parts() / channel_parts(), line = planes_.line();
    const int64_t results = std::min(kResults, s_.results - first_result);
    const int64_t channels = std::min(kChannels, s_.channels - first_channel);
    std::fill(sums, sums + kResults * channels * taps(), T{0});
    for (int64_t n = 0; n < s_.batch; ++n)
      for (int64_t first = 0; first < s_.out[0]; first += rows_) {
        const int64_t rows = std::min(rows_, s_.out[0] - first);
        std::fill(of, of + results * line_, T{0});
        for (int64_t k = 0; k < results; ++k) {
          const int64_t image = (n * s_.groups + g) * s_.results + first_result + k;
          const T* from = y_ + (image * s_.out[0] + first) * s_.out[1];
          T* to = of + k * line_;
          for (int64_t r = 0; r < rows; ++r, from += s_.out[1], to += line)
            for (int64_t p = 0; p < s_.out[1]; ++p) to[p] = from[p];
        }
        for (int64_t k = 0; k < channels; ++k) {
          const int64_t image = (n * s_.groups + g) * s_.channels + first_channel + k;
          planes_.lay_out(x_ + image * s_.in[0] * s_.in[1], own);
          loops<T>().positions(own + first * line, planes_.taps().data(), taps(), of, results,
                               sums + k * kResults * taps(), line_);
        }
      }
    for (int64_t r = 0; r < results; ++r)
      for (int64_t k = 0; k < channels; ++k) {
        const int64_t filter =
            (g * s_.results + first_result + r) * s_.channels + first_channel + k;
        const T* const from = sums + (k * kResults + r) * taps();
        std::copy(from, from + taps(), out_ + filter * taps());
      }
    return std::all_of(sums, sums + kResults * channels * taps(),
                       [](T x) { return std::isfinite(x); });
  }

  const Sums s_;
  const Planes<T> planes_;
  const T *const x_, *const y_;
  T* const out_;
  int64_t rows_ = 0, line_ = 0;
};

template <class T>
bool convolve(const Convolution& c, const char* a, const char* b, char* out) {
  const T* const x = reinterpret_cast<const T*>(a);
  const T* const y = reinterpret_cast<const T*>(b);
  T* const to = reinterpret_cast<T*>(out);
  if (c.kind == Convolution::Weight) return DirectWeights<T>(c, x, y, to).run();
  Direct<T>(c, x, y, to).run();
  return true;
}

// Whether a convolution is computed so, by its shape.
bool is_direct(const Convolution& c) {
  if (c.batch == 0 || c.positions() == 0 || c.in_channels == 0 || c.out_channels == 0) return false;
  // Planes of large strides and dilations are mostly zeros.
  const Sums s = sums_of(c);
  double plane = 1;
  for (size_t d = 0; d < 2; ++d) {
    const auto stride = static_cast<double>(s.stride[d]);
    const double span = static_cast<double>(s.out[d] - 1) * stride +
                        static_cast<double>(s.kernel[d] - 1) * static_cast<double>(s.dilation[d]);
    plane *= span + stride;
  }
  if (plane > 3.0 * static_cast<double>(s.in[0] * s.in[1] + s.out[0] * s.out[1]) + 4096)
    return false;
  constexpr Convolution::Pair kOne{1, 1};
  // Measured: BLAS is quicker where an image is the matrix of its windows, where sums have few
  // terms but results are many, and for the weights but where there are few in a group.
  constexpr int64_t kFew = 4, kTerms = 16;
  const bool few = c.in_each() <= kFew && c.out_each() <= kFew;
  if (few) return c.kind != Convolution::Input || c.stride == kOne;
  const int64_t terms = c.taps() * (c.kind == Convolution::Input ? c.out_each() : c.in_each());
  if (c.kind == Convolution::Weight || c.taps() == 1 || terms < kTerms) return false;
  return c.kind == Convolution::Forward || c.stride == kOne;
}

}  // namespace

bool convolve_direct(const Convolution& c, const char* a, const char* b, char* out) {
  if (!is_direct(c)) return false;
  return c.type == DType::F64 ? convolve<double>(c, a, b, out) : convolve<float>(c, a, b, out);
}

}  // namespace numbus::vendor
