// bincount, histogram, compact, flatnonzero and searchsorted of generated lines against plain
// loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "routine_cases.h"
#include "routines/compact.h"
#include "routines/count.h"
#include "routines/search.h"

using namespace numbus;
using namespace numbus::test;

namespace {

constexpr int64_t kSizes[] = {0, 1, 7, 8, 9, 255, 256, 257, 1000, 70'001, 300'007};

// numpy.histogram's rule for edges, by looking at every bin.
template <class T>
std::vector<int64_t> plain_histogram(const std::vector<T>& x, const std::vector<T>& edges) {
  std::vector<int64_t> out(edges.size() - 1);
  for (T v : x) {
    auto n = static_cast<size_t>(
        std::upper_bound(edges.begin(), edges.end(), v, [](T a, T b) { return numpy_less(a, b); }) -
        edges.begin());
    if (n == edges.size() && value(v) == value(edges.back())) n = edges.size() - 1;
    if (n >= 1 && n < edges.size()) ++out[n - 1];
  }
  return out;
}

}  // namespace

TEST_CASE("bincount: all integers, few and many bins, weights") {
  each_type([&](DType t, auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      for (int64_t n : kSizes) {
        for (int64_t bins : {1, 2, 100, 1024, 1025, 40'000, 400'000}) {
          auto largest = static_cast<double>(std::numeric_limits<T>::max());
          auto below = static_cast<uint64_t>(std::min(static_cast<double>(bins), largest));
          if (t == DType::Bool) below = std::min<uint64_t>(below, 2);
          std::mt19937_64 engine(static_cast<uint64_t>(n + bins));
          std::vector<T> x;
          std::vector<double> weights;
          std::vector<int64_t> expected(static_cast<size_t>(bins));
          std::vector<double> sums(expected.size());
          for (int64_t i = 0; i < n; ++i) {
            x.push_back(static_cast<T>(engine() % below));
            weights.push_back(static_cast<double>(engine() % 64) / 8);  // sums are exact
            ++expected[static_cast<size_t>(x.back())];
            sums[static_cast<size_t>(x.back())] += weights.back();
          }
          std::vector<int64_t> out(expected.size(), -1);
          std::vector<double> sum(expected.size(), -1);
          routines::bincount(t, bytes(x), n, bins, nullptr, bytes(out));
          routines::bincount(t, bytes(x), n, bins, n ? weights.data() : nullptr, bytes(sum));
          CHECK_MESSAGE((out == expected), name(t), " ", n, " ", bins);
          if (n) CHECK_MESSAGE((sum == sums), name(t), " ", n, " ", bins);
        }
      }
    }
  });
}

TEST_CASE("histogram: any edges, also repeated ones") {
  each_type([&](DType t, auto zero) {
    using T = decltype(zero);
    if constexpr (!routines::is_complex_type<T>) {
      for (int64_t n : kSizes) {
        for (Pattern pattern : {Pattern::Random, Pattern::Few, Pattern::Extreme}) {
          auto x = make_line<T>(pattern, n, 3);
          for (int64_t bins : {1, 2, 3, 16, 99}) {
            auto edges = make_line<T>(Pattern::Random, bins + 1, 4);
            if (n > bins && bins > 3) std::copy_n(x.begin(), bins / 2, edges.begin());
            if (bins > 3) edges[3] = edges[4];
            for (T& e : edges) {
              if (value(e) != value(e)) e = T{};
            }
            std::sort(edges.begin(), edges.end(), [](T a, T b) { return numpy_less(a, b); });
            std::vector<int64_t> out(static_cast<size_t>(bins), -1);
            routines::histogram_edges(t, bytes(x), n, bytes(edges), bins, out.data());
            CHECK_MESSAGE((out == plain_histogram(x, edges)), name(t), " ", n, " ", bins);
          }
        }
      }
    }
  });
}

// The bins that the edges themselves give, which is what NumPy's corrections aim at.
TEST_CASE("histogram: bins of equal width agree with their edges") {
  auto check = [&](DType t, auto zero) {
    using T = decltype(zero);
    for (int64_t n : kSizes) {
      for (int64_t bins : {1, 3, 10, 100, 1000, 5000}) {
        T first = static_cast<T>(-2.3), last = static_cast<T>(7.1);
        std::vector<T> edges;
        for (int64_t i = 0; i <= bins; ++i) {
          edges.push_back(
              static_cast<T>(first + static_cast<T>(i) * ((last - first) / static_cast<T>(bins))));
        }
        edges.back() = last;
        auto x = make_line<T>(Pattern::Extreme, n, 8);
        for (size_t i = 0; i < x.size(); i += 2) x[i] = x[i] / T{50};
        for (size_t i = 1; i < x.size(); i += 3) x[i] = edges[i % edges.size()];
        std::vector<int64_t> out(static_cast<size_t>(bins), -1);
        routines::histogram_uniform(t, bytes(x), n,
                                    {t, bytes(edges), bins, first, last, last - first}, out.data());
        CHECK_MESSAGE((out == plain_histogram(x, edges)), name(t), " ", n, " ", bins);
      }
    }
  };
  check(DType::F32, float{});
  check(DType::F64, double{});
}

