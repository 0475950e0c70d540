// Kernels that only copy an argument to another, on the host: loops for layouts of which the
// compiled kernels, which have one vector of a row at a time, make little.
#pragma once

#include "lazy/plan.h"

namespace numbus {

// Whether the kernel's only work is to copy its first argument to its second one.
bool copies(const ir::Kernel& k);

// Whether the kernel of one gather along one axis, whose indices are known to be right, only stores
// what it reads.
bool gathers_only(const ir::Kernel& k);

// The same of a scatter of a line, or of one number, to known indices of another.
bool scatters_only(const ir::Kernel& k);

// Whether a step that copies is one for move_points: rows that are short, that repeat one element,
// or whose elements do not lie side by side; and whether one that gathers takes rows as a whole.
bool moves(const KernelStep& step);

// Copies the points of rows [r0, r1) and columns [c0, c1).
void move_points(const KernelStep& step, int64_t r0, int64_t r1, int64_t c0, int64_t c1);

}  // namespace numbus
