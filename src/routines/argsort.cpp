// argsort: keys with indices are sorted, so that equal elements keep their order.
#include "routines/argsort.h"

#include "routines/buckets.h"
#include "routines/sort.h"

namespace numbus::routines {
namespace {

template <class T>
void order_packed(const T* in, int64_t* out, int64_t n, bool descending) {
  using Keys = PackedKeys<T>;
  sort_keys(n, out, Keys{in, descending}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = Keys::index(out[i]);
  });
}

// Sorts again, by the second key, where the first ones are equal.
template <class T>
void order_ties(const WideKeys<T>& keys, KeyIndex* work, int64_t n) {
  for (int64_t begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && work[end].key == work[begin].key) ++end;
    int64_t count = end - begin;
    if (count == 1) continue;
    KeyIndex* run = work + begin;
    if (count < kLarge) {
      for (int64_t i = 0; i < count; ++i) run[i] = keys.second_key(run[i].index);
      vqsort(run, static_cast<size_t>(count));
      continue;
    }
    Scratch<KeyIndex> sorted(count);
    sort_keys(
        count, sorted.data(), [&](int64_t i) { return keys.second_key(run[i].index); },
        [](int64_t, int64_t) {});
    std::copy_n(sorted.data(), count, run);
  }
}

template <class T>
void order_wide(const T* in, int64_t* out, int64_t n, bool descending) {
  using Keys = WideKeys<T>;
  Keys keys{in, descending};
  Scratch<KeyIndex, 4096> work(n);
  auto write = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = Keys::index(work[i]);
  };
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    sort_keys(n, work.data(), keys, [](int64_t, int64_t) {});
    order_ties(keys, work.data(), n);
    write(0, n);
  } else {
    sort_keys(n, work.data(), keys, write);
  }
}

}  // namespace

void order_line(DType t, const char* in, int64_t* out, int64_t n, bool descending) {
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    const T* from = reinterpret_cast<const T*>(in);
    if constexpr (sizeof(T) <= 4) {
      if (fits_packed<T>(n)) return order_packed(from, out, n, descending);
    }
    order_wide(from, out, n, descending);
  });
}

void argsort(DType t, const char* in, int64_t* out, int64_t lines, int64_t n, bool descending) {
  int64_t bytes = n * itemsize(t);
  for_lines(lines, n,
            [&](int64_t line) { order_line(t, in + line * bytes, out + line * n, n, descending); });
}

}  // namespace numbus::routines
