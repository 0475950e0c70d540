// The interpreter's loops for processors with AVX2 and FMA (x86-64-v3).
#include <cmath>
#include <cstring>
#include <type_traits>

#include "interp/loops.h"
#include "ops/scalar_ops.h"

// After the includes, so that no inline function of theirs is emitted with instructions other code
// may not use.
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#include "interp/loops_body.h"
#pragma GCC pop_options

namespace numbus::interp {
const LoopSet kLoopsV3 = {row, cast, select, scan, within};
}
