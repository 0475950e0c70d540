// The instances of Highway's vqsort, taken from its headers: Debian has no static library of it.
//
// Its own entry points draw a seed from the system and clear 8 KiB at each call; those here do
// neither, which is most of the time of a sort of ten numbers.
#include "routines/vqsort.h"

#include <algorithm>

// Machines without SSE4 run the standard library's code; SSSE3 is not worth another copy.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#define HWY_BROKEN_EMU128 1
#if !defined(__x86_64__)
#define HWY_COMPILE_ONLY_STATIC
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "routines/vqsort.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/traits128-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace numbus::routines {
namespace HWY_NAMESPACE {

#if VQSORT_ENABLED

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Lanes {
  using Lane = T;
  using Traits = hn::detail::SharedTraits<hn::detail::TraitsLane<hn::detail::OrderAscending<T>>>;
  static constexpr size_t kPerKey = 1;
};
template <>
struct Lanes<KeyIndex> {
  using Lane = uint64_t;
  using Traits = hn::detail::SharedTraits<hn::detail::Traits128<hn::detail::OrderAscending128>>;
  static constexpr size_t kPerKey = 2;
};

template <class T>
class Sorter {
 public:
  using Lane = typename Lanes<T>::Lane;
  static constexpr size_t kPerKey = Lanes<T>::kPerKey;

  void sort(Lane* keys, size_t n, Lane* end) {
    if (n <= base_case()) return hn::detail::BaseCase(d_, traits_, keys, end, n, buffer_);
    hn::detail::Generator random = generator();
    hn::detail::Recurse(d_, traits_, keys, end, n, buffer_, random, levels(n));
  }

  void select(Lane* keys, size_t n, Lane* end, const int64_t* kth, size_t count, int64_t offset,
              hn::detail::Generator& random, size_t level) {
    while (count > 0) {
      if (n <= base_case()) return hn::detail::BaseCase(d_, traits_, keys, end, n, buffer_);
      hn::detail::DrawSamples(d_, traits_, keys, n, buffer_, random);
      // Where samples are equal, sorting is quick, and it has the cases that this loop lacks.
      if (level == 0 || hn::detail::UnsortedSampleEqual(d_, traits_, buffer_)) {
        return sort(keys, n, end);
      }
      hn::detail::SortSamples(d_, traits_, buffer_);
      auto pivot = hn::detail::ChoosePivotByRank(d_, traits_, buffer_);
      size_t bound = hn::detail::Partition(d_, traits_, keys, n, pivot, buffer_);
      --level;
      int64_t split = offset + static_cast<int64_t>(bound / kPerKey);
      size_t left = 0;
      while (left < count && kth[left] < split) ++left;
      if (left > 0) select(keys, bound, end, kth, left, offset, random, level);
      keys += bound;
      n -= bound;
      offset = split;
      kth += left;
      count -= left;
    }
  }

  static hn::detail::Generator generator() {
    hn::detail::Generator random(0x9E3779B97F4A7C15);
    for (int i = 0; i < 8; ++i) random();  // the first numbers are all near zero
    return random;
  }
  static size_t levels(size_t n) { return 2 * hwy::CeilLog2(n) + 4; }

 private:
  // No vectors of more than 64 bytes are compiled here.
  static constexpr size_t kLanes = HWY_LANES(Lane);
  static size_t base_case() { return hwy::SortConstants::BaseCaseNum(kLanes); }

  static constexpr hn::SortTag<Lane> d_{};
  typename Lanes<T>::Traits traits_;
  HWY_ALIGN Lane buffer_[hwy::SortConstants::BufNum<Lane>(kLanes)];
};

template <class T>
void sort(T* keys, size_t n) {
  using S = Sorter<T>;
  S sorter;
  auto* lanes = reinterpret_cast<typename S::Lane*>(keys);
  sorter.sort(lanes, n * S::kPerKey, lanes + n * S::kPerKey);
}

template <class T>
void select(T* keys, size_t n, const int64_t* kth, size_t count) {
  using S = Sorter<T>;
  S sorter;
  auto random = S::generator();
  auto* lanes = reinterpret_cast<typename S::Lane*>(keys);
  sorter.select(lanes, n * S::kPerKey, lanes + n * S::kPerKey, kth, count, 0, random,
                S::levels(n * S::kPerKey));
}

// Adds to counts[b] the number of keys in bucket b: those not below exactly b splitters.
template <class T>
void count_parts(const T* keys, size_t n, const T* splitters, size_t buckets, int64_t* counts) {
  const hn::SortTag<T> d;
  constexpr size_t kLanes = HWY_LANES(T);
  hn::Vec<decltype(d)> pivots[kMaxParts];
  size_t below[kMaxParts + 1] = {};
  for (size_t b = 1; b < buckets; ++b) pivots[b] = hn::Set(d, splitters[b - 1]);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    auto v = hn::LoadU(d, keys + i);
    for (size_t b = 1; b < buckets; ++b) below[b] += hn::CountTrue(d, hn::Lt(v, pivots[b]));
  }
  for (; i < n; ++i) {
    for (size_t b = 1; b < buckets; ++b) below[b] += keys[i] < splitters[b - 1];
  }
  below[buckets] = n;
  for (size_t b = 0; b < buckets; ++b) counts[b] += static_cast<int64_t>(below[b + 1] - below[b]);
}

