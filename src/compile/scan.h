// Scans: r[0] = x[0], r[i] = op(r[i - 1], x[i]) along lines; the bodies, and what is made of them.
#pragma once

#include <string>

#include "compile/compiler.h"
#include "ir/kernel.h"

namespace numbus::compile {

// Three bodies that loops are put around. A state is one element of the loop's type in fields: one,
// or a complex number's two parts.
struct ScanCode {
  DType type;
  ir::Kernel read;         // state = the operand's element
  ir::Kernel combine;      // state = op(state, another one, given as argument 0)
  ir::Kernel write;        // the result's element = state
  bool stores = true;      // false: only the last state is wanted
  bool in_order = true;    // without stores: false, elements may meet in any order
  bool streaming = false;  // the result exceeds the caches: store past them

  int fields() const { return static_cast<int>(combine.acc_fields.size()); }
  std::string key() const;
};

// aligned: indices that begin a vector of the GPU's allow 16-byte accesses.
ScanCode scan_code(Op op, DType in, DType type, bool in_contiguous, bool out_contiguous,
                   bool aligned = false);

// Whether lines may be cut: op(op(a, b), c) = op(a, op(b, c)), and op(a, b) = op(b, a), but for
// rounding.
bool is_associative(Op op);

// For the host. Lines [row_begin, row_end), indices [col_begin, col_end) of each. The words are
// address, line stride and stride of the operand, then of the result. `acc` (8 bytes a field) gets
// the last state of a single line; with a row_origin of one it also holds the state before
// col_begin. Equal code is compiled once. Any thread may.
Compiled compile_native_scan(const ScanCode& c);

}  // namespace numbus::compile
