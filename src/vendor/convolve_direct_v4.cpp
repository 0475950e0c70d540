// Sums of products of convolutions for processors with AVX-512 (x86-64-v4).
#include "vendor/convolve_direct.h"

namespace {
constexpr int kBytes = 64;
}

// After the includes, so that no inline function of theirs is emitted with instructions other code
// may not use.
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#pragma GCC optimize("fp-contract=fast")
namespace {
#include "vendor/convolve_direct_body.h"
}
#pragma GCC pop_options

namespace numbus::vendor {
const DirectSums kDirectV4 = {{sum_steps<float>, sum_positions<float>},
                              {sum_steps<double>, sum_positions<double>}};
}
