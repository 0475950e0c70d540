// The passes over functions, in order.
#include "passes/pipeline.h"

#include "passes/bounds.h"
#include "passes/expand_function.h"
#include "passes/indices.h"

namespace numbus {

void run_passes(ir::Module& m) {
  expand(m);
  simplify_indices(m);
  decide_bounds(m);
}

}  // namespace numbus