// Appends each key to its bucket, to[b]; nothing is written at or after limit[b].
template <class T>
void move_parts(const T* keys, size_t n, const T* splitters, size_t buckets, T** to,
                T* const* limit) {
  const hn::SortTag<T> d;
  constexpr size_t kLanes = HWY_LANES(T);
  hn::Vec<decltype(d)> pivots[kMaxParts];
  for (size_t b = 1; b < buckets; ++b) pivots[b] = hn::Set(d, splitters[b - 1]);
  HWY_ALIGN T rest[kLanes];
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    auto v = hn::LoadU(d, keys + i);
    auto before = hn::FirstN(d, 0);  // those of earlier buckets
    for (size_t b = 0; b < buckets; ++b) {
      auto below = b + 1 < buckets ? hn::Lt(v, pivots[b + 1]) : hn::FirstN(d, kLanes);
      auto here = hn::AndNot(before, below);
      before = below;
      if (to[b] + kLanes <= limit[b]) {
        to[b] += hn::CompressStore(v, here, d, to[b]);  // writes up to a whole vector
      } else {
        size_t count = hn::CompressStore(v, here, d, rest);
        for (size_t k = 0; k < count; ++k) to[b][k] = rest[k];
        to[b] += count;
      }
    }
  }
  for (; i < n; ++i) {
    size_t b = 0;
    while (b + 1 < buckets && keys[i] >= splitters[b]) ++b;
    *to[b]++ = keys[i];
  }
}

#else  // the target without vectors

template <class T>
void count_parts(const T* keys, size_t n, const T* splitters, size_t buckets, int64_t* counts) {
  for (size_t i = 0; i < n; ++i) {
    size_t b = 0;
    for (size_t s = 0; s + 1 < buckets; ++s) b += keys[i] >= splitters[s];
    ++counts[b];
  }
}

template <class T>
void move_parts(const T* keys, size_t n, const T* splitters, size_t buckets, T** to, T* const*) {
  for (size_t i = 0; i < n; ++i) {
    size_t b = 0;
    for (size_t s = 0; s + 1 < buckets; ++s) b += keys[i] >= splitters[s];
    *to[b]++ = keys[i];
  }
}

template <class T>
void sort(T* keys, size_t n) {
  std::sort(keys, keys + n);
}

template <class T>
void select(T* keys, size_t n, const int64_t* kth, size_t count) {
  T* begin = keys;
  for (size_t i = 0; i < count; ++i) {
    std::nth_element(begin, keys + kth[i], keys + n);
    begin = keys + kth[i] + 1;
  }
}

#endif

// Plain functions that a table can hold.
void sort_i32(int32_t* keys, size_t n) { sort(keys, n); }
void sort_i64(int64_t* keys, size_t n) { sort(keys, n); }
void sort_pairs(KeyIndex* keys, size_t n) { sort(keys, n); }
void select_i32(int32_t* keys, size_t n, const int64_t* kth, size_t count) {
  select(keys, n, kth, count);
}
void select_i64(int64_t* keys, size_t n, const int64_t* kth, size_t count) {
  select(keys, n, kth, count);
}
void select_pairs(KeyIndex* keys, size_t n, const int64_t* kth, size_t count) {
  select(keys, n, kth, count);
}
void count_i32(const int32_t* keys, size_t n, const int32_t* s, size_t buckets, int64_t* counts) {
  count_parts(keys, n, s, buckets, counts);
}
void count_i64(const int64_t* keys, size_t n, const int64_t* s, size_t buckets, int64_t* counts) {
  count_parts(keys, n, s, buckets, counts);
}
void move_i32(const int32_t* keys, size_t n, const int32_t* s, size_t buckets, int32_t** to,
              int32_t* const* limit) {
  move_parts(keys, n, s, buckets, to, limit);
}
void move_i64(const int64_t* keys, size_t n, const int64_t* s, size_t buckets, int64_t** to,
              int64_t* const* limit) {
  move_parts(keys, n, s, buckets, to, limit);
}

}  // namespace HWY_NAMESPACE
}  // namespace numbus::routines
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

