// What folds on a CPU share: scans (scan_cpu.cpp) and segments (segments_cpu.cpp).
#pragma once

#include <array>
#include <memory>

#include "compile/scan.h"
#include "lazy/runtime.h"

namespace numbus {

// Elements of a line between two looks at what interrupts.
constexpr int64_t kFoldPart = 1 << 20;

// Whether elements may meet in any order without a difference in the result.
bool order_free(Op op, DType t);

// Whether a fold of so many elements is worth compiling; `runs`: how often it was not.
bool worth_compiling(const Runtime& rt, bool already, int64_t points, int& runs);
compile::NativeFunction counted(Runtime& rt, const compile::Compiled& c);

// Rows of columns: out[0] = in[0], out[p] = op(before[p], in[p]). Columns lie along dimension `dim`
// of the operand and the result.
std::shared_ptr<KernelCode> fold_rows(Op op, DType in_type, DType type, const Layout& in,
                                      const Layout& out, int dim);
void compile_fold_rows(Runtime& rt, KernelCode& code);
struct FoldRange {
  int64_t rows, columns, from, to;  // of the columns these
};
struct FoldArg {
  int64_t address, row_stride, column_stride;
};
// args: before, in, out. Interpreted code is one thread's; native code is any thread's.
void run_fold_rows(const KernelCode& code, bool native, const FoldRange& range,
                   const std::array<FoldArg, 3>& args);

}  // namespace numbus