TEST_CASE("compact, flatnonzero, count_true: any item size and density") {
  for (int64_t n : kSizes) {
    for (uint64_t density : {0, 1, 50, 99, 100}) {
      std::mt19937_64 engine(density + static_cast<uint64_t>(n));
      std::unique_ptr<bool[]> mask(new bool[static_cast<size_t>(n) + 1]);
      std::vector<int64_t> expected;
      for (int64_t i = 0; i < n; ++i) {
        mask[static_cast<size_t>(i)] = engine() % 100 < density;
        if (mask[static_cast<size_t>(i)]) expected.push_back(i);
      }
      auto count = static_cast<int64_t>(expected.size());
      CHECK(routines::count_true(mask.get(), n) == count);
      std::vector<int64_t> indices(expected.size() + 1, -7);
      CHECK(routines::flatnonzero(mask.get(), n, indices.data()) == count);
      CHECK(indices.back() == -7);
      indices.pop_back();
      CHECK((indices == expected));
      for (int size : {1, 2, 3, 4, 8, 16, 24}) {
        std::vector<char> values(static_cast<size_t>(n * size)), wanted;
        for (char& c : values) c = static_cast<char>(engine());
        for (int64_t i : expected) {
          wanted.insert(wanted.end(), values.begin() + i * size, values.begin() + (i + 1) * size);
        }
        std::vector<char> out(wanted.size() + 1, 77);
        CHECK(routines::compact(size, values.data(), mask.get(), n, out.data()) == count);
        CHECK(out.back() == 77);
        out.pop_back();
        CHECK((out == wanted));
      }
    }
  }
}

TEST_CASE("search: both sides, with and without a sorter, unsorted input stays in range") {
  each_type([&](DType t, auto zero) {
    using T = decltype(zero);
    auto less = [](const T& a, const T& b) { return numpy_less(a, b); };
    for (int64_t n : {0, 1, 2, 3, 7, 8, 100, 5000}) {
      for (Pattern pattern : kPatterns) {
        auto line = make_line<T>(pattern, n, 6);
        auto values = make_line<T>(Pattern::Extreme, 300, 7);
        values.insert(values.end(), line.begin(), line.begin() + std::min<int64_t>(n, 3000));
        auto m = static_cast<int64_t>(values.size());
        std::vector<int64_t> order(line.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          return less(line[static_cast<size_t>(a)], line[static_cast<size_t>(b)]);
        });
        std::vector<T> sorted;
        for (int64_t i : order) sorted.push_back(line[static_cast<size_t>(i)]);
        for (bool right : {false, true}) {
          std::vector<int64_t> expected, out(values.size(), -1), by_sorter(values.size(), -1);
          for (const T& v : values) {
            auto at = right ? std::upper_bound(sorted.begin(), sorted.end(), v, less)
                            : std::lower_bound(sorted.begin(), sorted.end(), v, less);
            expected.push_back(at - sorted.begin());
          }
          routines::search(t, bytes(sorted), n, bytes(values), m, nullptr, right, out.data());
          CHECK_MESSAGE((out == expected), name(t), " ", n, " ", pattern_name(pattern));
          routines::search(t, bytes(line), n, bytes(values), m, order.data(), right,
                           by_sorter.data());
          CHECK_MESSAGE((by_sorter == expected), name(t), " ", n, " ", pattern_name(pattern));
          routines::search(t, bytes(line), n, bytes(values), m, nullptr, right, out.data());
          bool inside = true;
          for (int64_t i : out) inside &= i >= 0 && i <= n;
          CHECK(inside);
        }
      }
    }
  });
  std::vector<int32_t> line{1, 2, 3};
  int64_t out;
  for (int64_t wrong : {int64_t{-1}, int64_t{3}}) {
    std::vector<int64_t> sorter{0, wrong, 2};
    CHECK_THROWS_WITH_AS(
        routines::search(DType::I32, bytes(line), 3, bytes(line), 1, sorter.data(), false, &out),
        ("[searchsorted] sorter index out of range; got " + std::to_string(wrong) +
         "; expected indices from 0 to 2")
            .c_str(),
        Error);
  }
}

TEST_CASE("interp: as by looking at every pair of points") {
  const double inf = std::numeric_limits<double>::infinity(), nan = inf - inf;
  for (int64_t points : {1, 2, 3, 7, 64, 1001}) {
    std::mt19937_64 engine(static_cast<uint64_t>(points));
    std::vector<double> xp, fp;
    for (int64_t i = 0; i < points; ++i) {
      xp.push_back(static_cast<double>(engine() % 500) / 8);  // some are equal
      fp.push_back(static_cast<double>(engine() % 64));
    }
    std::sort(xp.begin(), xp.end());
    for (int64_t n : kSizes) {
      std::vector<double> x, out(static_cast<size_t>(n), -1), expected;
      for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(engine() % 1400) / 16 - 10);
      if (n > 8) x[1] = nan, x[3] = inf, x[5] = -inf, x[7] = xp.back(), x[8] = xp[0];
      for (double v : x) {
        size_t k = 0;  // the last point that is not after v
        while (k + 1 < xp.size() && xp[k + 1] <= v) ++k;
        double y = fp[k];
        if (v < xp[0]) {
          y = -5;
        } else if (v > xp.back()) {
          y = 5;
        } else if (v != v && points > 1) {
          y = v;
        } else if (v > xp[k]) {
          y = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k]) * (v - xp[k]) + fp[k];
        }
        expected.push_back(y);
      }
      routines::interp(x.data(), n, xp.data(), fp.data(), points, -5, 5, out.data());
      bool same = true;
      for (size_t i = 0; i < out.size(); ++i)
        same = same && (out[i] == expected[i] || (out[i] != out[i] && expected[i] != expected[i]));
      CHECK_MESSAGE(same, points, " ", n);
    }
  }
}
