// Counts go into a table of each thread's own; integers may be added in any order.
#include "routines/count.h"

#include <algorithm>
#include <vector>

#include "base/interrupt.h"
#include "device/cpu/thread_pool.h"
#include "routines/keys.h"
#include "routines/scratch.h"

namespace numbus::routines {
namespace {

constexpr int64_t kChunk = int64_t{1} << 16;

// With few bins the same one comes twice in a row: a second count must not wait for the first.
constexpr int64_t kFewBins = 1024;
constexpr int kTables = 4;

// Calls count(begin, end, tables, stride) for parts of [0, n), which adds to tables[bin * stride +
// e] for any e < stride, and writes the sums to `out`.
template <class Count>
void count_all(int64_t n, int64_t bins, int64_t* out, const Count& count) {
  bool few = bins <= kFewBins;
  // Tables cost time to clear and to add up.
  if (n < 256 || bins > n / 8) {
    std::fill_n(out, bins, 0);
    for (int64_t i = 0; i < n; i += kChunk) {
      if (interrupt::wanted()) interrupt::raise_interrupted();
      count(i, std::min(n, i + kChunk), out, std::integral_constant<int, 1>{});
    }
    return;
  }
  int stride = few ? kTables : 1;
  int64_t size = bins * stride;
  int workers = n <= kChunk ? 1 : num_threads();
  Scratch<int64_t, 8192> tables(size * workers);
  std::fill_n(tables.data(), size * workers, 0);
  parallel_for_each(n, kChunk, [&](int64_t begin, int64_t end, int worker) {
    // A worker of an outer call has its number there; it is alone in this one.
    int64_t* own = &tables[worker < workers ? worker * size : 0];
    if (few) {
      count(begin, end, own, std::integral_constant<int, kTables>{});
    } else {
      count(begin, end, own, std::integral_constant<int, 1>{});
    }
  });
  for (int64_t b = 0; b < bins; ++b) {
    int64_t sum = 0;
    for (int w = 0; w < workers; ++w) {
      for (int e = 0; e < stride; ++e) sum += tables[w * size + b * stride + e];
    }
    out[b] = sum;
  }
}

template <class T>
void count_integers(const T* x, int64_t n, int64_t bins, int64_t* out) {
  count_all(n, bins, out, [=](int64_t begin, int64_t end, int64_t* table, auto stride) {
    int64_t i = begin;
    for (; i + stride <= end; i += stride) {
      for (int e = 0; e < stride; ++e) ++table[static_cast<int64_t>(x[i + e]) * stride + e];
    }
    for (; i < end; ++i) ++table[static_cast<int64_t>(x[i]) * stride];
  });
}

template <class T>
void sum_weights(const T* x, const double* weights, int64_t n, int64_t bins, double* out) {
  auto sum = [=](int64_t begin, int64_t end, double* table) {
    std::fill_n(table, bins, 0.0);
    for (int64_t i = begin; i < end; ++i) table[static_cast<int64_t>(x[i])] += weights[i];
  };
  std::fill_n(out, bins, 0.0);
  // As many chunks at a time as there is memory for in proportion; each sum is added in order.
  int64_t chunks = (n + kWeightChunk - 1) / kWeightChunk;
  if (chunks <= 1) return sum(0, n, out);
  int64_t together = std::clamp<int64_t>((int64_t{1} << 24) / (bins * 8), 1, chunks);
  Scratch<double> tables(bins * together);
  for (int64_t from = 0; from < chunks; from += together) {
    int64_t count = std::min(together, chunks - from);
    parallel_for_each(count, 1, [&](int64_t c, int64_t, int) {
      int64_t begin = (from + c) * kWeightChunk;
      sum(begin, std::min(n, begin + kWeightChunk), &tables[c * bins]);
    });
    for (int64_t c = 0; c < count; ++c) {
      for (int64_t b = 0; b < bins; ++b) out[b] += tables[c * bins + b];
    }
  }
}

// Arithmetic of the type E: that of 16 bits is float32's, rounded after each step.
template <class E>
struct Arithmetic {
  using Value = E;
  static E load(E v) { return v; }
  static E rounded(E v) { return v; }
};
template <>
struct Arithmetic<Half> {
  using Value = float;
  static float load(Half v) { return half_to_float(v.bits); }
  static float rounded(float v) { return half_to_float(float_to_half(v)); }
};
template <>
struct Arithmetic<Brain> {
  using Value = float;
  static float load(Brain v) { return brain_to_float(v.bits); }
  static float rounded(float v) { return brain_to_float(float_to_brain(v)); }
};

template <class T>
auto plain(T v) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(v.bits);
  } else if constexpr (std::is_same_v<T, Brain>) {
    return brain_to_float(v.bits);
  } else {
    return v;
  }
}

template <class E, class T>
class UniformBins {
 public:
  using A = Arithmetic<E>;
  using V = typename A::Value;
  // Edges of the values' own type mean that the ends of the range yielded to it.
  using Compared = std::conditional_t<std::is_same_v<T, E>, V, double>;

