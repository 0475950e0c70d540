// Which values the derivative of an instruction needs.
#pragma once

#include "lazy/window.h"
#include "program/program.h"

namespace numbus::program {

struct Needs {
  bool operand[kMaxOperands] = {};
  bool result = false;
};

// `active`: which operands are differentiated by.
Needs needs_of(const Instr& i, const bool* active, int count);

}  // namespace numbus::program
