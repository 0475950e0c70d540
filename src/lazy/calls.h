// Calls as plan nodes: opaque, with declared reads and writes.
#pragma once

#include "lazy/window.h"
#include "vendor/blas.h"
#include "vendor/fft.h"

namespace numbus {

// One call of a plan. Its operands' addresses come from the step's parameters, the result's last.
struct CallStep {
  Routine routine;
  Op op;  // Scan: what is applied
  DType type;
  std::vector<DType> types;            // of the operands and the result
  std::vector<const Layout*> layouts;  // of the operands and the result; the plan keeps them alive
};

std::string call_name(Routine routine, Op op);

// out = a @ b of three-dimensional layouts (stack, rows, columns).
vendor::Product product_of(DType type, const Layout& a, const Layout& b, const Layout& out);

void run_call(Device& device, const CallStep& call, const int64_t* addresses);

}  // namespace numbus
