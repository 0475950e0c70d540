// sort: integers of one order with the numbers, by vqsort or by counting.
#include "routines/sort.h"

#include <atomic>
#include <cstring>

#include "routines/argsort.h"
#include "routines/buckets.h"
#include "routines/keys.h"

namespace numbus::routines {
namespace {

template <class T>
void sort_wide(const T* in, T* out, int64_t n, bool descending) {
  using K = KeyOf<T>;
  LineKeys<T> keys{in, static_cast<K>(descending ? -1 : 0)};
  Scratch<K, 4096> scratch(in == out ? n : 0);
  K* work = in == out ? scratch.data() : reinterpret_cast<K*>(out);
  sort_keys(n, work, keys, [=](int64_t begin, int64_t end) { keys.finish(work, begin, end, out); });
}

// Few elements of 8 or 16 bits, as 32-bit keys.
template <class T>
void sort_widened(const T* in, T* out, int64_t n, bool descending) {
  int32_t flip = descending ? -1 : 0;
  Scratch<int32_t, 4096> work(n);
  for (int64_t i = 0; i < n; ++i) work[i] = to_key(in[i]) ^ flip;
  vqsort(work.data(), static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) out[i] = from_key<T>(static_cast<KeyOf<T>>(work[i] ^ flip));
}

// How often each key occurs; [0] is the smallest key.
template <class T>
void count_keys(const T* in, int64_t n, int64_t* counts) {
  constexpr int kKeys = 1 << (8 * sizeof(T));
  constexpr int64_t kChunk = int64_t{1} << 20;
  std::atomic_ref<int64_t> first(counts[0]);
  static_assert(decltype(first)::is_always_lock_free);
  std::fill_n(counts, kKeys, 0);
  parallel_for_each(n, kChunk, [&](int64_t begin, int64_t end, int) {
    // Several tables: the same key twice in a row must not wait for itself.
    constexpr int kTables = sizeof(T) == 1 ? 4 : 1;
    Scratch<uint32_t, sizeof(T) == 1 ? 4096 : 0> count(kKeys * kTables);
    std::fill_n(count.data(), kKeys * kTables, 0);
    auto at = [&](int64_t i) { return to_key(in[i]) + kKeys / 2; };
    int64_t i = begin;
    for (; i + kTables <= end; i += kTables) {
      for (int e = 0; e < kTables; ++e) ++count[at(i + e) * kTables + e];
    }
    for (; i < end; ++i) ++count[at(i) * kTables];
    for (int key = 0; key < kKeys; ++key) {
      int64_t sum = 0;
      for (int e = 0; e < kTables; ++e) sum += count[key * kTables + e];
      if (sum) std::atomic_ref<int64_t>(counts[key]).fetch_add(sum, std::memory_order_relaxed);
    }
  });
}

template <class T>
void sort_counting(const T* in, T* out, int64_t n, bool descending) {
  constexpr int kKeys = 1 << (8 * sizeof(T));
  Scratch<int64_t, sizeof(T) == 1 ? 2048 : 0> counts(kKeys);
  count_keys(in, n, counts.data());
  if (n < kLarge) {
    for (int i = 0; i < kKeys; ++i) {
      int key = descending ? kKeys - 1 - i : i;
      out = std::fill_n(out, counts[key], from_key<T>(static_cast<KeyOf<T>>(key - kKeys / 2)));
    }
    return;
  }
  // Where the runs begin, and from there each chunk of the output.
  std::vector<int64_t> starts(kKeys + 1);
  for (int i = 0; i < kKeys; ++i) {
    starts[static_cast<size_t>(i) + 1] =
        starts[static_cast<size_t>(i)] + counts[descending ? kKeys - 1 - i : i];
  }
  parallel_for_each(n, int64_t{1} << 20, [&](int64_t begin, int64_t end, int) {
    auto run = std::upper_bound(starts.begin(), starts.end(), begin) - starts.begin() - 1;
    for (int64_t i = begin; i < end; ++run) {
      int64_t stop = std::min(end, starts[static_cast<size_t>(run) + 1]);
      auto key = static_cast<int>(descending ? kKeys - 1 - run : run);
      std::fill(out + i, out + stop, from_key<T>(static_cast<KeyOf<T>>(key - kKeys / 2)));
      i = stop;
    }
  });
}

template <class T>
void sort_by_order(DType t, const T* in, T* out, int64_t n, bool descending) {
  Scratch<int64_t, 4096> order(n);
  order_line(t, reinterpret_cast<const char*>(in), order.data(), n, descending);
  Scratch<T, 4096> copy(in == out ? n : 0);
  T* to = in == out ? copy.data() : out;
  gather(sizeof(T), reinterpret_cast<const char*>(in), order.data(), n,
         reinterpret_cast<char*>(to));
  if (to != out) std::copy_n(to, n, out);
}

// Whether the key of an element does not tell its bits, so that a stable sort has to move elements.
template <class T>
bool loses_bits(const T* in, int64_t n) {
  std::atomic<bool> found{false};
  parallel_for_each(n, int64_t{1} << 18, [&](int64_t begin, int64_t end, int) {
    if (found.load(std::memory_order_relaxed)) return;
    bool any = false;
    for (int64_t i = begin; i < end; ++i) {
      auto bits = std::bit_cast<typename FloatBits<T>::Int>(in[i]);
      using Int = decltype(bits);
      any |= bits == std::numeric_limits<Int>::min() ||
             (bits & std::numeric_limits<Int>::max()) > FloatBits<T>::infinity;
    }
    if (any) found.store(true, std::memory_order_relaxed);
  });
  return found.load();
}

template <class T>
void sort_line(DType t, const T* in, T* out, int64_t n, bool stable, bool descending) {
  if constexpr (is_complex_type<T>) {
    sort_by_order(t, in, out, n, descending);
  } else {
    if constexpr (is_floating<T>) {
      if (stable && loses_bits(in, n)) return sort_by_order(t, in, out, n, descending);
    }
    if constexpr (sizeof(T) >= 4) {
      sort_wide(in, out, n, descending);
    } else if (n < (sizeof(T) == 1 ? 128 : 16384)) {
      sort_widened(in, out, n, descending);
    } else {
      sort_counting(in, out, n, descending);
    }
  }
}

}  // namespace

void gather(int size, const char* in, const int64_t* order, int64_t n, char* out) {
  auto move = [&](auto zero) {
    using T = decltype(zero);
    const T* from = reinterpret_cast<const T*>(in);
    T* to = reinterpret_cast<T*>(out);
    parallel_for_each(n, int64_t{1} << 16, [=](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) to[i] = from[order[i]];
    });
  };
  switch (size) {
    case 1: return move(uint8_t{});
    case 2: return move(uint16_t{});
    case 4: return move(uint32_t{});
    case 8: return move(uint64_t{});
    default: return move(KeyIndex{});
  }
}

void sort(DType t, const char* in, char* out, int64_t lines, int64_t n, bool stable,
          bool descending) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    for_lines(lines, n, [&](int64_t line) {
      sort_line(t, reinterpret_cast<const T*>(in) + line * n, reinterpret_cast<T*>(out) + line * n,
                n, stable, descending);
    });
  });
}

}  // namespace numbus::routines
