// Reduction states for any x86-64 processor.
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
constexpr int kWideBytes = 16;
}

#include "lazy/reduce_body.h"

namespace numbus {
const ReduceSet kReduceBaseline = {init_state,   merge_lanes,    row_finisher,   extreme_finder,
                                   reduce_lines, merge_states,   merge_units,    extract_state,
                                   finish_state, finish_columns, sum_of_products};
}