// What the headers call where an assertion fails; Highway's own stands in its shared library.
namespace hwy {
HWY_NORETURN void Abort(const char*, int, const char*, ...) { __builtin_trap(); }
}  // namespace hwy

namespace numbus::routines {
namespace {

struct Table {
  void (*sort_i32)(int32_t*, size_t);
  void (*sort_i64)(int64_t*, size_t);
  void (*sort_pairs)(KeyIndex*, size_t);
  void (*select_i32)(int32_t*, size_t, const int64_t*, size_t);
  void (*select_i64)(int64_t*, size_t, const int64_t*, size_t);
  void (*select_pairs)(KeyIndex*, size_t, const int64_t*, size_t);
  void (*count_i32)(const int32_t*, size_t, const int32_t*, size_t, int64_t*);
  void (*count_i64)(const int64_t*, size_t, const int64_t*, size_t, int64_t*);
  void (*move_i32)(const int32_t*, size_t, const int32_t*, size_t, int32_t**, int32_t* const*);
  void (*move_i64)(const int64_t*, size_t, const int64_t*, size_t, int64_t**, int64_t* const*);
};

#define NUMBUS_TABLE(target)                                                            \
  Table {                                                                               \
    target::sort_i32, target::sort_i64, target::sort_pairs, target::select_i32,         \
        target::select_i64, target::select_pairs, target::count_i32, target::count_i64, \
        target::move_i32, target::move_i64                                              \
  }

Table choose() {
#if defined(__x86_64__)
  auto has = [](auto... features) { return (features && ...); };
#define NUMBUS_HAS(feature) (__builtin_cpu_supports(feature) != 0)
  __builtin_cpu_init();
  bool sse4 = has(NUMBUS_HAS("sse4.1"), NUMBUS_HAS("sse4.2"), NUMBUS_HAS("ssse3"),
                  NUMBUS_HAS("pclmul"), NUMBUS_HAS("aes"));
  bool avx2 = sse4 && has(NUMBUS_HAS("avx2"), NUMBUS_HAS("bmi"), NUMBUS_HAS("bmi2"),
                          NUMBUS_HAS("fma"), NUMBUS_HAS("f16c"));
  bool avx512 = avx2 && has(NUMBUS_HAS("avx512f"), NUMBUS_HAS("avx512vl"), NUMBUS_HAS("avx512dq"),
                            NUMBUS_HAS("avx512bw"), NUMBUS_HAS("avx512cd"));
#undef NUMBUS_HAS
  if (avx512) return NUMBUS_TABLE(N_AVX3);
  if (avx2) return NUMBUS_TABLE(N_AVX2);
  if (sse4) return NUMBUS_TABLE(N_SSE4);
#endif
  return NUMBUS_TABLE(HWY_NAMESPACE);
}

const Table& table() {
  static const Table chosen = choose();
  return chosen;
}

}  // namespace

void vqsort(int32_t* keys, size_t n) { table().sort_i32(keys, n); }
void vqsort(int64_t* keys, size_t n) { table().sort_i64(keys, n); }
void vqsort(KeyIndex* keys, size_t n) { table().sort_pairs(keys, n); }
void vqselect(int32_t* keys, size_t n, std::span<const int64_t> kth) {
  table().select_i32(keys, n, kth.data(), kth.size());
}
void vqselect(int64_t* keys, size_t n, std::span<const int64_t> kth) {
  table().select_i64(keys, n, kth.data(), kth.size());
}
void vqselect(KeyIndex* keys, size_t n, std::span<const int64_t> kth) {
  table().select_pairs(keys, n, kth.data(), kth.size());
}

void count_parts(const int32_t* keys, size_t n, const int32_t* splitters, size_t buckets,
                 int64_t* counts) {
  table().count_i32(keys, n, splitters, buckets, counts);
}
void count_parts(const int64_t* keys, size_t n, const int64_t* splitters, size_t buckets,
                 int64_t* counts) {
  table().count_i64(keys, n, splitters, buckets, counts);
}
void move_parts(const int32_t* keys, size_t n, const int32_t* splitters, size_t buckets,
                int32_t** to, int32_t* const* limit) {
  table().move_i32(keys, n, splitters, buckets, to, limit);
}
void move_parts(const int64_t* keys, size_t n, const int64_t* splitters, size_t buckets,
                int64_t** to, int64_t* const* limit) {
  table().move_i64(keys, n, splitters, buckets, to, limit);
}

}  // namespace numbus::routines

#endif  // HWY_ONCE
