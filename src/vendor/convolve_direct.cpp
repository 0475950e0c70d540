// Sums of products of convolutions for any x86-64 processor, and which ones this processor runs.
#include "vendor/convolve_direct.h"

namespace {
constexpr int kBytes = 16;
#include "vendor/convolve_direct_body.h"
}  // namespace

namespace numbus::vendor {

const DirectSums kDirectBaseline = {{sum_steps<float>, sum_positions<float>},
                                    {sum_steps<double>, sum_positions<double>}};

const DirectSums& direct_sums() {
  static const DirectSums& known = __builtin_cpu_supports("x86-64-v4")   ? kDirectV4
                                   : __builtin_cpu_supports("x86-64-v3") ? kDirectV3
                                                                         : kDirectBaseline;
  return known;
}

}  // namespace numbus::vendor
