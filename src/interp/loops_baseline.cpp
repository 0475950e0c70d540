// The interpreter's loops for any x86-64 processor.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "interp/loops.h"
#include "ops/scalar_ops.h"

#include "interp/loops_body.h"

namespace numbus::interp {
const LoopSet kLoopsBaseline = {row, cast, select, scan, within};
}
