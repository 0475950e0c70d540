// sort, argsort, partition and argpartition of generated lines against std::stable_sort in NumPy's
// order.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "routine_cases.h"
#include "routines/sort.h"

using namespace numbus;
using namespace numbus::test;

namespace {

// NumPy's argsort(kind="stable"), and the exact reverse order.
template <class T>
std::vector<int64_t> expected_order(const std::vector<T>& line, bool descending) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const T& x = line[static_cast<size_t>(a)];
    const T& y = line[static_cast<size_t>(b)];
    return descending ? numpy_less(y, x) : numpy_less(x, y);
  });
  return order;
}

template <class T>
std::vector<T> gathered(const std::vector<T>& line, const std::vector<int64_t>& order) {
  std::vector<T> r;
  for (int64_t i : order) r.push_back(line[static_cast<size_t>(i)]);
  return r;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || !std::memcmp(&a[0], &b[0], a.size() * sizeof(T)));
}

// Neither is less: what an unstable sort may exchange.
template <class T>
bool same_values(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](T x, T y) {
           return !numpy_less(x, y) && !numpy_less(y, x);
         });
}

template <class T>
std::vector<T> check_sort(DType t, const std::vector<T>& line) {
  auto n = static_cast<int64_t>(line.size());
  std::vector<T> ascending;
  for (bool descending : {false, true}) {
    CAPTURE(descending);
    auto order = expected_order(line, descending);
    auto sorted = gathered(line, order);
    if (!descending) ascending = sorted;
    std::vector<int64_t> indices(line.size(), -1);
    routines::argsort(t, bytes(line), indices.data(), 1, n, descending);
    CHECK((indices == order));
    for (bool stable : {false, true}) {
      std::vector<T> out(line.size());
      routines::sort(t, bytes(line), bytes(out), 1, n, stable, descending);
      if (stable) {
        CHECK(same_bits(out, sorted));
      } else {
        CHECK(same_values(out, sorted));
      }
      auto in_place = line;
      routines::sort(t, bytes(in_place), bytes(in_place), 1, n, stable, descending);
      CHECK(same_bits(in_place, out));
    }
  }
  return ascending;
}

// The promise of numpy.partition, and that the elements are those of the line.
template <class T>
void check_partitioned(DType t, const std::vector<T>& out, const std::vector<T>& sorted,
                       const std::vector<int64_t>& kth) {
  bool good = true;
  int64_t begin = 0;
  auto ks = kth;
  std::sort(ks.begin(), ks.end());
  ks.push_back(static_cast<int64_t>(sorted.size()));
  for (int64_t k : ks) {
    bool last = k == static_cast<int64_t>(sorted.size());
    for (int64_t i = begin; i < k; ++i) {
      auto at = static_cast<size_t>(i);
      if (begin > 0) good &= !numpy_less(out[at], sorted[static_cast<size_t>(begin - 1)]);
      if (!last) good &= !numpy_less(sorted[static_cast<size_t>(k)], out[at]);
    }
    if (!last) {
      auto at = static_cast<size_t>(k);
      good &= !numpy_less(out[at], sorted[at]) && !numpy_less(sorted[at], out[at]);
    }
    begin = k + 1;
  }
  CHECK(good);
  auto all = out;  // sort has its own checks
  routines::sort(t, bytes(all), bytes(all), 1, static_cast<int64_t>(all.size()), false, false);
  CHECK(same_values(all, sorted));
}

