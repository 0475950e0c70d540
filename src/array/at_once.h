// Small elementwise operations with nothing pending: carried out at once, without a window.
#pragma once

#include <optional>

#include "array/array.h"
#include "lazy/blocks.h"

namespace numbus {

// The most elements of an operation that is carried out at once, whatever Runtime::at_once says.
constexpr int64_t kMostAtOnce = small::kBlock;

// Carries out an instruction that is complete but for its operands, as record() takes them, whose
// loop gives `result`; false: it has to be recorded. The bits are those of the recorded
// instruction.
bool carry_out_at_once(const Instr& i, DType result, const Array& out, const Window::Input* in,
                       int count);

// The result of an operation on dense arrays of one shape at rest, or one and a float64 number, of
// which nothing else is asked; nothing: apply() has to do it. The bits are those of apply().
std::optional<Array> map_alike_at_once(Op op, std::span<const Arg> args);

// The result of an operation whose operands are float64 numbers, `row(op).nin` of them, with the
// bits that it has for arrays; nothing where its result is no float64, or may not be computed at
// once.
std::optional<double> number_at_once(Op op, const double* x);

// The same for a reduction, whose operand has elements. where: its predicate, in its shape, or
// null.
bool reduce_at_once(const Instr& i, const Array& a, const ViewRef* where, const Array& out);

// The sum of the products of two lines at rest, of one type, one extent and elements that are not
// complex, with the bits of the recorded operations; false: it has to be recorded.
bool dot_at_once(const Array& x, const Array& y, void* result);

// The same for an accumulation along the middle one of three axes.
bool scan_at_once(const Instr& i, const Array& x, const Array& result);

// The same for folds of segments along it. bounds: where they begin, then where they end.
bool segments_at_once(const Instr& i, const Array& x, std::span<const int64_t> bounds,
                      const Array& result);

}  // namespace numbus
