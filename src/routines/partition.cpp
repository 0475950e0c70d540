// partition and argpartition: selection by repeated splitting, a large line first by quantiles of a
// sample that lie close around the wanted elements.
#include <algorithm>
#include <vector>

#include "routines/argsort.h"
#include "routines/buckets.h"
#include "routines/keys.h"
#include "routines/sort.h"

namespace numbus::routines {
namespace {

// Quantiles of a sample just below and above each wanted rank; the rest are repeated.
template <class K, class Load>
Splitters<K> rank_splitters(int64_t n, const Load& load, std::span<const int64_t> kth) {
  constexpr int kSample = 4096;
  Scratch<K, 65536> sample(kSample);
  uint64_t random = 0x9E3779B97F4A7C15;
  for (int i = 0; i < kSample; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    auto at = static_cast<unsigned __int128>(random) * static_cast<uint64_t>(n) >> 64;
    sample[i] = load(static_cast<int64_t>(at));
  }
  vqsort(sample.data(), kSample);
  // A rank of the sample strays by at most sqrt(kSample) / 2 = 32 (one sigma).
  constexpr int64_t kMargin = 96;
  std::vector<K> wanted;
  for (int64_t k : kth) {
    auto rank = static_cast<int64_t>(static_cast<double>(k) / static_cast<double>(n) * kSample);
    for (int64_t r : {rank - kMargin, rank + kMargin}) {
      if (r >= 0 && r < kSample) wanted.push_back(sample[r]);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  int levels = 1;
  while ((1 << levels) - 1 < static_cast<int>(wanted.size())) ++levels;
  K last = wanted.empty() ? sample[kSample / 2] : wanted.back();
  wanted.resize((size_t{1} << levels) - 1, last);
  return Splitters<K>(wanted.data(), levels);
}

// As sort_keys; `kth` is ascending and distinct.
template <class K, class Load, class Finish>
void select_keys(int64_t n, K* work, std::span<const int64_t> kth, const Load& load,
                 const Finish& finish) {
  if (n < kLarge) {
    load_block(load, 0, n, work);
    vqselect(work, static_cast<size_t>(n), kth);
    return finish(0, n);
  }
  if (kth.size() > 64) return sort_keys(n, work, load, finish);
  std::vector<int64_t> starts = distribute(n, load, rank_splitters<K>(n, load, kth), work);
  parallel_for_each(static_cast<int64_t>(starts.size()) - 1, 1, [&](int64_t b, int64_t, int) {
    int64_t from = starts[static_cast<size_t>(b)], to = starts[static_cast<size_t>(b) + 1];
    std::vector<int64_t> inside;
    for (int64_t k : kth) {
      if (k >= from && k < to) inside.push_back(k - from);
    }
    if (!inside.empty()) vqselect(work + from, static_cast<size_t>(to - from), inside);
    finish(from, to);
  });
}

template <class T>
void partition_line(const T* in, T* out, int64_t n, std::span<const int64_t> kth) {
  using K = KeyOf<T>;
  Scratch<K, 4096> scratch(in == out ? n : 0);
  K* work = in == out ? scratch.data() : reinterpret_cast<K*>(out);
  LineKeys<T> keys{in, 0};
  select_keys(n, work, kth, keys,
              [=](int64_t begin, int64_t end) { keys.finish(work, begin, end, out); });
}

std::vector<int64_t> ascending(std::span<const int64_t> kth) {
  std::vector<int64_t> sorted(kth.begin(), kth.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

template <class T>
void argpartition_line(DType t, const T* in, int64_t* out, int64_t n,
                       std::span<const int64_t> kth) {
  if constexpr (sizeof(T) <= 4) {
    if (fits_packed<T>(n)) {
      using Keys = PackedKeys<T>;
      return select_keys(n, out, kth, Keys{in, false}, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[i] = Keys::index(out[i]);
      });
    }
  }
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    order_line(t, reinterpret_cast<const char*>(in), out, n, false);
  } else {
    using Keys = WideKeys<T>;
    Scratch<KeyIndex, 4096> work(n);
    select_keys(n, work.data(), kth, Keys{in, false}, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = Keys::index(work[i]);
    });
  }
}

}  // namespace

void partition(DType t, const char* in, char* out, int64_t lines, int64_t n,
               std::span<const int64_t> kth) {
  std::vector<int64_t> sorted = ascending(kth);
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) < 4) {
      sort(t, in, out, lines, n, false, false);  // counting reads each element once
    } else {
      for_lines(lines, n, [&](int64_t line) {
        const T* from = reinterpret_cast<const T*>(in) + line * n;
        T* to = reinterpret_cast<T*>(out) + line * n;
        if constexpr (is_complex_type<T>) {
          Scratch<int64_t, 4096> order(n);
          argpartition_line(t, from, order.data(), n, sorted);
          Scratch<T, 4096> copy(from == to ? n : 0);
          T* end = from == to ? copy.data() : to;
          gather(sizeof(T), reinterpret_cast<const char*>(from), order.data(), n,
                 reinterpret_cast<char*>(end));
          if (end != to) std::copy_n(end, n, to);
        } else {
          partition_line(from, to, n, sorted);
        }
      });
    }
  });
}

void argpartition(DType t, const char* in, int64_t* out, int64_t lines, int64_t n,
                  std::span<const int64_t> kth) {
  std::vector<int64_t> sorted = ascending(kth);
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    for_lines(lines, n, [&](int64_t line) {
      argpartition_line(t, reinterpret_cast<const T*>(in) + line * n, out + line * n, n, sorted);
    });
  });
}

}  // namespace numbus::routines
