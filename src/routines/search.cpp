// Bisection of several values at a time, always in the same steps: no branch is guessed wrong, and
// waits for memory overlap.
#include "routines/search.h"

#include <algorithm>
#include <string>

#include "device/cpu/thread_pool.h"
#include "routines/keys.h"

namespace numbus::routines {
namespace {

template <class T>
auto search_key(T v) {
  if constexpr (is_complex_type<T>) {
    return complex_key(v.real(), v.imag());
  } else {
    return order_key(v);
  }
}

template <class K>
bool comes_before(K a, K b) {
  return a < b;
}
template <class Int>
bool comes_before(ComplexKey<Int> a, ComplexKey<Int> b) {
  return a.first < b.first || (a.first == b.first && a.second < b.second);
}

// Whether the element counts for the value.
template <bool kRight, class K>
bool counts(K element, K value) {
  return kRight ? !comes_before(value, element) : comes_before(element, value);
}

template <bool kRight, class T, class Element>
void search_part(const T* values, int64_t begin, int64_t end, int64_t n, const Element& element,
                 int64_t* out) {
  constexpr int kTogether = 8;
  using K = decltype(search_key(T{}));
  for (int64_t i = begin; i < end; i += kTogether) {
    auto count = static_cast<int>(std::min<int64_t>(kTogether, end - i));
    K keys[kTogether];
    int64_t at[kTogether] = {};
    for (int e = 0; e < kTogether; ++e) keys[e] = search_key(values[i + std::min(e, count - 1)]);
    for (int64_t size = n; size > 1;) {
      int64_t half = size / 2;
#pragma GCC unroll 8
      for (int e = 0; e < kTogether; ++e) {
        at[e] += counts<kRight>(element(at[e] + half - 1), keys[e]) ? half : 0;
      }
      size -= half;
    }
    for (int e = 0; e < count; ++e) out[i + e] = at[e] + counts<kRight>(element(at[e]), keys[e]);
  }
}

template <class T, class Element>
void search_all(const T* values, int64_t m, int64_t n, bool right, const Element& element,
                int64_t* out) {
  parallel_for_each(m, 2048, [&](int64_t begin, int64_t end, int) {
    if (right) {
      search_part<true>(values, begin, end, n, element, out);
    } else {
      search_part<false>(values, begin, end, n, element, out);
    }
  });
}

void check_sorter(const int64_t* sorter, int64_t n) {
  parallel_for_each(n, int64_t{1} << 17, [=](int64_t begin, int64_t end, int) {
    uint64_t largest = 0;
    for (int64_t i = begin; i < end; ++i) {
      largest = std::max(largest, static_cast<uint64_t>(sorter[i]));
    }
    if (largest >= static_cast<uint64_t>(n)) {
      raise(ErrorKind::Value, "searchsorted", "sorter index out of range",
            std::to_string(static_cast<int64_t>(largest)),
            "indices from 0 to " + std::to_string(n - 1));
    }
  });
}

// functions/searching.py says the same for devices and compiled functions.
double on_line(double x, double x0, double x1, double y0, double y1) {
  if (x == x1) return y1;
  if (x == x0) return y0;
  const double slope = (y1 - y0) / (x1 - x0);
  const double y = slope * (x - x0) + y0;
  if (y == y) return y;
  // Of infinities; seen from the other point there may be a number.
  const double other = slope * (x - x1) + y1;
  return other != other && y0 == y1 ? y0 : other;
}

}  // namespace

void search(DType t, const char* sorted, int64_t n, const char* values, int64_t m,
            const int64_t* sorter, bool right, int64_t* out) {
  if (n == 0) {
    std::fill_n(out, m, 0);
    return;
  }
  if (sorter) check_sorter(sorter, n);
  with_type(t, [&](auto zero) {
    using T = decltype(zero);
    const T* elements = reinterpret_cast<const T*>(sorted);
    const T* wanted = reinterpret_cast<const T*>(values);
    if (sorter) {
      search_all(
          wanted, m, n, right, [=](int64_t i) { return search_key(elements[sorter[i]]); }, out);
    } else {
      search_all(wanted, m, n, right, [=](int64_t i) { return search_key(elements[i]); }, out);
    }
  });
}

void interp(const double* x, int64_t n, const double* xp, const double* fp, int64_t points,
            double before, double after, double* out) {
  const double first = xp[0], last = xp[points - 1];
  parallel_for_each(n, 2048, [=](int64_t begin, int64_t end, int) {
    constexpr int kTogether = 8;
    for (int64_t i = begin; i < end; i += kTogether) {
      const auto count = static_cast<int>(std::min<int64_t>(kTogether, end - i));
      double v[kTogether];
      int64_t at[kTogether] = {};
      for (int e = 0; e < kTogether; ++e) v[e] = x[i + std::min(e, count - 1)];
      for (int64_t size = points; size > 1;) {
        const int64_t half = size / 2;
#pragma GCC unroll 8
        for (int e = 0; e < kTogether; ++e) at[e] += xp[at[e] + half] <= v[e] ? half : 0;
        size -= half;
      }
      for (int e = 0; e < count; ++e) {
        const double a = v[e];
        const int64_t k = std::min(at[e], points - 2);
        out[i + e] = a < first    ? before
                     : a > last   ? after
                     : points < 2 ? fp[0]
                     : a != a     ? a
                                  : on_line(a, xp[k], xp[k + 1], fp[k], fp[k + 1]);
      }
    }
  });
}

}  // namespace numbus::routines
