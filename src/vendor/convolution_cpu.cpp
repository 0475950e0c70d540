// Convolutions on the CPU, where they are not computed directly (convolution_direct.h): products of
// weights and matrices whose columns are the windows of one image (Chellapilla, Puri and Simard,
// High performance convolutional neural networks, 2006).
#include <algorithm>
#include <cstring>
#include <vector>

#include "device/cpu/thread_pool.h"
#include "vendor/blas.h"
#include "vendor/convolution_direct.h"

namespace numbus::vendor {
namespace {

// The first and one beyond the last position along an axis at which a tap lies within the image.
std::pair<int64_t, int64_t> inside(const Convolution& c, int axis, int64_t tap) {
  const auto d = static_cast<size_t>(axis);
  const int64_t shift = tap * c.dilation[d] - c.padding[d], s = c.stride[d];
  const int64_t first = shift < 0 ? (-shift + s - 1) / s : 0;
  const int64_t last = c.in[d] - 1 - shift;  // p * s may be that at most
  const int64_t end = last < 0 ? 0 : std::min(c.out[d], last / s + 1);
  return {std::min(first, end), end};
}

// Calls f(tap, row of the windows' matrix, its first position and how many, where in the image).
template <class F>
void each_run(const Convolution& c, F&& f) {
  for (int64_t kh = 0; kh < c.kernel[0]; ++kh)
    for (int64_t kw = 0; kw < c.kernel[1]; ++kw) {
      const auto [top, bottom] = inside(c, 0, kh);
      const auto [left, right] = inside(c, 1, kw);
      for (int64_t oh = top; oh < bottom; ++oh) {
        const int64_t ih = oh * c.stride[0] - c.padding[0] + kh * c.dilation[0];
        const int64_t iw = left * c.stride[1] - c.padding[1] + kw * c.dilation[1];
        f(kh * c.kernel[1] + kw, oh * c.out[1] + left, right - left, ih * c.in[1] + iw);
      }
    }
}

// One channel of an image as rows of the windows' matrix, one for each tap.
template <class T>
void spread(const Convolution& c, const T* image, T* rows) {
  const int64_t positions = c.positions(), step = c.stride[1];
  std::memset(rows, 0, static_cast<size_t>(c.taps() * positions) * sizeof(T));
  each_run(c, [&](int64_t tap, int64_t at, int64_t count, int64_t from) {
    T* out = rows + tap * positions + at;
    const T* in = image + from;
    if (step == 1)
      std::memcpy(out, in, static_cast<size_t>(std::max<int64_t>(count, 0)) * sizeof(T));
    else
      for (int64_t k = 0; k < count; ++k) out[k] = in[k * step];
  });
}

// The other way: rows of the windows' matrix added where they come from.
template <class T>
void gather(const Convolution& c, const T* rows, T* image) {
  const int64_t positions = c.positions(), step = c.stride[1];
  std::memset(image, 0, static_cast<size_t>(c.in[0] * c.in[1]) * sizeof(T));
  each_run(c, [&](int64_t tap, int64_t at, int64_t count, int64_t from) {
    const T* in = rows + tap * positions + at;
    T* out = image + from;
    for (int64_t k = 0; k < count; ++k) out[k * step] += in[k];
  });
}

// Images are split into so many parts, whose sums of weights are added in order: results do not
// depend on the number of threads.
constexpr int64_t kParts = 16;
constexpr int64_t kPartBytes = int64_t{64} << 20;

template <class T>
class Work {
 public:
  explicit Work(const Convolution& c)
      : c_(c),
        // With one position the stride says nothing of the extents.
        direct_(c.taps() == 1 && c.stride == Convolution::Pair{1, 1} &&
                c.padding == Convolution::Pair{0, 0} && c.in == c.out),
        image_(c.in[0] * c.in[1]),
        rows_(c.in_each() * c.taps()),
        matrix_(c.in_channels * c.taps() * c.positions()) {}

  void run(const T* a, const T* b, T* out) {
    const OneBlasThread alone;
    if (c_.kind == Convolution::Weight) return weights(a, b, out);
    parallel_for_each(c_.batch, 1, [&](int64_t begin, int64_t end, int) {
      std::vector<T> windows(room());
      for (int64_t n = begin; n < end; ++n) one(a, b, out, n, windows.data());
    });
  }

