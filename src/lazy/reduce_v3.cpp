// Reduction states for processors with AVX2 and FMA (x86-64-v3).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/float_flags.h"
#include "lazy/reduce.h"
#include "ops/reduction_bodies.h"

namespace {
constexpr int kWideBytes = 32;
}

// After the includes, so that no inline function of theirs is emitted with instructions other code
// may not use.
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#include "lazy/reduce_body.h"
#pragma GCC pop_options

namespace numbus {
const ReduceSet kReduceV3 = {init_state,   merge_lanes,    row_finisher,   extreme_finder,
                             reduce_lines, merge_states,   merge_units,    extract_state,
                             finish_state, finish_columns, sum_of_products};
}
