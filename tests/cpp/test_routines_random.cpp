// Philox against numbers of numpy.random.Philox, normals against their formula in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "routines/random.h"

using namespace numbus;

namespace {

constexpr uint64_t kAll = ~uint64_t{0};
constexpr double kPi = 3.14159265358979323846;

template <class T>
constexpr DType kType = std::is_same_v<T, float>    ? DType::F32
                        : std::is_same_v<T, double> ? DType::F64
                                                    : DType::U64;

template <class T>
std::vector<T> words(const std::vector<uint64_t>& state, int64_t n) {
  std::vector<T> out(static_cast<size_t>(n));
  routines::philox(kType<T>, state.data(), n, out.data());
  return out;
}

template <class T>
std::vector<T> normals(uint64_t key, uint64_t counter, int64_t n) {
  std::vector<T> out(static_cast<size_t>(n));
  const uint64_t state[] = {key, counter};
  routines::philox_normal(kType<T>, state, n, out.data());
  return out;
}

template <class T>
void check_parts() {
  constexpr int64_t kBlock = std::is_same_v<T, float> ? 1024 : 512;
  auto all = normals<T>(9, 7, 50'000);
  bool same = true;
  for (int64_t n : {1, 2, 3, 7, 8, 9, 1000, 20'000}) {
    for (int64_t block : {0, 1, 3, 29}) {
      auto part = normals<T>(9, 7 + static_cast<uint64_t>(block) * 256, n);
      same &= std::equal(part.begin(), part.end(), all.begin() + block * kBlock);
    }
    CHECK(routines::philox_normal_blocks(kType<T>, n) == (n + kBlock - 1) / kBlock * 256);
  }
  CHECK(same);
}

template <class T>
void check_moments() {
  double sums[5] = {};
  auto z = normals<T>(1, 0, 1'000'000);
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

// Philox 4x32-10 as its paper writes it.
void small(uint64_t key, uint64_t counter, uint32_t third, uint32_t (&c)[4]) {
  uint32_t k[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  c[0] = static_cast<uint32_t>(counter), c[1] = static_cast<uint32_t>(counter >> 32);
  c[2] = third, c[3] = 0;
  for (int round = 0; round < 10; ++round) {
    uint64_t p = uint64_t{0xD2511F53} * c[0], q = uint64_t{0xCD9E8D57} * c[2];
    uint32_t next[4] = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(q),
                        static_cast<uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p)};
    std::copy_n(next, 4, c);
    k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
  }
}

}  // namespace

// numpy.random.Philox(key=…, counter=…).random_raw(6): of the counter and one.
TEST_CASE("Philox: NumPy's numbers") {
  struct Case {
    std::vector<uint64_t> state, expected;
  } cases[] = {{{0x1, 0x2, 0x4, 0x4, 0x5, 0x6},
                {0x8070e5788d05927e, 0x1c5aef1cb5451508, 0xd04b22ec4863e2a0, 0xd67cc7da10e919ce,
                 0xa7b5fae736fabf, 0x832df5ec2023505b}},
               {{kAll, 0x7, 0x0, 0x0, 0x0, 0x0},
                {0x2e17df00fd516719, 0x4b0f914d1c2b4183, 0x79e08e7c10aab284, 0xa88d72826ddea92c,
                 0x132b66d32865281e, 0xd96a83b4814b47c1}},
               {{0x0, 0x0, 0x1, 0x0, 0x0, 0x0},
                {0x2f4ba6408e4d89b, 0x3dd62b0b9ca8c5b2, 0x1c8667a55d902e79, 0x907d7a052fd5b4dc,
                 0x809bf322883987c3, 0x471128b9e807f7dd}},
               {{0x5, 0x6, 0x0, 0x0, 0x1, 0x0},
                {0xda9c09b8018ee9d5, 0x30aea868281ec965, 0xd7178376fe717fc5, 0x92f064ce00b8a888,
                 0x9dda4eb5d57b3c8e, 0xd41e1d107961f212}}};
  for (const Case& c : cases) CHECK((words<uint64_t>(c.state, 6) == c.expected));
}

TEST_CASE("Philox: any block of the stream, carries of the counter") {
  for (const std::vector<uint64_t>& state : std::vector<std::vector<uint64_t>>{
           {3, 4, 0, 0, 0, 0}, {1, 1, kAll - 20, kAll, kAll, kAll}}) {
    auto all = words<uint64_t>(state, 40'000);
    auto halves = words<float>(state, 40'000);
    auto reals = words<double>(state, 20'000);
    bool same = true;
    for (size_t i = 0; i < 20'000; ++i) {
      same &= reals[i] == static_cast<double>(all[i] >> 11) * 0x1p-53;
      same &= halves[2 * i] == static_cast<float>((all[i] & 0xffffffff) >> 8) * 0x1p-24f;
      same &= halves[2 * i + 1] == static_cast<float>(all[i] >> 40) * 0x1p-24f;
    }
    for (uint64_t block : {0, 1, 2, 19, 21, 511, 5001}) {
      std::vector<uint64_t> later = state;
      uint64_t carry = block;
      for (int w = 2; w < 6; ++w) {
        later[w] += carry;
        carry = later[w] < carry;
      }
      for (int64_t n : {0, 1, 5, 513, 19'000}) {
        auto part = words<uint64_t>(later, n);
        same &= std::equal(part.begin(), part.end(), all.begin() + static_cast<int64_t>(4 * block));
      }
    }
    CHECK(same);
  }
}

TEST_CASE("normals: the formula, parts of the stream, moments") {
  constexpr uint64_t kKey = 0x123456789abcdef0, kCounter = 0xfffffff0;
  auto narrow = normals<float>(kKey, kCounter, 20 * 2048);
  auto wide = normals<double>(kKey, kCounter, 20 * 512);
  double error = 0, wide_error = 0;
  for (size_t t = 0; t < 40 * size_t{256}; ++t) {
    uint32_t w[4];
    small(kKey, kCounter + t, 0, w);
    const size_t at = t / 256 * 1024 + t % 256;
    for (size_t k : {0, 1}) {
      const auto u = static_cast<float>(w[2 * k] | 1);
      double radius = std::sqrt(-2 * std::log(static_cast<double>(u) * 0x1p-32));
      double angle = static_cast<double>(static_cast<int32_t>(w[2 * k + 1])) * kPi * 0x1p-31;
      error = std::max(error, std::abs(narrow[at + 512 * k] - radius * std::cos(angle)));
      error = std::max(error, std::abs(narrow[at + 512 * k + 256] - radius * std::sin(angle)));
    }
    if (t >= 20 * size_t{256}) continue;
    small(kKey, kCounter + t, 1, w);
    const uint64_t r = static_cast<uint64_t>(w[0]) << 32 | w[1];
    const auto a = static_cast<int64_t>(static_cast<uint64_t>(w[2]) << 32 | w[3]);
    double radius = std::sqrt(-2 * std::log((static_cast<double>(r >> 12) + 0.5) * 0x1p-52));
    double angle = static_cast<double>(a) * kPi * 0x1p-63;
    const size_t i = t / 256 * 512 + t % 256;
    wide_error = std::max(wide_error, std::abs(wide[i] - radius * std::cos(angle)));
    wide_error = std::max(wide_error, std::abs(wide[i + 256] - radius * std::sin(angle)));
  }
  CHECK(error < 1e-6);
  CHECK(wide_error < 4e-15);
  check_parts<float>();
  check_parts<double>();
  check_moments<float>();
  check_moments<double>();
}
