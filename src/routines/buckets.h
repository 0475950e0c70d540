// Sorting much: a sample's quantiles split the keys into buckets, which all threads then sort one
// by one. Keys are distinct or cannot be told apart, so the result does not depend on the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/cpu/thread_pool.h"
#include "routines/scratch.h"
#include "routines/vqsort.h"

namespace numbus::routines {

// From here on one sort uses all threads; below, lines are shared out among them.
constexpr int64_t kLarge = int64_t{1} << 16;
constexpr int kMaxLevels = 8;

// Calls body(line) for each line: one after the other where each is large, else on all threads.
template <class Body>
void for_lines(int64_t lines, int64_t n, Body&& body) {
  if (lines == 1) return body(0);
  if (n >= kLarge) {
    for (int64_t i = 0; i < lines; ++i) body(i);
    return;
  }
  int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(n, 1));
  parallel_for_each(lines, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

// Quantiles of a sample as a search tree: node j has the children 2j and 2j + 1.
template <class K>
class Splitters {
 public:
  // `sorted` holds 2^levels - 1 keys.
  Splitters(const K* sorted, int levels) : levels_(levels) {
    int count = 1 << levels;
    std::copy_n(sorted, count - 1, sorted_.begin());
    for (int level = 0; level < levels; ++level) {
      for (int i = 0; i < 1 << level; ++i) {
        tree_[(1 << level) + i] = sorted[(count >> level) * i + (count >> (level + 1)) - 1];
      }
    }
  }

  int buckets() const { return 1 << levels_; }
  const K* sorted() const { return sorted_.data(); }

  // The number of splitters that are not larger than each of eight keys.
  void classify8(const K* keys, uint8_t* ids) const {
    uint32_t j[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int level = 0; level < levels_; ++level) {
#pragma GCC unroll 8
      for (int e = 0; e < 8; ++e) j[e] = 2 * j[e] + !(keys[e] < tree_[j[e]]);
    }
#pragma GCC unroll 8
    for (int e = 0; e < 8; ++e) ids[e] = static_cast<uint8_t>(j[e] - (1u << levels_));
  }

 private:
  int levels_;
  std::array<K, 1 << kMaxLevels> tree_, sorted_;
};

// From the counts of each chunk's keys in each bucket to where they go; returns where each bucket
// begins, and n.
inline std::vector<int64_t> offsets(std::vector<int64_t>& counts, int64_t chunks, int buckets,
                                    int64_t n) {
  std::vector<int64_t> starts(static_cast<size_t>(buckets) + 1);
  int64_t sum = 0;
  for (int b = 0; b < buckets; ++b) {
    starts[static_cast<size_t>(b)] = sum;
    for (int64_t c = 0; c < chunks; ++c) {
      int64_t& count = counts[static_cast<size_t>(c * buckets + b)];
      int64_t begin = sum;
      sum += count;
      count = begin;
    }
  }
  starts.back() = n;
  return starts;
}

// keys = load(begin) … load(begin + n - 1).
template <class K, class Load>
void load_block(const Load& load, int64_t begin, int64_t n, K* keys) {
  if constexpr (requires { load.block(begin, n, keys); }) {
    load.block(begin, n, keys);
  } else {
    for (int64_t i = 0; i < n; ++i) keys[i] = load(begin + i);
  }
}

// distribute for few buckets, in vector code: keys are loaded twice, in blocks.
template <class K, class Load>
std::vector<int64_t> distribute_few(int64_t n, const Load& load, const Splitters<K>& splitters,
                                    K* to) {
  constexpr int64_t kBlock = 1024;
  auto buckets = static_cast<size_t>(splitters.buckets());
  int64_t chunk = std::clamp<int64_t>(n / 64, 1 << 14, 1 << 20);
  int64_t chunks = (n + chunk - 1) / chunk;
  std::vector<int64_t> counts(static_cast<size_t>(chunks) * buckets);
  auto in_blocks = [&](int64_t begin, int64_t end, const auto& body) {
    alignas(64) K keys[kBlock];
    for (int64_t from = begin; from < end; from += kBlock) {
      int64_t count = std::min(kBlock, end - from);
      load_block(load, from, count, keys);
      body(keys, static_cast<size_t>(count));
    }
  };
  parallel_for_each(n, chunk, [&](int64_t begin, int64_t end, int) {
    int64_t* count = &counts[static_cast<size_t>(begin / chunk) * buckets];
    in_blocks(begin, end, [&](const K* keys, size_t size) {
      count_parts(keys, size, splitters.sorted(), buckets, count);
    });
  });
  std::vector<int64_t> starts = offsets(counts, chunks, splitters.buckets(), n);
  parallel_for_each(n, chunk, [&](int64_t begin, int64_t end, int) {
    auto first = static_cast<size_t>(begin / chunk) * buckets;
    K* next[kMaxParts];
    K* limit[kMaxParts];
    for (size_t b = 0; b < buckets; ++b) {
      bool last = end == n;
      next[b] = to + counts[first + b];
      limit[b] = to + (last ? starts[b + 1] : counts[first + buckets + b]);
    }
    in_blocks(begin, end, [&](const K* keys, size_t size) {
      move_parts(keys, size, splitters.sorted(), buckets, next, limit);
    });
  });
  return starts;
}

// Writes load(0) … load(n - 1) to `to`, bucket after bucket, in each in the order they came in;
// returns where each bucket begins, and n.
template <class K, class Load>
std::vector<int64_t> distribute(int64_t n, const Load& load, const Splitters<K>& splitters, K* to) {
  if constexpr (!std::is_same_v<K, KeyIndex>) {
    if (splitters.buckets() <= static_cast<int>(kMaxParts)) {
      return distribute_few(n, load, splitters, to);
    }
  }
  int buckets = splitters.buckets();
  int64_t chunk = std::clamp<int64_t>(n / 64, 1 << 14, 1 << 20) & ~int64_t{7};
  int64_t chunks = (n + chunk - 1) / chunk;
  Scratch<uint8_t> ids(n);
  std::vector<int64_t> counts(static_cast<size_t>(chunks * buckets));
  parallel_for_each(n, chunk, [&](int64_t begin, int64_t end, int) {
    uint32_t count[1 << kMaxLevels] = {};
    K keys[8];
    int64_t i = begin;
    for (; i + 8 <= end; i += 8) {
#pragma GCC unroll 8
      for (int e = 0; e < 8; ++e) keys[e] = load(i + e);
      uint8_t* id = &ids[i];
      splitters.classify8(keys, id);
#pragma GCC unroll 8
      for (int e = 0; e < 8; ++e) ++count[id[e]];
    }
    if (i < end) {
      uint8_t rest[8];
      for (int e = 0; e < 8; ++e) keys[e] = load(std::min(i + e, end - 1));
      splitters.classify8(keys, rest);
      for (int e = 0; i + e < end; ++e) ++count[ids[i + e] = rest[e]];
    }
    std::copy_n(count, buckets, &counts[static_cast<size_t>(begin / chunk * buckets)]);
  });
  std::vector<int64_t> starts = offsets(counts, chunks, buckets, n);
  parallel_for_each(n, chunk, [&](int64_t begin, int64_t end, int) {
    K* next[1 << kMaxLevels];
    for (int b = 0; b < buckets; ++b) {
      next[b] = to + counts[static_cast<size_t>(begin / chunk * buckets + b)];
    }
    for (int64_t i = begin; i < end; ++i) *next[ids[i]]++ = load(i);
  });
  return starts;
}

// 2^levels - 1 quantiles of a sample of load(0) … load(n - 1).
template <class K, class Load>
Splitters<K> sample_splitters(int64_t n, const Load& load, int levels) {
  constexpr int kEach = 16;
  int count = kEach << levels;
  Scratch<K, 16384> sample(count);
  uint64_t random = 0x9E3779B97F4A7C15;
  for (int i = 0; i < count; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    auto at = static_cast<unsigned __int128>(random) * static_cast<uint64_t>(n) >> 64;
    sample[i] = load(static_cast<int64_t>(at));
  }
  vqsort(sample.data(), static_cast<size_t>(count));
  for (int i = 1; i < 1 << levels; ++i) sample[i - 1] = sample[i * kEach];
  return Splitters<K>(sample.data(), levels);
}

// Sorts the keys load(0) … load(n - 1) in `work` and calls finish(begin, end) for each range of
// `work` that has got its final keys. All keys are loaded before the first finish.
template <class K, class Load, class Finish>
void sort_keys(int64_t n, K* work, const Load& load, const Finish& finish) {
  if (n < kLarge) {
    load_block(load, 0, n, work);
    vqsort(work, static_cast<size_t>(n));
    return finish(0, n);
  }
  // vqsort splits faster than buckets are found here one key at a time, but not pairs; beyond some
  // millions of keys its sort of one bucket would take too long for Ctrl-C.
  bool few = !std::is_same_v<K, KeyIndex> && n <= int64_t{1} << 26;
  int levels = few ? (n <= int64_t{1} << 24 ? 3 : 4) : 2;
  while (!few && levels < kMaxLevels && n >> levels > 1 << 15) ++levels;
  std::vector<int64_t> starts = distribute(n, load, sample_splitters<K>(n, load, levels), work);
  parallel_for_each(int64_t{1} << levels, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t from = starts[static_cast<size_t>(b)], to = starts[static_cast<size_t>(b) + 1];
      vqsort(work + from, static_cast<size_t>(to - from));
      finish(from, to);
    }
  });
}

}  // namespace numbus::routines
