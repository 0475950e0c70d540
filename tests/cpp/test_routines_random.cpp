// Philox against numbers of numpy.random.Philox, normals against their formula in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "routines/random.h"

using namespace numbus;
using routines::Philox;

namespace {

constexpr uint64_t kAll = ~uint64_t{0};
constexpr double kPi = 3.14159265358979323846;

template <class T>
std::vector<T> normals(const Philox& philox, uint64_t first, int64_t n) {
  std::vector<T> out(static_cast<size_t>(n));
  philox.normal(first, n, out.data());
  return out;
}

template <class T>
void check_parts() {
  Philox philox{{9, 8}, {7, 6, 5, 4}};
  auto all = normals<T>(philox, 0, 50'000);
  bool same = true;
  for (int64_t n : {1, 2, 3, 7, 8, 9, 1000, 20'000}) {
    for (int64_t first : {0, 1, 3, 5, 8, 1023, 29'999}) {
      auto part = normals<T>(philox, static_cast<uint64_t>(first), n);
      same &= std::equal(part.begin(), part.end(), all.begin() + first);
    }
  }
  CHECK(same);
}

template <class T>
void check_moments() {
  double sums[5] = {};
  auto z = normals<T>(Philox{{1, 0}, {}}, 0, 1'000'000);
  for (T v : z) {
    double power = 1;
    for (double& sum : sums) {
      sum += power;
      power *= static_cast<double>(v);
    }
  }
  double n = sums[0];
  // Within five standard deviations of the means of the powers.
  CHECK(std::abs(sums[1] / n) < 5 * std::sqrt(1 / n));
  CHECK(std::abs(sums[2] / n - 1) < 5 * std::sqrt(2 / n));
  CHECK(std::abs(sums[3] / n) < 5 * std::sqrt(15 / n));
  CHECK(std::abs(sums[4] / n - 3) < 5 * std::sqrt(96 / n));
}

}  // namespace

// numpy.random.Philox(key=…, counter=…).random_raw(6).
TEST_CASE("Philox: NumPy's numbers") {
  struct Case {
    Philox philox;
    std::vector<uint64_t> expected;
  } cases[] = {{{{0x1, 0x2}, {0x3, 0x4, 0x5, 0x6}},
                {0x8070e5788d05927e, 0x1c5aef1cb5451508, 0xd04b22ec4863e2a0, 0xd67cc7da10e919ce,
                 0xa7b5fae736fabf, 0x832df5ec2023505b}},
               {{{kAll, 0x7}, {kAll, kAll, kAll, kAll}},
                {0x2e17df00fd516719, 0x4b0f914d1c2b4183, 0x79e08e7c10aab284, 0xa88d72826ddea92c,
                 0x132b66d32865281e, 0xd96a83b4814b47c1}},
               {{{0x0, 0x0}, {0x0, 0x0, 0x0, 0x0}},
                {0x2f4ba6408e4d89b, 0x3dd62b0b9ca8c5b2, 0x1c8667a55d902e79, 0x907d7a052fd5b4dc,
                 0x809bf322883987c3, 0x471128b9e807f7dd}},
               {{{0x5, 0x6}, {kAll, kAll, 0x0, 0x0}},
                {0xda9c09b8018ee9d5, 0x30aea868281ec965, 0xd7178376fe717fc5, 0x92f064ce00b8a888,
                 0x9dda4eb5d57b3c8e, 0xd41e1d107961f212}}};
  for (const Case& c : cases) {
    std::vector<uint64_t> out(6);
    c.philox.raw(0, 6, out.data());
    CHECK((out == c.expected));
  }
}

TEST_CASE("Philox: any part of the stream, carries of the counter") {
  for (Philox philox : {Philox{{3, 4}, {}}, Philox{{1, 1}, {kAll - 20, kAll, kAll, kAll}}}) {
    std::vector<uint64_t> all(40'000);
    philox.raw(0, 40'000, all.data());
    bool same = true;
    for (int64_t first : {0, 1, 2, 3, 4, 63, 81, 511, 20'001}) {
      for (int64_t n : {0, 1, 5, 513, 19'000}) {
        std::vector<uint64_t> part(static_cast<size_t>(n));
        philox.raw(static_cast<uint64_t>(first), n, part.data());
        same &= std::equal(part.begin(), part.end(), all.begin() + first);
      }
    }
    CHECK(same);
  }
}

TEST_CASE("normals: the formula, parts of the stream, moments") {
  Philox philox{{5, 6}, {0, 1, 2, 3}};
  constexpr int kNumbers = 20'000;
  std::vector<uint64_t> raw(kNumbers);
  philox.raw(0, kNumbers, raw.data());
  auto narrow = normals<float>(philox, 0, 2 * kNumbers);
  auto wide = normals<double>(philox, 0, kNumbers);
  double error = 0, wide_error = 0;
  for (size_t i = 0; i < kNumbers; ++i) {
    // The number that gives the radius is rounded to a float.
    auto u = static_cast<float>(static_cast<double>(raw[i] & 0xffffffff) + 0.5);
    double radius = std::sqrt(-2 * std::log(static_cast<double>(u) * 0x1p-32));
    double angle = static_cast<double>(static_cast<int32_t>(raw[i] >> 32)) * kPi * 0x1p-31;
    error = std::max(error, std::abs(narrow[2 * i] - radius * std::cos(angle)));
    error = std::max(error, std::abs(narrow[2 * i + 1] - radius * std::sin(angle)));
  }
  for (size_t i = 0; i < kNumbers; i += 2) {
    double radius = std::sqrt(-2 * std::log((static_cast<double>(raw[i] >> 12) + 0.5) * 0x1p-52));
    double angle = static_cast<double>(static_cast<int64_t>(raw[i + 1])) * kPi * 0x1p-63;
    wide_error = std::max(wide_error, std::abs(wide[i] - radius * std::cos(angle)));
    wide_error = std::max(wide_error, std::abs(wide[i + 1] - radius * std::sin(angle)));
  }
  CHECK(error < 1e-6);
  CHECK(wide_error < 4e-15);
  check_parts<float>();
  check_parts<double>();
  check_moments<float>();
  check_moments<double>();
}
