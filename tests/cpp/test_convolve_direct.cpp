// Sums of convolutions for each kind of processor that this one can stand for.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "vendor/convolve_direct.h"

namespace numbus::vendor {
namespace {

template <class T>
void check(const DirectLoops<T>& loops) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int count = 1; count <= kMostResults; ++count) {
    const int64_t steps = 7 + count, line = 3 * kStrip, positions = line - 40;
    std::vector<T> in(static_cast<size_t>(line + 100)), weights(static_cast<size_t>(steps * count));
    for (T& x : in) x = static_cast<T>(number(random));
    for (T& x : weights) x = static_cast<T>(number(random));
    std::vector<int64_t> offsets;
    for (int64_t s = 0; s < steps; ++s) offsets.push_back(s * 11 % 97);

    std::vector<T> out(static_cast<size_t>(count * line), 77);
    loops.steps(in.data(), offsets.data(), steps, weights.data(), count, out.data(), line,
                positions);
    const double close = sizeof(T) == 4 ? 1e-5 : 1e-13;
    for (int o = 0; o < count; ++o)
      for (int64_t p = 0; p < positions; ++p) {
        double sum = 0;
        for (int64_t s = 0; s < steps; ++s)
          sum += static_cast<double>(weights[static_cast<size_t>(s * count + o)]) *
                 in[static_cast<size_t>(offsets[static_cast<size_t>(s)] + p)];
        REQUIRE(std::abs(out[static_cast<size_t>(o * line + p)] - sum) < close * 10);
      }

    std::vector<T> of(static_cast<size_t>(count * line), 0),
        sums(static_cast<size_t>(count * steps), 1);
    for (int o = 0; o < count; ++o)
      for (int64_t p = 0; p < positions; ++p)
        of[static_cast<size_t>(o * line + p)] = static_cast<T>(number(random));
    loops.positions(in.data(), offsets.data(), steps, of.data(), count, sums.data(), line);
    for (int o = 0; o < count; ++o)
      for (int64_t s = 0; s < steps; ++s) {
        double sum = 1;
        for (int64_t p = 0; p < positions; ++p)
          sum += static_cast<double>(of[static_cast<size_t>(o * line + p)]) *
                 in[static_cast<size_t>(offsets[static_cast<size_t>(s)] + p)];
        REQUIRE(std::abs(sums[static_cast<size_t>(o * steps + s)] - sum) < close * 100);
      }
  }
}

void check(const DirectSums& sums) {
  check(sums.floats);
  check(sums.doubles);
}

TEST_CASE("sums of convolutions for all processors") {
  check(kDirectBaseline);
  if (__builtin_cpu_supports("x86-64-v3")) check(kDirectV3);
  if (__builtin_cpu_supports("x86-64-v4")) check(kDirectV4);
}

}  // namespace
}  // namespace numbus::vendor