template <class T>
void check_partition(DType t, const std::vector<T>& line, const std::vector<T>& sorted,
                     const std::vector<int64_t>& kth) {
  auto n = static_cast<int64_t>(line.size());
  std::vector<T> out(line.size());
  routines::partition(t, bytes(line), bytes(out), 1, n, kth);
  check_partitioned(t, out, sorted, kth);
  auto in_place = line;
  routines::partition(t, bytes(in_place), bytes(in_place), 1, n, kth);
  check_partitioned(t, in_place, sorted, kth);
  std::vector<int64_t> indices(line.size(), -1);
  routines::argpartition(t, bytes(line), indices.data(), 1, n, kth);
  auto all = indices;
  std::sort(all.begin(), all.end());
  bool permutation = true;
  for (int64_t i = 0; i < n; ++i) permutation &= all[static_cast<size_t>(i)] == i;
  REQUIRE(permutation);
  check_partitioned(t, gathered(line, indices), sorted, kth);
}

constexpr int64_t kSizes[] = {0,  1,  2,   3,   10,  15,  16,  17,  63,
                              64, 65, 127, 128, 129, 255, 256, 257, 1000};

template <class T>
void check_type(DType t, const std::vector<int64_t>& sizes, std::span<const Pattern> patterns) {
  for (int64_t n : sizes) {
    for (Pattern pattern : patterns) {
      CAPTURE(name(t));
      CAPTURE(n);
      CAPTURE(pattern_name(pattern));
      auto line = make_line<T>(pattern, n, static_cast<uint64_t>(n) + 1);
      auto sorted = check_sort(t, line);
      if (n == 0) {
        check_partition(t, line, sorted, {});
        continue;
      }
      check_partition(t, line, sorted, {n - 1, 0, n / 3});
      check_partition(t, line, sorted, {(n - 1) / 2, n / 2});
    }
  }
}

}  // namespace

TEST_CASE("sort, argsort, partition: all types, patterns and small sizes") {
  std::vector<int64_t> sizes(std::begin(kSizes), std::end(kSizes));
  each_type([&](DType t, auto zero) { check_type<decltype(zero)>(t, sizes, kPatterns); });
}

TEST_CASE("sort, argsort, partition: lines that all threads sort") {
  const Pattern some[] = {Pattern::Random, Pattern::Few, Pattern::Two, Pattern::Extreme};
  each_type([&](DType t, auto zero) {
    if (takes_all()) {
      check_type<decltype(zero)>(t, {20'001, 66'003, 1'234'567}, kPatterns);
    } else {
      check_type<decltype(zero)>(t, {66'003}, some);
    }
  });
}

TEST_CASE("sort: many lines, short and long") {
  for (auto [lines, n] : {std::pair<int64_t, int64_t>{5000, 7}, {300, 300}, {2, 66'000}, {4, 0}}) {
    each_type([&, lines = lines, n = n](DType t, auto zero) {
      using T = decltype(zero);
      auto all = make_line<T>(Pattern::Random, lines * n, 5);
      std::vector<T> out(all.size()), parts(all.size());
      std::vector<int64_t> order(all.size()), arg(all.size());
      routines::sort(t, bytes(all), bytes(out), lines, n, true, false);
      routines::argsort(t, bytes(all), order.data(), lines, n, false);
      std::vector<int64_t> kth{n / 2};
      if (n == 0) kth.clear();
      routines::partition(t, bytes(all), bytes(parts), lines, n, kth);
      routines::argpartition(t, bytes(all), arg.data(), lines, n, kth);
      bool good = true;
      for (int64_t l = 0; l < lines; ++l) {
        auto from = all.begin() + l * n;
        std::vector<T> line(from, from + n);
        auto expected = expected_order(line, false);
        auto sorted = gathered(line, expected);
        good &= std::equal(expected.begin(), expected.end(), order.begin() + l * n);
        good &= same_bits(sorted, std::vector<T>(out.begin() + l * n, out.begin() + (l + 1) * n));
        for (int64_t k : kth) {
          auto at = static_cast<size_t>(l * n + k);
          std::vector<T> a{sorted[static_cast<size_t>(k)]}, b{parts[at]},
              c{line[static_cast<size_t>(arg[at])]};
          good &= same_values(a, b) && same_values(a, c);
        }
      }
      CHECK_MESSAGE(good, name(t), " ", lines, " lines of ", n);
    });
  }
}