 private:
  size_t room() const { return direct_ ? 0 : static_cast<size_t>(matrix_); }

  void weights(const T* a, const T* b, T* out) {
    const int64_t size = c_.out_channels * rows_;
    const int64_t parts = std::clamp<int64_t>(
        kPartBytes / std::max<int64_t>(size * static_cast<int64_t>(sizeof(T)), 1), 1,
        std::min(kParts, c_.batch));
    std::vector<T> sums(static_cast<size_t>(parts * size));
    parallel_for_each(parts, 1, [&](int64_t begin, int64_t end, int) {
      std::vector<T> windows(room());
      for (int64_t p = begin; p < end; ++p)
        for (int64_t n = c_.batch * p / parts; n < c_.batch * (p + 1) / parts; ++n)
          one(a, b, sums.data() + p * size, n, windows.data());
    });
    parallel_for_each(size, 4096, [&](int64_t begin, int64_t end, int) {
      for (int64_t k = begin; k < end; ++k) {
        T sum = 0;
        for (int64_t p = 0; p < parts; ++p) sum += sums[static_cast<size_t>(p * size + k)];
        out[k] = sum;
      }
    });
  }

  // One image, the n-th.
  void one(const T* a, const T* b, T* out, int64_t n, T* windows) {
    const int64_t each = c_.taps() * c_.positions();
    if (direct_) return products(a, b, out, n, windows);
    if (c_.kind == Convolution::Input) {
      products(a, b, out, n, windows);
      for (int64_t ch = 0; ch < c_.in_channels; ++ch)
        gather(c_, windows + ch * each, image(out, n, ch));
    } else {
      for (int64_t ch = 0; ch < c_.in_channels; ++ch)
        spread(c_, image(a, n, ch), windows + ch * each);
      products(a, b, out, n, windows);
    }
  }

  template <class P>
  P* image(P* x, int64_t n, int64_t channel) const {
    return x + (n * c_.in_channels + channel) * image_;
  }

  static Matrix matrix(const T* data, int64_t line, bool transposed = false) {
    const int64_t item = sizeof(T);
    char* at = const_cast<char*>(reinterpret_cast<const char*>(data));
    return transposed ? Matrix{at, item, line * item, 0} : Matrix{at, line * item, item, 0};
  }

  void products(const T* a, const T* b, T* out, int64_t n, T* windows) {
    const int64_t positions = c_.positions(), each = c_.out_each();
    for (int64_t g = 0; g < c_.groups; ++g) {
      const int64_t of_image = (n * c_.out_channels + g * each) * positions;
      const int64_t of_weight = g * each * rows_;
      const T* in = c_.kind == Convolution::Input ? out : a;
      T* columns = direct_ ? const_cast<T*>(image(in, n, g * c_.in_each()))
                           : windows + g * rows_ * positions;
      Product p;
      p.type = c_.type;
      switch (c_.kind) {
        case Convolution::Forward:
          p.rows = each, p.inner = rows_, p.cols = positions;
          p.a = matrix(b + of_weight, rows_);
          p.b = matrix(columns, positions);
          p.out = matrix(out + of_image, positions);
          break;
        case Convolution::Input:
          p.rows = rows_, p.inner = each, p.cols = positions;
          p.a = matrix(b + of_weight, rows_, true);
          p.b = matrix(a + of_image, positions);
          p.out = matrix(columns, positions);
          break;
        case Convolution::Weight:
          p.rows = each, p.inner = positions, p.cols = rows_;
          p.a = matrix(b + of_image, positions);
          p.b = matrix(columns, positions, true);
          p.out = matrix(out + of_weight, rows_);
          p.add = true;
          break;
      }
      matmul_cpu(p);
    }
  }

  const Convolution& c_;
  bool direct_;  // an image is the matrix of its windows
  int64_t image_, rows_, matrix_;
};

}  // namespace

void convolve_cpu(const Convolution& c, const char* a, const char* b, char* out) {
  if (convolve_direct(c, a, b, out)) return;
  if (c.type == DType::F64)
    Work<double>(c).run(reinterpret_cast<const double*>(a), reinterpret_cast<const double*>(b),
                        reinterpret_cast<double*>(out));
  else
    Work<float>(c).run(reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                       reinterpret_cast<float*>(out));
}

}  // namespace numbus::vendor
