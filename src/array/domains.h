// Elementwise work on what another operation has just made, over that operation's points.
#pragma once

#include "lazy/window.h"

namespace numbus {

// Axes of extent one that an elementwise operation leaves out: they tell (n) from (n, 1), whose
// operations could otherwise not share a kernel.
void leave_out_ones(const Instr& i, ViewRef& out, Window::Input* in, ViewRef* views, int count);

// Arrays that lie in one piece have the same elements in the same order in every shape. Where an
// operand of such an operation is pending, and was made over points of another shape that its
// operands do not let collapse, the two become one kernel only over that shape. Gives the result's
// layout in it; null: the operation stays as it is.
const Layout* producers_layout(const Window& w, const Instr& i, const ViewRef& out,
                               const Window::Input* in, int count);

}  // namespace numbus