  explicit UniformBins(const UniformEdges& e)
      : bins_(e.bins),
        low_(static_cast<Compared>(std::is_same_v<T, E> ? A::rounded(static_cast<V>(e.first))
                                                        : e.first)),
        high_(static_cast<Compared>(std::is_same_v<T, E> ? A::rounded(static_cast<V>(e.last))
                                                         : e.last)),
        first_(A::rounded(static_cast<V>(e.first))),
        width_(A::rounded(static_cast<V>(e.width))),
        count_(A::rounded(static_cast<V>(e.bins))),
        edges_(static_cast<size_t>(e.bins) + 1) {
    const E* edges = reinterpret_cast<const E*>(e.edges);
    for (size_t i = 0; i < edges_.size(); ++i) edges_[i] = A::load(edges[i]);
  }

  // The bin of a value, or -1.
  int64_t operator()(T v) const {
    auto x = static_cast<Compared>(plain(v));
    if (!(x >= low_ && x <= high_)) return -1;
    V y = A::rounded(static_cast<V>(plain(v)));
    V position = A::rounded(A::rounded(A::rounded(y - first_) / width_) * count_);
    // Rounding to float16 may carry it past the last bin, and 0 / 0 is possible in it.
    auto i = position >= 0 ? static_cast<int64_t>(std::min<double>(position, 0x1p62)) : 0;
    i = std::min(i, bins_);
    i -= i == bins_;
    i -= i > 0 && y < edges_[static_cast<size_t>(i)];
    i += i != bins_ - 1 && y >= edges_[static_cast<size_t>(i) + 1];
    return i;
  }

 private:
  int64_t bins_;
  Compared low_, high_;
  V first_, width_, count_;
  std::vector<V> edges_;
};

template <class T, class Find>
void count_bins(const T* x, int64_t n, int64_t bins, const Find& find, int64_t* out) {
  count_all(n, bins, out, [=, &find](int64_t begin, int64_t end, int64_t* table, auto stride) {
    int64_t index[8];
    int64_t i = begin;
    for (; i + 8 <= end; i += 8) {
#pragma GCC unroll 8
      for (int e = 0; e < 8; ++e) index[e] = find(x[i + e]);
      for (int e = 0; e < 8; ++e) {
        if (index[e] >= 0) ++table[index[e] * stride + e % stride];
      }
    }
    for (; i < end; ++i) {
      int64_t bin = find(x[i]);
      if (bin >= 0) ++table[bin * stride];
    }
  });
}

// Edges as keys, which order NaN as NumPy does; the number of edges not above a value is found by a
// search of always the same steps.
template <class T>
class AnyBins {
 public:
  AnyBins(const T* edges, int64_t bins) : bins_(bins) {
    for (int64_t i = 0; i <= bins; ++i) edges_.push_back(order_key(edges[i]));
  }

  int64_t operator()(T v) const {
    auto key = order_key(v);
    int64_t at = 0;
    for (int64_t size = bins_ + 1; size > 1;) {
      int64_t half = size / 2;
      at += edges_[static_cast<size_t>(at + half)] <= key ? half : 0;
      size -= half;
    }
    if (key < edges_[0] || key > edges_.back()) return -1;
    if constexpr (is_floating<T>) {
      // Unless it lies on the last edge, which NumPy orders as it does values.
      if (key == FloatBits<T>::nan && edges_.back() != key) return -1;
    }
    if (at < bins_) return at;
    // The right edge of the last bin belongs to it; what equals the left edge of an empty one, too.
    return bins_ - 1;
  }

 private:
  int64_t bins_;
  std::vector<KeyOf<T>> edges_;
};

}  // namespace

void bincount(DType t, const char* x, int64_t n, int64_t bins, const double* weights, char* out) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      const T* from = reinterpret_cast<const T*>(x);
      if (weights) {
        sum_weights(from, weights, n, bins, reinterpret_cast<double*>(out));
      } else {
        count_integers(from, n, bins, reinterpret_cast<int64_t*>(out));
      }
    } else {
      raise(ErrorKind::Type, "bincount", "values that are no integers", std::string(name(t)),
            "integers");
    }
  });
}

void histogram_uniform(DType t, const char* x, int64_t n, const UniformEdges& edges, int64_t* out) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!is_complex_type<T>) {
      auto count = [&](auto edge) {
        UniformBins<decltype(edge), T> find(edges);
        count_bins(reinterpret_cast<const T*>(x), n, edges.bins, find, out);
      };
      switch (edges.type) {
        case DType::F16: return count(Half{});
        case DType::BF16: return count(Brain{});
        case DType::F32: return count(float{});
        case DType::F64: return count(double{});
        default: break;
      }
    }
    raise(ErrorKind::Type, "histogram", "values or edges of a type without bins of equal width",
          std::string(name(t)) + " and " + std::string(name(edges.type)),
          "real values and floating-point edges");
  });
}

void histogram_edges(DType t, const char* x, int64_t n, const char* edges, int64_t bins,
                     int64_t* out) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!is_complex_type<T>) {
      AnyBins<T> find(reinterpret_cast<const T*>(edges), bins);
      count_bins(reinterpret_cast<const T*>(x), n, bins, find, out);
    } else {
      raise(ErrorKind::Type, "histogram", "complex values", std::string(name(t)), "real values");
    }
  });
}

}  // namespace numbus::routines
